#include "emit/small_floats.h"

#include <llvm/IR/Intrinsics.h>

#include <bit>
#include <cmath>

#include "emit/float_bits.h"

namespace hilo {
namespace {

using llvm::Value;

using F32Bits = FloatBits<float>;
constexpr uint32_t infinity = F32Bits::infinity, nan = F32Bits::nan;
constexpr uint32_t half_of_last = F32Bits::min_normal / 2;

// A format with signs; `shift` is how much shorter its significand is than that of f32.
struct Format {
  FloatFormat f;
  uint32_t magnitudes;  // mask of all bits but the sign
  unsigned shift, sign_shift;

  explicit Format(ElementType type)
      : f(visit_storage(type,
                        []<class T>(std::type_identity<T>) {
                          if constexpr (requires { T::format; }) return T::format;
                          else return FloatFormat{};
                        })),
        magnitudes((1u << (f.bits() - 1)) - 1),
        shift(static_cast<unsigned>(F32Bits::significand - f.mantissa_bits)),
        sign_shift(static_cast<unsigned>(f.bits() - 1)) {}

  bool has_infinity() const { return f.specials == Specials::Ieee; }
  bool is_finite() const { return f.specials == Specials::FiniteOnly; }
  bool is_fnuz() const { return f.specials == Specials::Fnuz; }
  // The least exponent of a normal number, the largest number as f32.
  int min_exponent() const { return 1 - f.bias; }
  float largest() const { return static_cast<float>(decode(largest_bits(), f)); }
  uint32_t largest_bits() const {
    if (has_infinity()) return first_special() - 1;
    return f.specials == Specials::FiniteNan ? magnitudes - 1 : magnitudes;
  }
  uint32_t first_special() const { return ((1u << f.exponent_bits) - 1) << f.mantissa_bits; }
};

// An integer in each lane of `like`.
llvm::Constant* whole(Value* like, uint64_t value) {
  return llvm::ConstantInt::get(like->getType(), value);
}
Value* as_bits(Builder& b, Value* value) {
  llvm::Type* type = value->getType();
  return b.CreateBitCast(value, type->getWithNewType(b.getIntNTy(type->getScalarSizeInBits())));
}
Value* as_float(Builder& b, Value* bits) {
  return b.CreateBitCast(bits, bits->getType()->getWithNewType(b.getFloatTy()));
}
Value* masked(Builder& b, Value* bits, uint64_t mask) {
  return b.CreateAnd(bits, whole(bits, mask));
}
Value* chosen(Builder& b, Value* condition, uint64_t value, Value* otherwise) {
  return b.CreateSelect(condition, whole(otherwise, value), otherwise);
}

// 2^-127 is subnormal; it is no choice of a constant, of which LLVM would compute ceil and others
// as of a number that is not zero.
Value* power_of_bits(Builder& b, Value* x) {
  Value* power = b.CreateBinaryIntrinsic(
      llvm::Intrinsic::umax, b.CreateShl(x, F32Bits::significand), whole(x, half_of_last));
  return as_float(b, chosen(b, b.CreateICmpEQ(x, whole(x, 255)), nan, power));
}

// The stored bits of the power nearest to an f32 of these bits. 2^-127 stays what it is, though
// subnormal; what lies above is nearer to 2^-126 as F8E8M0FNU rounds, and less is zero.
Value* nearest_power(Builder& b, Value* raw) {
  Value* power = b.CreateLShr(b.CreateAdd(raw, whole(raw, half_of_last)), F32Bits::significand);
  power = chosen(b, b.CreateICmpEQ(raw, whole(raw, half_of_last)), 0, power);
  Value* above = b.CreateSub(raw, whole(raw, half_of_last));
  Value* has_power = b.CreateICmpULT(above, whole(raw, infinity - half_of_last));
  return b.CreateSelect(has_power, power, whole(raw, 255));
}

}  // namespace

bool is_small_float(ElementType type) { return is_floating(type) && bits_of(type) <= 8; }

Value* small_float_of_bits(Builder& b, ElementType type, Value* bits) {
  Value* x = b.CreateZExt(bits, bits->getType()->getWithNewType(b.getInt32Ty()));
  if (type == ElementType::F8E8M0FNU) return power_of_bits(b, x);
  const Format format(type);
  Value* magnitude = masked(b, x, format.magnitudes);
  Value* sign = b.CreateShl(b.CreateLShr(x, format.sign_shift), 31);
  Value* shifted = b.CreateShl(magnitude, format.shift);
  Value* least = whole(x, F32Bits::power(format.min_exponent()));
  Value* normal = b.CreateAdd(shifted, whole(x, F32Bits::power(-format.f.bias)));
  Value* subnormal =
      as_bits(b, b.CreateFSub(as_float(b, b.CreateAdd(shifted, least)), as_float(b, least)));
  Value* is_normal = b.CreateICmpUGE(magnitude, whole(x, uint64_t{1} << format.f.mantissa_bits));
  Value* out = b.CreateSelect(is_normal, normal, subnormal);
  if (format.has_infinity())
    out = b.CreateSelect(b.CreateICmpUGE(magnitude, whole(x, format.first_special())),
                         b.CreateOr(shifted, whole(x, infinity)), out);
  else if (format.is_fnuz())
    out = chosen(b, b.CreateICmpEQ(x, whole(x, format.magnitudes + 1)), nan, out);
  else if (!format.is_finite())
    out = chosen(b, b.CreateICmpEQ(magnitude, whole(x, format.magnitudes)), nan, out);
  return as_float(b, b.CreateOr(out, sign));
}

Value* bits_of_small_float(Builder& b, ElementType type, Value* value) {
  Value* raw = as_bits(b, value);
  llvm::Type* byte = raw->getType()->getWithNewType(b.getInt8Ty());
  if (type == ElementType::F8E8M0FNU)
    return b.CreateTrunc(b.CreateLShr(raw, F32Bits::significand), byte);
  const Format format(type);
  Value* magnitude = masked(b, raw, ~F32Bits::sign);
  Value* shifted = b.CreateLShr(magnitude, format.shift);
  // Added to a number whose last place is the format's smallest, it is a count of these.
  Value* unit = whole(raw, F32Bits::power(format.min_exponent() + static_cast<int>(format.shift)));
  Value* counted = b.CreateFAdd(as_float(b, magnitude), as_float(b, unit));
  const uint32_t bias = static_cast<uint32_t>(F32Bits::bias - format.f.bias)
                        << format.f.mantissa_bits;
  Value* out = b.CreateSelect(
      b.CreateICmpULT(magnitude, whole(raw, F32Bits::power(format.min_exponent()))),
      b.CreateSub(as_bits(b, counted), unit), b.CreateSub(shifted, whole(raw, bias)));
  Value* is_nan = b.CreateICmpUGT(magnitude, whole(raw, infinity));
  if (format.has_infinity())
    out = b.CreateSelect(b.CreateICmpUGE(magnitude, whole(raw, infinity)),
                         masked(b, shifted, format.magnitudes), out);
  else if (!format.is_finite() && !format.is_fnuz())
    out = chosen(b, is_nan, format.magnitudes, out);
  out = b.CreateOr(out, b.CreateShl(b.CreateLShr(raw, 31), format.sign_shift));
  if (format.is_fnuz()) out = chosen(b, is_nan, format.magnitudes + 1, out);
  return b.CreateTrunc(out, byte);
}

Value* round_to_small_float(Builder& b, ElementType type, Value* value) {
  Value* raw = as_bits(b, value);
  if (type == ElementType::F8E8M0FNU) return power_of_bits(b, nearest_power(b, raw));
  const Format format(type);
  const float largest = format.largest();
  Value* magnitude = masked(b, raw, ~F32Bits::sign);
  // What is far beyond the largest number is a little beyond it.
  Value* near = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, magnitude,
                                        whole(raw, F32Bits::power(std::ilogb(largest) + 1)));
  // The last place of a number that is 2^shift times as large is the one to round to.
  Value* scale = b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, masked(b, near, infinity),
                                         whole(raw, F32Bits::power(format.min_exponent())));
  scale =
      as_float(b, b.CreateAdd(scale, whole(raw, uint64_t{format.shift} << F32Bits::significand)));
  Value* rounded = b.CreateFSub(b.CreateFAdd(as_float(b, near), scale), scale);
  Value* is_beyond =
      b.CreateFCmpOGT(rounded, llvm::ConstantFP::get(rounded->getType(), double(largest)));
  const uint32_t beyond = format.has_infinity() ? infinity
                          : format.is_finite()  ? std::bit_cast<uint32_t>(largest)
                                                : nan;
  Value* out = chosen(b, is_beyond, beyond, as_bits(b, rounded));
  Value* is_nan = b.CreateICmpUGT(magnitude, whole(raw, infinity));
  if (format.has_infinity()) out = chosen(b, is_nan, nan, out);
  Value* sign = masked(b, raw, F32Bits::sign);
  if (format.is_fnuz()) sign = chosen(b, b.CreateICmpEQ(out, whole(raw, 0)), 0, sign);
  out = b.CreateOr(out, sign);
  if (format.is_finite()) out = chosen(b, is_nan, F32Bits::sign, out);
  return as_float(b, out);
}

}  // namespace hilo
