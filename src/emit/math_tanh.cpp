// tanh of f32 by a polynomial for each of 16 pieces of |x|, the coefficients from tables that
// vectors look up in one step: tanh(c + t) = tanh c + t p(t). c is near to the middle of its piece,
// and such that tanh c is an f32 but for 2^-9 of its last place (S. Gal, "Computing elementary
// functions: a new approach for achieving high accuracy and good performance", Lecture Notes in
// Computer Science 235, 1986).
#include <bit>

#include "emit/math.h"

namespace hilo {
namespace {

using llvm::Value;
using namespace real_parts;

// The piece is told by the first bits of |x| + before: two behind the point of pieces that grow by
// half in turn with 1. From `most` on tanh is 1 in f32.
constexpr float before = 0.625, end_of_first = 0.75;
constexpr double most = 9.25;
constexpr uint64_t bits_behind = 21;

constexpr Row places = {{0, 0x1.800092p-3F, 0x1.3fff52p-2F, 0x1.ffffd8p-2F, 0x1.8000d6p-1F,
                         0x1.0001fcp+0F, 0x1.400036p+0F, 0x1.9fff1p+0F, 0x1.0fffa6p+1F,
                         0x1.4fff6p+1F, 0x1.9004b2p+1F, 0x1.f0001cp+1F, 0x1.37ffb6p+2F,
                         0x1.77f764p+2F, 0x1.b7d8cap+2F, 0x1.0a2726p+3F}};
constexpr Row values = {{0, 0x1.7b9086p-3F, 0x1.35f8ecp-2F, 0x1.d9351ep-2F, 0x1.4532bep-1F,
                         0x1.85f156p-1F, 0x1.b2525ap-1F, 0x1.d9c6b6p-1F, 0x1.f1993ap-1F,
                         0x1.faa786p-1F, 0x1.fe071p-1F, 0x1.ff8f22p-1F, 0x1.fff0b8p-1F,
                         0x1.fffdeep-1F, 0x1.ffffb8p-1F, 0x1.fffffcp-1F}};
// In the first piece of tanh t / t - 1.
constexpr Row powers[] = {
    {0, 0x1.ee69d6p-1F, 0x1.d115a4p-1F, 0x1.92a956p-1F, 0x1.31731p-1F, 0x1.ae08aep-2F,
     0x1.1f24acp-2F, 0x1.26603p-3F, 0x1.c65d88p-5F, 0x1.54554cp-6F, 0x1.f7f706p-8F, 0x1.c346f2p-10F,
     0x1.e8f972p-13F, 0x1.08ff66p-15F, 0x1.1ffc68p-18F, 0x1.00530ap-22F},
    {-0x1.aeda44p-29F, -0x1.6e86e8p-3F, -0x1.1991acp-2F, -0x1.742736p-2F, -0x1.84039ep-2F,
     -0x1.47844ap-2F, -0x1.e7288ap-3F, -0x1.10661ep-3F, -0x1.b995c4p-5F, -0x1.50c7a6p-6F,
     -0x1.f606p-8F, -0x1.c2e2fp-10F, -0x1.e8ea42p-13F, -0x1.08fdfap-15F, -0x1.1ffbbcp-18F,
     -0x1.00485ap-22F},
    {-0x1.555502p-2F, -0x1.27a4c8p-2F, -0x1.c1a58cp-3F, -0x1.81ddf8p-4F, 0x1.567f76p-5F,
     0x1.a8604cp-4F, 0x1.bba48cp-4F, 0x1.33e6b4p-4F, 0x1.15b7p-5F, 0x1.b7a19ap-7F, 0x1.4c1724p-8F,
     0x1.2be106p-10F, 0x1.45a55ap-13F, 0x1.6111fap-16F, 0x1.7fb6fep-19F, 0x1.529e3ap-23F},
    {-0x1.5145b6p-14F, 0x1.cf85aap-4F, 0x1.43d2d4p-3F, 0x1.514104p-3F, 0x1.9894cp-4F,
     0x1.c5efaap-6F, -0x1.9c7b96p-7F, -0x1.9d337ep-6F, -0x1.ead49ap-7F, -0x1.a50f12p-8F,
     -0x1.46f5p-9F, -0x1.2af288p-11F, -0x1.459b24p-14F, -0x1.612e08p-17F, -0x1.7fe56ep-20F,
     -0x1.53cefap-24F},
    {0x1.14c4aep-3F, 0x1.8b785ap-4F, 0x1.74cb98p-5F, -0x1.b31dbap-6F, -0x1.0437dp-4F,
     -0x1.7ad7f6p-5F, -0x1.3c4176p-6F, 0x1.3adc88p-10F, 0x1.2448aep-8F, 0x1.34e3fcp-9F,
     0x1.fe773cp-11F, 0x1.eba172p-13F, 0x1.0db76cp-15F, 0x1.24d61p-18F, 0x1.3e4ca8p-21F,
     0x1.35addep-25F},
    {-0x1.10860ap-6F, -0x1.e7177ep-5F, -0x1.28a83ep-4F, -0x1.9b3c92p-5F, -0x1.45204p-10F,
     0x1.3363p-6F, 0x1.f1209p-7F, 0x1.1224c8p-8F, -0x1.1c9cb4p-11F, -0x1.4dc924p-11F,
     -0x1.3da0f8p-12F, -0x1.40196cp-14F, -0x1.63bb7cp-17F, -0x1.828d14p-20F, -0x1.a2eeaap-23F,
     -0x1.939d8ap-27F}};

// The rows begin with the first piece, tables with the one whose bits are zeros.
Value* at_interval(Builder& b, const std::string& name, const Row& row, Value* piece) {
  constexpr size_t first = std::bit_cast<uint32_t>(before) >> bits_behind;
  Row rotated;
  for (size_t i = 0; i < row.size(); ++i) rotated[(first + i) % row.size()] = row[i];
  return looked_up(b, name, rotated, piece);
}

}  // namespace

Value* math_tanh_by_tables(Builder& b, Value* x) {
  Value* magnitude = at_most(b, absolute(b, x), most);
  Value* shifted = b.CreateFAdd(magnitude, number(x, before));
  Value* piece = b.CreateLShr(bits(b, shifted), bits_behind);
  const auto power = [&](size_t i) {
    return at_interval(b, "tanh_power_" + std::to_string(i), powers[i], piece);
  };
  Value* t = b.CreateFSub(magnitude, at_interval(b, "tanh_place", places, piece));
  Value* rise = power(std::size(powers) - 1);
  for (size_t i = std::size(powers) - 1; i-- > 0;) rise = multiply_add(b, rise, t, power(i));
  // A NaN is as it is in the first piece.
  Value* is_behind = b.CreateFCmpOGE(shifted, number(x, end_of_first));
  Value* value = b.CreateSelect(is_behind, at_interval(b, "tanh_value", values, piece), magnitude);
  return copy_sign(b, multiply_add(b, t, rise, value), x);
}

}  // namespace hilo
