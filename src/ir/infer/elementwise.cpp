// Elementwise ops: one dimension rule for all, element types by the op table and a few exceptions.
#include "ir/infer/infer.h"

namespace hilo {
namespace {

uint8_t mask_of(ElementType type) {
  switch (kind_of(type)) {
    case TypeKind::Boolean: return MaskPred;
    case TypeKind::Signed: return MaskSigned;
    case TypeKind::Unsigned: return MaskUnsigned;
    case TypeKind::Float: return MaskFloat;
    case TypeKind::Complex: return MaskComplex;
    case TypeKind::Special: return MaskSpecial;
  }
  return 0;
}

std::string text_of_mask(uint8_t mask) {
  constexpr std::string_view names[] = {"pred", "signed", "unsigned", "floating", "complex"};
  std::string out;
  for (size_t i = 0; i < std::size(names); ++i)
    if (mask >> i & 1) (out += out.empty() ? "" : " or ") += names[i];
  return out;
}

Result<void> need_types(const Given& given) {
  const uint8_t mask = info(given.instruction.op).types;
  for (size_t i = 0; i < given.count(); ++i)
    if (const ElementType type = given.operand(i).type; !(mask_of(type) & mask))
      return misfit("{} takes {} elements, found {}", text_of(given.instruction.op),
                    text_of_mask(mask), text(given.operand(i)));
  return {};
}

// Equal dimensions, or one of them unbounded. The result's: the known size, dynamic where both are.
Result<void> merge_dims(Shape& out, const Shape& other) {
  bool fits = out.dims.size() == other.dims.size();
  for (size_t i = 0; fits && i < out.dims.size(); ++i) {
    const bool open = out.dims[i] == Shape::unbounded,
               other_open = other.dims[i] == Shape::unbounded;
    fits = open || other_open || out.dims[i] == other.dims[i];
    if (open) out.dims[i] = other.dims[i];
    if (!out.dynamic.empty() || !other.dynamic.empty())
      set_dynamic(out, i, open ? other.is_dynamic(i) : out.is_dynamic(i) || other.is_dynamic(i));
  }
  if (fits) return {};
  return misfit("operands have different dimensions: {} and {}", text(out), text(other));
}

Result<Shape> unary(const Given& given) {
  Shape out = given.operand(0);
  const Op op = given.instruction.op;
  if (op == Op::IsFinite) out.type = ElementType::Pred;
  if (op == Op::Real || op == Op::Imag || op == Op::Abs) out.type = real_type_of(out.type);
  if (op == Op::Convert) {
    HILO_TRY(const Shape stated, need_stated(given));
    out.type = stated.type;
    if (!stated.is_array()) return misfit("convert gives an array, found {}", text(stated));
  }
  if (op == Op::ReducePrecision) {
    const auto& [exponent, mantissa] = given.attributes<ReducePrecisionAttributes>();
    if (exponent < 1) return misfit("expected exponent_bits of at least 1, found {}", exponent);
    if (mantissa < 0) return misfit("expected mantissa_bits of at least 0, found {}", mantissa);
  }
  return out;
}

Result<void> need_comparable(const Given& given) {
  const ComparisonType type = given.attributes<CompareAttributes>().type;
  const ElementType element = given.operand(0).type;
  const bool fits =
      type == ComparisonType::Default || type == ComparisonType::TotalOrder ||
      (type == ComparisonType::Float && (is_floating(element) || is_complex(element))) ||
      (type == ComparisonType::Signed && is_signed(element)) ||
      (type == ComparisonType::Unsigned && (is_unsigned(element) || element == ElementType::Pred));
  if (fits) return {};
  return misfit("comparison type {} does not fit {}", text_of_enum(type), text_of(element));
}

Result<ElementType> complex_type(ElementType part) {
  if (part == ElementType::F32 || part == ElementType::F64) return complex_type_of(part);
  return misfit("complex takes f32 or f64 parts, found {}", text_of(part));
}

Result<Shape> stochastic_convert(const Given& given) {
  HILO_TRY(const Shape stated, need_stated(given));
  Shape out = given.operand(0);
  const Shape& random = given.operand(1);
  HILO_DO(merge_dims(out, random));
  if (!is_floating(out.type)) return misfit("expected a floating operand 0, found {}", text(out));
  if (!is_unsigned(random.type) || bits_of(random.type) != bits_of(out.type))
    return misfit("expected unsigned random numbers of {} bits, found {}", bits_of(out.type),
                  text(random));
  if (!is_floating(stated.type) && !is_integral(stated.type))
    return misfit("stochastic-convert gives floating or integer elements, found {}", text(stated));
  out.type = stated.type;
  return out;
}

Result<Shape> binary(const Given& given) {
  const Op op = given.instruction.op;
  if (op == Op::StochasticConvert) return stochastic_convert(given);
  Shape out = given.operand(0);
  const Shape& right = given.operand(1);
  if (out.type != right.type)
    return misfit("operands have different element types: {} and {}", text(out), text(right));
  HILO_DO(merge_dims(out, right));
  if (op == Op::Compare) {
    HILO_DO(need_comparable(given));
    out.type = ElementType::Pred;
  } else if (op == Op::Complex) {
    HILO_TRY(out.type, complex_type(out.type));
  }
  return out;
}

Result<Shape> clamp(const Given& given) {
  Shape out = given.operand(1);
  for (size_t bound : {0, 2}) {
    if (given.operand(bound).type != out.type)
      return misfit("bounds and operand have different element types: {} and {}",
                    text(given.operand(bound)), text(out));
    if (!given.operand(bound).is_scalar()) HILO_DO(merge_dims(out, given.operand(bound)));
  }
  return out;
}

Result<Shape> select(const Given& given) {
  const Shape& choice = given.operand(0);
  Shape out = given.operand(1);
  if (choice.type != ElementType::Pred)
    return misfit("expected a pred as operand 0, found {}", text(choice));
  if (out.type != given.operand(2).type)
    return misfit("operands have different element types: {} and {}", text(out),
                  text(given.operand(2)));
  HILO_DO(merge_dims(out, given.operand(2)));
  if (!choice.is_scalar()) HILO_DO(merge_dims(out, choice));
  return out;
}

}  // namespace

Result<Shape> infer_elementwise(const Given& given) {
  HILO_DO(need_arrays(given));
  HILO_DO(need_types(given));
  if (given.count() == 1) return unary(given);
  if (given.count() == 2) return binary(given);
  return given.instruction.op == Op::Clamp ? clamp(given) : select(given);
}

}  // namespace hilo
