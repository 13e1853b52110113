// What StableHLO's specification asks of quantised types: of a type by itself, and of the operands
// and results of an op together. C3, C15 and so on are its labels.
#include <algorithm>
#include <cmath>

#include "wire/stablehlo/handlers.h"

namespace hilo::mlir {
namespace {

// A scale is a positive number of the expressed type: not too large for it, nor below its least.
bool is_scale_of(ElementType type, double scale) {
  bool is_sound = false;
  visit_storage(type, [&]<class T>(std::type_identity<T>) {
    if constexpr (requires { T(1.5), static_cast<float>(T(1.5)); }) {
      const auto typed = static_cast<double>(T(scale));
      const bool is_below = typed > scale && static_cast<double>(T(typed / 2)) == 0;
      is_sound = std::isfinite(typed) && typed > 0 && !is_below;
    }
  });
  return is_sound;
}

// C1 to C3
Result<void> check_limits(const Quantization& type) {
  const int bits = bits_of(type.storage);
  constexpr int max_bits = 63;  // limits are 64 bits, with a sign
  const bool has_sign = is_signed(type.storage);
  const int64_t max =
      static_cast<int64_t>((uint64_t{1} << (std::min(bits, max_bits + has_sign) - has_sign)) - 1);
  if ((has_sign ? -max - 1 : 0) <= type.min && type.min < type.max && type.max <= max) return {};
  return fail(ErrorKind::Shape, "the limits {} and {} of a quantised type stored as {}", type.min,
              type.max, text_of(type.storage));
}

struct Side {
  std::string name;
  const Type* type;
  const Quantization* quantised;
};

Side side(const Step& step, std::string name, ValueId value) {
  const TypeId type = step.program()[value].type;
  return {std::move(name), type ? &step.program()[type] : nullptr,
          quantization_of(step.program(), type)};
}
Side operand(const Step& step, size_t i) {
  return side(step, fmt::format("operand {}", i), step.operation.operands[i]);
}
Side result(const Step& step, size_t i) {
  return side(step, fmt::format("result {}", i), step.operation.results[i]);
}

ElementType element_of(const Program& program, const Side& one) {
  if (one.quantised) return one.quantised->storage;
  if (!one.type || one.type->kind != TypeKind::Tensor || !one.type->element_type)
    return ElementType::Invalid;
  return program[one.type->element_type].element;
}

// The operands and results that stand for numbers: no predicates, indices or shapes.
std::vector<Side> numbers_of(const Step& step) {
  std::vector<Side> out;
  for (size_t i = 0; i < step.operation.operands.size(); ++i) out.push_back(operand(step, i));
  for (size_t i = 0; i < step.result_count(); ++i) out.push_back(result(step, i));
  std::erase_if(out, [&](const Side& one) {
    const ElementType element = element_of(step.program(), one);
    return !one.quantised && !is_floating(element) && !is_complex(element);
  });
  return out;
}

std::string described(const Program& program, const Side& one) {
  const Quantization* q = one.quantised;
  if (!q) return fmt::format("{} of {}", one.name, text_of(element_of(program, one)));
  const std::string axis = q->axis ? fmt::format(":{}", *q->axis) : "";
  const std::string scale = q->scales.size() == 1
                                ? fmt::format("{}:{}", q->scales[0], q->zero_points[0])
                                : fmt::format("{} scales", q->scales.size());
  return fmt::format("{} of quantised {}<{}:{}>:{}{}, {}", one.name, text_of(q->storage), q->min,
                     q->max, text_of(q->expressed), axis, scale);
}

std::unexpected<Error> unlike(const Step& step, const Side& a, const Side& b,
                              std::string_view expected) {
  return step.misfit("{} and {}: expected {}", described(step.program(), a),
                     described(step.program(), b), expected);
}

bool same_storage(const Side& a, const Side& b) {
  return a.quantised && b.quantised && a.quantised->storage == b.quantised->storage;
}
bool same_expressed(const Side& a, const Side& b) {
  return a.quantised && b.quantised && a.quantised->expressed == b.quantised->expressed;
}
bool same_limits(const Side& a, const Side& b) {
  return same_storage(a, b) && same_expressed(a, b) && a.quantised->min == b.quantised->min &&
         a.quantised->max == b.quantised->max;
}
bool same_scales(const Side& a, const Side& b) {
  return a.quantised->scales == b.quantised->scales &&
         a.quantised->zero_points == b.quantised->zero_points;
}
bool same_type(const Side& a, const Side& b) {
  if (!a.quantised && !b.quantised) return true;  // inference compares these
  return same_limits(a, b) && a.quantised->axis == b.quantised->axis && same_scales(a, b);
}

Result<void> check_all(const Step& step, bool (*fit)(const Side&, const Side&),
                       std::string_view expected) {
  const std::vector<Side> all = numbers_of(step);
  for (const Side& one : all)
    if (!fit(all[0], one)) return unlike(step, all[0], one, expected);
  return {};
}

// add: C2 to C7
Result<void> check_sum(const Step& step) {
  HILO_DO(check_all(
      step, [](const Side& a, const Side& b) { return same_storage(a, b) && same_expressed(a, b); },
      "the same storage and expressed types"));
  const Side to = result(step, 0);
  if (!to.quantised) return {};  // predicates
  bool has_axis = false;
  for (const Side& one : numbers_of(step)) {
    if (!one.quantised->axis) continue;
    has_axis = true;
    if (one.quantised->axis != to.quantised->axis)
      return unlike(step, one, to, "scales along the same dimension");
  }
  if (to.quantised->axis && !has_axis) return step.misfit("scales along a dimension of the result");
  return {};
}

// Dimension d, 1 where there is none and Type::dynamic where it is open.
int64_t dim_of(const Side& one, int64_t d) {
  return d >= 0 && d < std::ssize(one.type->dims) ? one.type->dims[d] : 1;
}
bool differ(int64_t a, int64_t b) { return a != b && a != Type::dynamic && b != Type::dynamic; }

int64_t product_before(const Side& one, int64_t axis) {
  int64_t out = 1;
  for (int64_t d = 0; d < axis; ++d)
    if (dim_of(one, d) == Type::dynamic || __builtin_mul_overflow(out, dim_of(one, d), &out))
      return Type::dynamic;
  return out;
}

// Where the operand's dimension of scales stands in the result; reshape: C3, transpose: C4,
// broadcast_in_dim: C6.
Result<void> check_axis(const Step& step, const Side& from, const Side& to) {
  const int64_t a = *from.quantised->axis, b = *to.quantised->axis;
  if (step.row.op == Op::Broadcast) {
    HILO_TRY(const Dims dims, step.dims("broadcast_dimensions"));
    if (a >= std::ssize(dims) || dims[a] != b)
      return unlike(step, from, to, "scales along the dimension that broadcast_dimensions gives");
  } else if (step.row.op == Op::Transpose) {
    HILO_TRY(const Dims permutation, step.dims("permutation"));
    if (b >= std::ssize(permutation) || permutation[b] != a)
      return unlike(step, from, to, "scales along the dimension that permutation gives");
  } else if (differ(dim_of(from, a), dim_of(to, b)) ||
             differ(product_before(from, a), product_before(to, b))) {
    return unlike(step, from, to, "scales along a dimension that stays as it is");
  }
  return {};
}

Result<void> check_moved(const Step& step) {
  const Side from = operand(step, 0), to = result(step, 0);
  if (!same_limits(from, to) || from.quantised->axis.has_value() != to.quantised->axis.has_value())
    return unlike(step, from, to, "the same element type");
  if (from.quantised->axis) HILO_DO(check_axis(step, from, to));
  const bool is_broadcast = step.row.op == Op::Broadcast && from.quantised->scales.size() == 1;
  const auto is_first = [](const auto& list, const auto& first) {
    return std::ranges::all_of(list, [&](const auto& one) { return one == first; });
  };
  if (is_broadcast ? is_first(to.quantised->scales, from.quantised->scales[0]) &&
                         is_first(to.quantised->zero_points, from.quantised->zero_points[0])
                   : same_scales(from, to))
    return {};
  return unlike(step, from, to, "the same scales and zero points");
}

Result<void> check_pairs(const Step& step) {
  for (size_t i = 0; i < step.result_count() && i < step.operation.operands.size(); ++i) {
    const Side from = operand(step, i), to = result(step, i);
    if (!same_type(from, to)) return unlike(step, from, to, "the same element type");
  }
  return {};
}

// Results are of the types that the reducer takes; what it is given, is promoted.
Result<void> check_reduced(const Step& step) {
  if (step.operation.regions.empty()) return {};
  HILO_TRY(const Block* block, step.converter.only_block(step.operation.regions.back()));
  const size_t taken = block->arguments.size();
  for (size_t i = 0; i < step.result_count() && taken > 0; ++i) {
    const size_t argument = taken > 2 ? std::min(i, taken - 1) : 0;
    const Side from = side(step, "the region's argument", block->arguments[argument]);
    const Side to = result(step, i);
    if (!same_type(from, to)) return unlike(step, from, to, "the same element type");
  }
  return {};
}

// dot_general: C15, C16; convolution: C29, C30
Result<void> check_product_axes(const Step& step, const Side& right, const Side& to) {
  const std::string_view kernel = "kernel_output_feature_dimension";
  if (step.find(kernel)) {
    HILO_TRY(const int64_t features, step.integer(kernel));
    if (right.quantised->axis && *right.quantised->axis != features)
      return step.misfit("{}: expected scales along {} {}", described(step.program(), right),
                         kernel, features);
    HILO_TRY(const int64_t given, step.integer("output_feature_dimension"));
    if (to.quantised && to.quantised->axis && *to.quantised->axis != given)
      return step.misfit("{}: expected scales along output_feature_dimension {}",
                         described(step.program(), to), given);
    return {};
  }
  if (std::ranges::count(right.quantised->zero_points, 0) !=
      std::ssize(right.quantised->zero_points))
    return step.misfit("{}: expected zero points that are 0", described(step.program(), right));
  HILO_TRY(const Dims contracted, step.dims("rhs_contracting_dimensions", {}));
  if (right.quantised->axis && std::ranges::count(contracted, *right.quantised->axis) > 0)
    return step.misfit("{}: expected scales along a dimension that is not contracted",
                       described(step.program(), right));
  return {};
}

// dot_general: C14 to C20, convolution: C28 to C34
Result<void> check_product(const Step& step) {
  const Side left = operand(step, 0), right = operand(step, 1), to = result(step, 0);
  if (!right.quantised || !left.quantised != !to.quantised)
    return step.misfit(
        "{}, {}, {}: expected the right operand quantised, and the left as the "
        "result",
        described(step.program(), left), described(step.program(), right),
        described(step.program(), to));
  if (left.quantised && left.quantised->axis)
    return step.misfit("{}: expected one scale for all elements", described(step.program(), left));
  HILO_DO(check_product_axes(step, right, to));
  if (!left.quantised) {
    for (const Side& one : {left, to})
      if (element_of(step.program(), one) != right.quantised->expressed)
        return unlike(step, one, right, "what the right operand expresses");
    return {};
  }
  if (!same_storage(left, right)) return unlike(step, left, right, "the same storage type");
  for (const Side& one : {left, to})
    if (!same_expressed(one, right)) return unlike(step, one, right, "the same expressed type");
  if (to.quantised->axis && !right.quantised->axis)
    return unlike(step, right, to, "one scale for the result as for the right operand");
  return {};
}

}  // namespace

Result<void> check_quantisation(const Quantization& type) {
  if (!is_integral(type.storage) || !is_floating(type.expressed))
    return fail(ErrorKind::Shape, "a quantised type of {} stored as {}", text_of(type.expressed),
                text_of(type.storage));
  HILO_DO(check_limits(type));
  if (type.scales.empty() || type.scales.size() != type.zero_points.size() ||
      (!type.axis && type.scales.size() != 1))
    return fail(ErrorKind::Shape, "a quantised type of {} scales and {} zero points",
                type.scales.size(), type.zero_points.size());
  for (double scale : type.scales)
    if (!is_scale_of(type.expressed, scale))
      return fail(ErrorKind::Shape, "the scale {} of a quantised type is no positive {}", scale,
                  text_of(type.expressed));
  for (int64_t zero : type.zero_points)
    if (zero < type.min || zero > type.max)
      return fail(ErrorKind::Shape, "the zero point {} of a quantised type is not in [{}, {}]",
                  zero, type.min, type.max);
  return {};
}

Result<void> check_quantisation(const Quantization& type, const Dims& dims) {
  if (!type.axis) return {};
  if (*type.axis < 0 || *type.axis >= std::ssize(dims))
    return fail(ErrorKind::Shape, "the quantised dimension {} is not in [0, {})", *type.axis,
                dims.size());
  if (differ(dims[*type.axis], std::ssize(type.scales)))
    return fail(ErrorKind::Shape, "{} scales along a dimension of {} elements", type.scales.size(),
                dims[*type.axis]);
  return {};
}

Result<void> check_quantised(const Step& step) {
  const auto is_quantised = [&](ValueId value) {
    return quantization_of(step.program(), step.program()[value].type) != nullptr;
  };
  if (step.row.quantised == Quantised::Stored ||
      (std::ranges::none_of(step.operation.operands, is_quantised) &&
       std::ranges::none_of(step.operation.results, is_quantised)))
    return {};
  for (const Side& one : numbers_of(step)) {
    if (one.quantised && step.row.quantised == Quantised::None)
      return step.misfit("{}: expected no quantised values", described(step.program(), one));
    if (one.quantised && one.quantised->axis && !step.row.takes_axes())
      return step.misfit("{}: expected one scale for all elements", described(step.program(), one));
  }
  switch (step.row.quantised) {
    case Quantised::Alike:
      return check_all(step, same_limits, "element types that differ in scales alone");
    case Quantised::Sum: return check_sum(step);
    case Quantised::Equal: return check_all(step, same_type, "the same element type");
    case Quantised::Moved: return check_moved(step);
    case Quantised::Pairs:
    case Quantised::StoredPairs: return check_pairs(step);
    case Quantised::Reduced: return check_reduced(step);
    case Quantised::Product: return check_product(step);
    case Quantised::None:
    case Quantised::Free:
    case Quantised::Any:
    case Quantised::Stored: break;
  }
  return {};
}

}  // namespace hilo::mlir
