#include "ir/infer/infer.h"

#include <algorithm>

namespace hilo {
namespace {

using InferFunction = Result<Shape> (*)(const Given&);

#define HILO_ROW_Elementwise(name) infer_elementwise,
#define HILO_ROW_Structural(name) infer_##name,
constexpr InferFunction functions[] = {
#define OP(name, text, operands, attributes, op_class, types, ...) HILO_ROW_##op_class(name)
#include "ir/ops.def"
#undef OP
};

bool has_unbounded(const Shape& shape) {
  if (contains(shape.dims, Shape::unbounded)) return true;
  return std::ranges::any_of(shape.elements, has_unbounded);
}

Result<void> need_countable(const Shape& shape) {
  for (const Shape& element : shape.elements) HILO_DO(need_countable(element));
  if (shape.dims.empty() || contains(shape.dims, Shape::unbounded)) return {};
  for (int64_t dim : shape.dims)
    if (dim < 0) return misfit("the result {} has a negative dimension", text(shape));
  if (element_count(shape) == INT64_MAX)
    return fail(ErrorKind::Limit, "the result {} has more than 2^63-2 elements", text(shape));
  return {};
}

}  // namespace

Result<void> need_sound_operands(const Given& given) {
  const int expected = info(given.instruction.op).operands;
  if (expected >= 0 && given.count() != static_cast<size_t>(expected))
    return misfit("expected {} operand{}, found {}", expected, expected == 1 ? "" : "s",
                  given.count());
  for (InstructionId id : given.module.operands(given.instruction))
    if (!id || !given.module[id].shape) return misfit("an operand has no shape");
  return {};
}

Result<Shape> infer_shape(const Module& module, const Instruction& instruction) {
  Given given{module, instruction};
  HILO_DO(need_sound_operands(given));
  see_in_widest(given);
  // Of a tuple only the element counts: many of one wide tuple must not look at all of it.
  const bool element = instruction.op == Op::GetTupleElement;
  // Sizes nobody knows: the stated shape is taken.
  if (!element && !is_elementwise(instruction.op) && instruction.shape)
    for (size_t i = 0; i < given.count(); ++i)
      if (has_unbounded(given.operand(i))) return *given.stated();
  HILO_TRY(Shape shape, infer_seen(given));
  if (element && has_unbounded(shape)) return shape;
  HILO_DO(need_countable(shape));
  return shape;
}

Result<Shape> infer_seen(const Given& given) {
  return functions[static_cast<size_t>(given.instruction.op)](given);
}

bool can_infer_shape(Op op) { return !has_trait(op, TraitStated); }

std::string braced(std::span<const int64_t> dims) {
  std::string out = "{";
  for (size_t i = 0; i < dims.size(); ++i) out += (i > 0 ? "," : "") + std::to_string(dims[i]);
  return out + "}";
}

std::string text(const Shape& shape) { return to_string_without_layout(shape); }

Shape make_array(ElementType type, Dims dims, std::vector<bool> dynamic) {
  Shape out = Shape::array(type, std::move(dims));
  if (std::ranges::find(dynamic, true) != dynamic.end()) out.dynamic = std::move(dynamic);
  return out;
}

void set_dynamic(Shape& shape, size_t dim, bool dynamic) {
  if (shape.dynamic.empty() && !dynamic) return;
  shape.dynamic.resize(shape.dims.size());
  shape.dynamic[dim] = dynamic;
  if (!shape.has_dynamic_dims()) shape.dynamic.clear();
}

Shape drop_dims(const Shape& shape, std::span<const int64_t> dims) {
  Dims kept;
  std::vector<bool> dynamic;
  for (int64_t i = 0; i < shape.rank(); ++i)
    if (!contains(dims, i)) {
      kept.push_back(shape.dims[i]);
      dynamic.push_back(shape.is_dynamic(i));
    }
  return make_array(shape.type, std::move(kept), std::move(dynamic));
}

bool contains(std::span<const int64_t> dims, int64_t dim) {
  return std::ranges::find(dims, dim) != dims.end();
}

Result<Shape> need_stated(const Given& given) {
  if (given.stated()) return *given.stated();
  return misfit("the result shape of {} cannot be inferred and must be given",
                text_of(given.instruction.op));
}

Result<void> need_array(const Given& given, size_t operand) {
  if (given.operand(operand).is_array()) return {};
  return misfit("expected an array as operand {}, found {}", operand, text(given.operand(operand)));
}

Result<void> need_arrays(const Given& given) {
  for (size_t i = 0; i < given.count(); ++i) HILO_DO(need_array(given, i));
  return {};
}

Result<void> need_integral_scalar(const Given& given, size_t operand) {
  const Shape& shape = given.operand(operand);
  if (shape.is_scalar() && is_integral(shape.type)) return {};
  return misfit("expected an integer scalar as operand {}, found {}", operand, text(shape));
}

Result<void> need_count_at_least(const Given& given, size_t count) {
  if (given.count() >= count) return {};
  return misfit("expected at least {} operand{}, found {}", count, count == 1 ? "" : "s",
                given.count());
}

Result<void> need_in_range(std::string_view attribute, int64_t value, int64_t begin, int64_t end) {
  if (value >= begin && value < end) return {};
  return misfit("{} {} is not in [{}, {})", attribute, value, begin, end);
}

Result<void> need_distinct(std::string_view attribute, std::span<const int64_t> dims,
                           int64_t rank) {
  for (size_t i = 0; i < dims.size(); ++i) {
    HILO_DO(need_in_range(attribute, dims[i], 0, rank));
    if (contains(dims.first(i), dims[i]))
      return misfit("{}={} names dimension {} twice", attribute, braced(dims), dims[i]);
  }
  return {};
}

Result<void> need_ascending(std::string_view attribute, std::span<const int64_t> dims) {
  if (std::ranges::is_sorted(dims)) return {};
  return misfit("expected ascending {}, found {}", attribute, braced(dims));
}

Result<Shape> result_of(const Given& given, ComputationId called, std::string_view attribute) {
  if (!called) return misfit("{} names no computation", attribute);
  const InstructionId root = given.module[called].root;
  if (!root || !given.module[root].shape)
    return misfit("{}={} has no root with a shape", attribute, given.module[called].name);
  return given.module.shape(root);
}

}  // namespace hilo
