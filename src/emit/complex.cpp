#include "emit/complex.h"

#include <algorithm>
#include <cmath>

#include "emit/complex_math.h"
#include "emit/math.h"
#include "emit/scalars.h"
#include "emit/select_to_branch.h"

extern "C" {
#define HILO_DECLARE(name) __extension__ double _Complex name(double _Complex);
HILO_DECLARE(cexp)
HILO_DECLARE(clog)
HILO_DECLARE(csqrt)
HILO_DECLARE(csin)
HILO_DECLARE(ccos)
HILO_DECLARE(ctan)
HILO_DECLARE(csinh)
HILO_DECLARE(ccosh)
HILO_DECLARE(ctanh)
HILO_DECLARE(casin)
HILO_DECLARE(cacos)
HILO_DECLARE(casinh)
HILO_DECLARE(cacosh)
HILO_DECLARE(catanh)
#undef HILO_DECLARE
__extension__ double _Complex __divdc3(double, double, double, double);
}

namespace hilo {
namespace {

using llvm::Value;

// Arithmetic on complex doubles.
class Wide {
 public:
  explicit Wide(Builder& b) : b(b) {}
  Builder& b;

  Value* number(double x) const { return llvm::ConstantFP::get(b.getDoubleTy(), x); }
  Complex constant(double real, double imaginary = 0) const {
    return {number(real), number(imaginary)};
  }
  Value* times(Value* x, Value* y) const { return b.CreateFMul(x, y); }
  Value* plus(Value* x, Value* y) const { return b.CreateFAdd(x, y); }
  Value* minus(Value* x, Value* y) const { return b.CreateFSub(x, y); }
  Value* absolute(Value* x) const { return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }
  Value* is_infinite(Value* x) const {
    return b.CreateFCmpOEQ(absolute(x), llvm::ConstantFP::getInfinity(x->getType()));
  }
  Value* is_finite(Value* x) const { return b.CreateFCmpOLT(absolute(x), number(HUGE_VAL)); }

  Complex select(Value* condition, Complex x, Complex y) const {
    return select_parts(b, condition, x, y);
  }
  Complex product(Complex x, Complex y) const {
    return {minus(times(x.real, y.real), times(x.imaginary, y.imaginary)),
            plus(times(x.real, y.imaginary), times(x.imaginary, y.real))};
  }
  // Of parts that f32 holds: products of two are exact, so that to add to one rounds once anyway.
  Complex product_of_single(Complex x, Complex y) const {
    return {add_product(x.real, y.real, b.CreateFNeg(times(x.imaginary, y.imaginary))),
            add_product(x.real, y.imaginary, times(x.imaginary, y.real))};
  }
  // x times the conjugate of y, of parts that f32 holds.
  Complex times_conjugate(Complex x, Complex y) const {
    return {add_product(x.real, y.real, times(x.imaginary, y.imaginary)),
            add_product(x.imaginary, y.real, b.CreateFNeg(times(x.real, y.imaginary)))};
  }
  Value* real_call(double (*function)(double), Value* x) const {
    return call_pure(b, reinterpret_cast<const void*>(function), {x});
  }
  Complex call_of_parts(std::string_view name, llvm::ArrayRef<Value*> operands) const {
    const auto found = std::ranges::find(complex_functions(), name, &ComplexFunction::name);
    Value* out = call_pure(b, found->address, operands);
    return {b.CreateExtractValue(out, 0), b.CreateExtractValue(out, 1)};
  }
  Complex call(std::string_view name, Complex x) const {
    return call_of_parts(name, {x.real, x.imaginary});
  }
  Complex quotient(Complex x, Complex y) const {
    if (b.GetInsertBlock()->getModule()->getTargetTriple().isX86())
      return complex_math::quotient(b, x, y);
    return call_of_parts("__divdc3", {x.real, x.imaginary, y.real, y.imaginary});
  }

