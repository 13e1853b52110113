// What depends on bytes in memory: compiled as evaluated, to the bit, between layouts of all kinds.
#include <cstring>

#include "../base/environment.h"
#include "both.h"
#include "random_physical_module.h"

namespace hilo::test {
namespace {

// Any bits, where a type has room for any.
Literal random_bits(const Shape& shape, std::mt19937_64& random) {
  Literal out = Literal::uninitialized(Shape::array(shape.type, shape.dims));
  const int64_t bits = bits_of(shape.type);
  for (std::byte& byte : out.mutable_raw()) {
    auto value = static_cast<int>(random() & 255);
    if (shape.type == ElementType::Pred) value &= 1;
    if (bits < 8) {
      value &= (1 << bits) - 1;
      if (is_signed(shape.type) && (value >> (bits - 1)) != 0) value -= 1 << bits;
    }
    byte = static_cast<std::byte>(value);
  }
  return out;
}

template <class T>
bool same_number(T a, T b) {
  if (std::memcmp(&a, &b, sizeof(T)) == 0) return true;
  if constexpr (requires { a.real(); }) {
    return same_number(a.real(), b.real()) && same_number(a.imag(), b.imag());
  } else if constexpr (requires { static_cast<double>(a); }) {
    const auto x = static_cast<double>(a), y = static_cast<double>(b);
    return x != x && y != y;
  }
  return false;
}

// Bit for bit, but that one NaN is as good as another.
bool are_same(const Literal& a, const Literal& b) {
  if (a.shape().is_tuple()) {
    for (size_t i = 0; i < a.elements().size(); ++i)
      if (!are_same(a.elements()[i], b.elements()[i])) return false;
    return a.elements().size() == b.elements().size();
  }
  if (!a.shape().is_array()) return true;
  if (!same_dims(a.shape(), b.shape())) return false;
  bool out = true;
  visit_storage(a.type(), [&]<class T>(std::type_identity<T>) {
    const auto left = a.data<T>(), right = b.data<T>();
    for (size_t i = 0; i < left.size(); ++i) out = out && same_number(left[i], right[i]);
  });
  return out;
}

Result<Both> run_on_bits(const std::string& text, uint64_t seed) {
  HILO_TRY(const Module module, parse(text));
  std::mt19937_64 random(seed);
  std::vector<Literal> arguments;
  for (InstructionId parameter : module[module.entry].parameters)
    arguments.push_back(random_bits(module.shape(parameter), random));
  return run_both_on(text, arguments, static_cast<int>(1 + seed % 3));
}

// HILO_RANDOM_FIRST and HILO_RANDOM_COUNT: seeds for a longer run.
TEST(PhysicalBytes, RandomModulesAreCompiledAsEvaluated) {
  const uint64_t first = number_from("HILO_RANDOM_FIRST", 0);
  const uint64_t count = number_from("HILO_RANDOM_COUNT", 200);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const std::string text = RandomPhysicalModule(seed).text();
    const auto both = run_on_bits(text, seed);
    ASSERT_TRUE(both) << seed << ": " << to_string(both.error()) << "\n" << text;
    ASSERT_TRUE(are_same(both->compiled, both->evaluated)) << seed << "\n" << text;
  }
}

}  // namespace
}  // namespace hilo::test