  // Of parts that f32 holds, so that no product overflows. Parts that are zero get the signs that
  // they get where doubles are divided, and in XLA (R. Smith, "Algorithm 116: Complex division",
  // CACM 1962), which divides by the larger part of y: where terms cancel, its sign. Where both
  // parts would be NaN, C's Annex G says what becomes of zeros and infinities.
  Complex quotient_of_single(Complex x, Complex y) const {
    Value* is_steep = b.CreateFCmpOLT(absolute(y.real), absolute(y.imaginary));
    Value* sign = copy_sign(1, b.CreateSelect(is_steep, y.imaginary, y.real));
    const Complex upright = scaled(sign, y);
    Value* size = times(sign, add_product(y.real, y.real, times(y.imaginary, y.imaginary)));
    const Complex conjugated = times_conjugate(x, upright);
    const Complex plain = {b.CreateFDiv(conjugated.real, size),
                           b.CreateFDiv(conjugated.imaginary, size)};
    Value* large = copy_sign(HUGE_VAL, y.real);
    const Complex by_zero = scaled(large, x);
    const Complex of_infinite = scaled(number(HUGE_VAL), times_conjugate(limits(x), y));
    Value* has_finite = b.CreateOr(is_finite(y.real), is_finite(y.imaginary));
    Value* sign_of_one = b.CreateSelect(has_finite, sign, number(1));
    const Complex by_infinite =
        scaled(copy_sign(0, sign_of_one), times_conjugate(x, scaled(sign_of_one, limits(y))));
    Value* is_zero = b.CreateAnd(
        b.CreateFCmpOEQ(size, number(0)),
        b.CreateOr(b.CreateFCmpORD(x.real, x.real), b.CreateFCmpORD(x.imaginary, x.imaginary)));
    Complex out = select(b.CreateAnd(has_infinite(y), both_finite(x)), by_infinite, plain);
    out = select(b.CreateAnd(has_infinite(x), both_finite(y)), of_infinite, out);
    out = select(is_zero, by_zero, out);
    Value* is_nan = b.CreateAnd(b.CreateFCmpUNO(plain.real, plain.real),
                                b.CreateFCmpUNO(plain.imaginary, plain.imaginary));
    return {unlikely_select(b, is_nan, out.real, plain.real),
            unlikely_select(b, is_nan, out.imaginary, plain.imaginary)};
  }
  // Of parts that f32 holds.
  Value* length_of_single(Complex x) const {
    Value* squares = add_product(x.real, x.real, times(x.imaginary, x.imaginary));
    return b.CreateSelect(has_infinite(x), number(HUGE_VAL),
                          b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, squares));
  }
  // Of parts in either precision: scaled by the power of two that makes the larger one one of
  // [1, 2), so that squares neither overflow nor vanish where they count. In f32 the square of the
  // smaller part is the one that is rounded: all is within a unit of the last place.
  Value* length(Complex x) const {
    llvm::Type* type = x.real->getType();
    auto* integer = b.getIntNTy(type->getScalarSizeInBits());
    const uint64_t unit = uint64_t{1} << (type->getFPMantissaWidth() - 1);
    const uint64_t exponents = (uint64_t{1} << (integer->getBitWidth() - 1)) - unit;
    const auto bits = [&](uint64_t number) { return llvm::ConstantInt::get(integer, number); };
    Value *first = absolute(x.real), *second = absolute(x.imaginary);
    Value* is_first = b.CreateFCmpOGT(first, second);
    Value* larger = b.CreateSelect(is_first, first, second);
    Value* exponent = b.CreateAnd(b.CreateBitCast(larger, integer), bits(exponents));
    exponent = b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, exponent, bits(unit));
    exponent = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, exponent, bits(exponents - 2 * unit));
    Value* inverse = b.CreateBitCast(b.CreateSub(bits(exponents - unit), exponent), type);
    if (type->isFloatTy()) {
      second = b.CreateSelect(is_first, second, first);
      first = larger;
    }
    Value *u = times(first, inverse), *v = times(second, inverse);
    Value* root = b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, add_product(u, u, times(v, v)));
    Value* scaled = times(root, b.CreateBitCast(exponent, type));
    return b.CreateSelect(has_infinite(x), llvm::ConstantFP::getInfinity(type), scaled);
  }

 private:
  Value* add_product(Value* x, Value* y, Value* sum) const {
    return b.CreateIntrinsic(llvm::Intrinsic::fmuladd, {x->getType()}, {x, y, sum});
  }
  Value* copy_sign(double magnitude, Value* sign) const {
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, number(magnitude), sign);
  }
  Value* has_infinite(Complex x) const {
    return b.CreateOr(is_infinite(x.real), is_infinite(x.imaginary));
  }
  Value* both_finite(Complex x) const {
    return b.CreateAnd(is_finite(x.real), is_finite(x.imaginary));
  }
  // Infinite parts as 1 and others as 0, with their signs.
  Complex limits(Complex x) const {
    const auto limit = [&](Value* part) {
      return b.CreateSelect(is_infinite(part), copy_sign(1, part), copy_sign(0, part));
    };
    return {limit(x.real), limit(x.imaginary)};
  }
  Complex scaled(Value* factor, Complex x) const {
    return {times(factor, x.real), times(factor, x.imaginary)};
  }
};

Complex widened(const ScalarCall& c, size_t operand) {
  const Complex x = parts_of(c.b, c.in[operand]);
  if (c.type == ElementType::C128)
    return {without_subnormal(c.b, x.real), without_subnormal(c.b, x.imaginary)};
  llvm::Type* wide = c.b.getDoubleTy();
  return {c.b.CreateFPExt(x.real, wide), c.b.CreateFPExt(x.imaginary, wide)};
}

Value* narrowed(const ScalarCall& c, Value* real) {
  return c.type == ElementType::C128 ? without_subnormal(c.b, real)
                                     : c.b.CreateFPTrunc(real, c.b.getFloatTy());
}
Value* narrowed(const ScalarCall& c, Complex x) {
  return joined(c.b, {narrowed(c, x.real), narrowed(c, x.imaginary)});
}

bool is_conjugate(const Module& module, InstructionId y, InstructionId x) {
  const auto is_part = [&](Op op, InstructionId part) {
    return module[part].op == op && module.operand(part, 0) == x;
  };
  if (module[y].op != Op::Complex || !is_part(Op::Real, module.operand(y, 0))) return false;
  const InstructionId conjugated = module.operand(y, 1);
  return module[conjugated].op == Op::Negate && is_part(Op::Imag, module.operand(conjugated, 0));
}

// Whether a number is multiplied by its conjugate.
bool multiplies_conjugates(const ScalarCall& c) {
  const Module& module = c.elements.module;
  const auto id = static_cast<uint32_t>(&c.instruction - module.instructions.data());
  const InstructionId x = module.operand({id}, 0), y = module.operand({id}, 1);
  return is_conjugate(module, x, y) || is_conjugate(module, y, x);
}

// x times its conjugate, of parts in f32. The products of the imaginary part are each other's
// opposites: their sum is 0, or NaN where a part is not finite.
Complex squared_length(Builder& b, Complex x) {
  Value *real = b.CreateFPExt(x.real, b.getDoubleTy()),
        *imaginary = b.CreateFPExt(x.imaginary, b.getDoubleTy());
  Value* sum = real_parts::multiply_add(b, real, real, b.CreateFMul(imaginary, imaginary));
  return {b.CreateFPTrunc(sum, b.getFloatTy()),
          b.CreateFAdd(b.CreateFSub(x.real, x.real), b.CreateFSub(x.imaginary, x.imaginary))};
}

Value* length(const ScalarCall& c, Complex x) {
  return c.type == ElementType::C128 ? Wide(c.b).length(x) : Wide(c.b).length_of_single(x);
}

}  // namespace

Complex parts_of(Builder& b, llvm::Value* held) {
  llvm::Value* parts[2] = {};
  while (auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(held)) {
    const auto* place = llvm::dyn_cast<llvm::ConstantInt>(insert->getOperand(2));
    if (!place) break;
    llvm::Value*& part = parts[place->getZExtValue()];
    if (!part) part = insert->getOperand(1);
    held = insert->getOperand(0);
  }
  for (uint64_t i = 0; i < 2; ++i)
    if (!parts[i]) parts[i] = b.CreateExtractElement(held, i);
  return {parts[0], parts[1]};
}

llvm::Value* joined(Builder& b, Complex parts) {
  llvm::Value* out = llvm::PoisonValue::get(llvm::FixedVectorType::get(parts.real->getType(), 2));
  out = b.CreateInsertElement(out, parts.real, uint64_t{0});
  return b.CreateInsertElement(out, parts.imaginary, uint64_t{1});
}

Complex select_parts(Builder& b, llvm::Value* condition, Complex x, Complex y) {
  return {b.CreateSelect(condition, x.real, y.real),
          b.CreateSelect(condition, x.imaginary, y.imaginary)};
}

llvm::Value* select_held(Builder& b, ElementType type, llvm::Value* condition, llvm::Value* x,
                         llvm::Value* y) {
  if (!is_complex(type)) return b.CreateSelect(condition, x, y);
  return joined(b, select_parts(b, condition, parts_of(b, x), parts_of(b, y)));
}

llvm::Value* complex_sum(const ScalarCall& c) {
  const Complex x = parts_of(c.b, c.in[0]), y = parts_of(c.b, c.in[1]);
  return joined(c.b, {c.b.CreateFAdd(x.real, y.real), c.b.CreateFAdd(x.imaginary, y.imaginary)});
}
llvm::Value* complex_difference(const ScalarCall& c) {
  const Complex x = parts_of(c.b, c.in[0]), y = parts_of(c.b, c.in[1]);
  return joined(c.b, {c.b.CreateFSub(x.real, y.real), c.b.CreateFSub(x.imaginary, y.imaginary)});
}
llvm::Value* complex_product(const ScalarCall& c) {
  const Wide wide(c.b);
  if (c.type == ElementType::C64 && multiplies_conjugates(c))
    return joined(c.b, squared_length(c.b, parts_of(c.b, c.in[0])));
  const Complex x = widened(c, 0), y = widened(c, 1);
  return narrowed(c,
                  c.type == ElementType::C128 ? wide.product(x, y) : wide.product_of_single(x, y));
}
llvm::Value* complex_quotient(const ScalarCall& c) {
  const Wide wide(c.b);
  const Complex x = widened(c, 0), y = widened(c, 1);
  return narrowed(
      c, c.type == ElementType::C128 ? wide.quotient(x, y) : wide.quotient_of_single(x, y));
}
llvm::Value* complex_negated(const ScalarCall& c) {
  const Complex x = parts_of(c.b, c.in[0]);
  return joined(c.b, {c.b.CreateFNeg(x.real), c.b.CreateFNeg(x.imaginary)});
}
// In f32 where products are added in one rounding: twice as many lanes, and short square roots.
llvm::Value* complex_absolute(const ScalarCall& c) {
  if (c.type == ElementType::C64 && real_parts::adds_products(c.b))
    return Wide(c.b).length(parts_of(c.b, c.in[0]));
  return narrowed(c, length(c, widened(c, 0)));
}
llvm::Value* complex_sign(const ScalarCall& c) {
  const Wide wide(c.b);
  const Complex x = widened(c, 0);
  llvm::Value* size = length(c, x);
  const Complex unit = {c.b.CreateFDiv(x.real, size), c.b.CreateFDiv(x.imaginary, size)};
  llvm::Value* is_zero = c.b.CreateFCmpOEQ(size, wide.number(0));
  const auto zero = [&](Value* part) { return real_parts::copy_sign(c.b, wide.number(0), part); };
  return narrowed(c, wide.select(is_zero, {zero(x.real), zero(x.imaginary)}, unit));
}

llvm::Value* complex_call(const ScalarCall& c, std::string_view name) {
  const auto function = complex_math::function_of(name);
  const Complex x = widened(c, 0);
  const bool is_emitted = c.type == ElementType::C64 && function;
  return narrowed(c, is_emitted ? function(c.b, x) : Wide(c.b).call(name, x));
}
llvm::Value* complex_power(const ScalarCall& c) {
  const Wide wide(c.b);
  const Complex x = widened(c, 0), y = widened(c, 1);
  const auto is_zero = [&](Complex z) {
    return c.b.CreateAnd(c.b.CreateFCmpOEQ(z.real, wide.number(0)),
                         c.b.CreateFCmpOEQ(z.imaginary, wide.number(0)));
  };
  const Complex power = c.type == ElementType::C64
                            ? complex_math::power(c.b, x, y)
                            : wide.call("cexp", wide.product(y, wide.call("clog", x)));
  llvm::Value* nan = wide.number(std::nan(""));
  llvm::Value* is_positive = c.b.CreateAnd(c.b.CreateFCmpOGT(y.real, wide.number(0)),
                                           c.b.CreateFCmpOEQ(y.imaginary, wide.number(0)));
  const Complex of_zero = wide.select(is_positive, wide.constant(0), Complex{nan, nan});
  const Complex out = wide.select(is_zero(x), of_zero, power);
  return narrowed(c, wide.select(is_zero(y), wide.constant(1), out));
}
// -i log((x + iy) / sqrt(x^2 + y^2)), the continuation of the real one.
llvm::Value* complex_atan2(const ScalarCall& c) {
  const Wide wide(c.b);
  const Complex y = widened(c, 0), x = widened(c, 1);
  const Complex xx = wide.product(x, x), yy = wide.product(y, y);
  const Complex sum = {wide.minus(x.real, y.imaginary), wide.plus(x.imaginary, y.real)};
  const Complex root = wide.call(
      "csqrt", Complex{wide.plus(xx.real, yy.real), wide.plus(xx.imaginary, yy.imaginary)});
  const Complex log = wide.call("clog", wide.quotient(sum, root));
  return narrowed(c, Complex{log.imaginary, c.b.CreateFNeg(log.real)});
}
// The conjugate's is the conjugate, of real numbers too.
llvm::Value* complex_reciprocal_root(const ScalarCall& c) {
  const Wide wide(c.b);
  const Complex x = widened(c, 0);
  const bool is_single = c.type == ElementType::C64;
  const Complex root = is_single ? complex_math::square_root(c.b, x) : wide.call("csqrt", x);
  Complex out = is_single ? wide.quotient_of_single(wide.constant(1), root)
                          : wide.quotient(wide.constant(1), root);
  out.imaginary = real_parts::copy_sign(c.b, out.imaginary, c.b.CreateFNeg(root.imaginary));
  return narrowed(c, out);
}
// e^a cos b - 1 = expm1(a) cos b - 2 sin^2(b/2)
llvm::Value* complex_exponential_minus_one(const ScalarCall& c) {
  const Wide wide(c.b);
  const Complex x = widened(c, 0);
  if (c.type == ElementType::C64) return narrowed(c, complex_math::exponential_minus_one(c.b, x));
  llvm::Value* half = wide.real_call(&::sin, wide.times(x.imaginary, wide.number(0.5)));
  llvm::Value* grown = wide.real_call(&::expm1, x.real);
  llvm::Value* real = wide.minus(wide.times(grown, wide.real_call(&::cos, x.imaginary)),
                                 wide.times(wide.times(wide.number(2), half), half));
  llvm::Value* imaginary =
      wide.times(wide.plus(grown, wide.number(1)), wide.real_call(&::sin, x.imaginary));
  llvm::Value* is_real = c.b.CreateFCmpOEQ(x.imaginary, wide.number(0));
  return narrowed(c, Complex{real, c.b.CreateSelect(is_real, x.imaginary, imaginary)});
}
// log|1+z| = log1p(2a + a^2 + b^2) / 2 near to 0.
llvm::Value* complex_log_plus_one(const ScalarCall& c) {
  const Wide wide(c.b);
  const Complex x = widened(c, 0);
  if (c.type == ElementType::C64) return narrowed(c, complex_math::log_plus_one(c.b, x));
  llvm::Value* one_more = wide.plus(wide.number(1), x.real);
  const Complex far = wide.call("clog", Complex{one_more, x.imaginary});
  llvm::Value* inside = wide.plus(wide.times(wide.number(2), x.real), wide.times(x.real, x.real));
  inside = wide.plus(inside, wide.times(x.imaginary, x.imaginary));
  double (*atan2)(double, double) = &::atan2;
  const Complex near = {
      wide.times(wide.number(0.5), wide.real_call(&::log1p, inside)),
      call_pure(c.b, reinterpret_cast<const void*>(atan2), {x.imaginary, one_more})};
  llvm::Value* half = wide.number(0.5);
  llvm::Value* is_far = c.b.CreateOr(c.b.CreateFCmpOGT(wide.absolute(x.real), half),
                                     c.b.CreateFCmpOGT(wide.absolute(x.imaginary), half));
  return narrowed(c, wide.select(is_far, far, near));
}
llvm::Value* complex_logistic(const ScalarCall& c) {
  const Wide wide(c.b);
  const Complex x = widened(c, 0);
  if (c.type == ElementType::C64) return narrowed(c, complex_math::logistic(c.b, x));
  llvm::Value* is_right = c.b.CreateFCmpOGE(x.real, wide.number(0));
  const Complex minus = {c.b.CreateFNeg(x.real), c.b.CreateFNeg(x.imaginary)};
  const Complex e = wide.call("cexp", wide.select(is_right, minus, x));
  const Complex beside = {wide.plus(wide.number(1), e.real), e.imaginary};
  Complex out = wide.quotient(wide.select(is_right, wide.constant(1), e), beside);
  // Zeros have the signs of the angle's cosine and sine.
  llvm::Value* angle = c.b.CreateSelect(wide.is_finite(x.imaginary), x.imaginary, wide.number(0));
  const auto with_sign = [&](llvm::Value* part, double (*function)(double)) {
    llvm::Value* zero = real_parts::copy_sign(c.b, wide.number(0), wide.real_call(function, angle));
    return c.b.CreateSelect(c.b.CreateFCmpOEQ(part, wide.number(0)), zero, part);
  };
  out = {with_sign(out.real, &::cos), with_sign(out.imaginary, &::sin)};
  return narrowed(c, out);
}

std::span<const ComplexFunction> complex_functions() {
#define HILO_FUNCTION(name) {#name, reinterpret_cast<const void*>(&::name), 2}
  static const ComplexFunction functions[] = {
      HILO_FUNCTION(cexp),
      HILO_FUNCTION(clog),
      HILO_FUNCTION(csqrt),
      HILO_FUNCTION(csin),
      HILO_FUNCTION(ccos),
      HILO_FUNCTION(ctan),
      HILO_FUNCTION(csinh),
      HILO_FUNCTION(ccosh),
      HILO_FUNCTION(ctanh),
      HILO_FUNCTION(casin),
      HILO_FUNCTION(cacos),
      HILO_FUNCTION(casinh),
      HILO_FUNCTION(cacosh),
      HILO_FUNCTION(catanh),
      {"__divdc3", reinterpret_cast<const void*>(&::__divdc3), 4}};
#undef HILO_FUNCTION
  return functions;
}

}  // namespace hilo
