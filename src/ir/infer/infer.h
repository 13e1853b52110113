// What shape inference shares between ops. Private to `ir`.
//
// Every structural op has one function `Result<Shape> infer_Gather(const Given&)`, found through
// ops.def; all elementwise ops share infer_elementwise. The dispatcher has checked the number of
// operands and that each has a shape. Rules: XLA's operation semantics. No rule knows of mixed
// widths of floats: operands are seen in the widest type of theirs (float_widths.cpp), and the
// widths of the result are free. What is Exact sees the types as they are.
#pragma once

#include "ir/ir.h"

namespace hilo {

struct Given {
  const Module& module;
  const Instruction& instruction;
  std::vector<Shape> widened = {};  // the operands, where they are seen in other types

  size_t count() const { return instruction.operand_count; }
  const Shape& operand(size_t i) const {
    return widened.empty() ? module.shape(module.operands(instruction)[i]) : widened[i];
  }
  // The shape that the instruction states, or null.
  const Shape* stated() const { return instruction.shape ? &module.shape(instruction) : nullptr; }
  template <class A>
  const A& attributes() const {
    return module.attributes<A>(instruction);
  }
};

Result<Shape> infer_elementwise(const Given& given);
#define HILO_DECLARE_Elementwise(name)
#define HILO_DECLARE_Structural(name) Result<Shape> infer_##name(const Given& given);
#define OP(name, text, operands, attributes, op_class, types, ...) HILO_DECLARE_##op_class(name)
#include "ir/ops.def"
#undef OP
#undef HILO_DECLARE_Elementwise
#undef HILO_DECLARE_Structural

// An error of kind Shape.
template <class... Args>
std::unexpected<Error> misfit(fmt::format_string<Args...> text, Args&&... args) {
  return fail(ErrorKind::Shape, text, std::forward<Args>(args)...);
}
std::string braced(std::span<const int64_t> dims);  // "{0,2}"
std::string text(const Shape& shape);               // without layout

// An array of the descending layout; `dynamic` may be empty, or all false.
Shape make_array(ElementType type, Dims dims, std::vector<bool> dynamic = {});
void set_dynamic(Shape& shape, size_t dim, bool dynamic);
Shape drop_dims(const Shape& shape, std::span<const int64_t> dims);  // in the descending layout
bool contains(std::span<const int64_t> dims, int64_t dim);

// The stated shape, for ops whose shape is free.
Result<Shape> need_stated(const Given& given);
Result<void> need_array(const Given& given, size_t operand);
Result<void> need_arrays(const Given& given);
Result<void> need_integral_scalar(const Given& given, size_t operand);
Result<void> need_count_at_least(const Given& given, size_t count);
// Every dimension number is in [0, rank) and stands once.
Result<void> need_distinct(std::string_view attribute, std::span<const int64_t> dims, int64_t rank);
Result<void> need_ascending(std::string_view attribute, std::span<const int64_t> dims);
Result<void> need_in_range(std::string_view attribute, int64_t value, int64_t begin, int64_t end);
// The shape of a called computation's root.
Result<Shape> result_of(const Given& given, ComputationId called, std::string_view attribute);

// The type that holds both floats: the wider one, or f32 for two formats of one width; else the
// first.
ElementType wider(ElementType a, ElementType b);
// The op's number of operands, each with a shape.
Result<void> need_sound_operands(const Given& given);
// The element type of a product of `inferred` elements: the stated one where it can hold them, for
// products may add in another type than that of their operands.
Result<ElementType> product_type(const Given& given, ElementType inferred);
// From here on floating operands that go together are seen in the widest type of theirs.
void see_in_widest(Given& given);
// The shape by the op's own rule, of what is seen.
Result<Shape> infer_seen(const Given& given);

// The window at one dimension: how many places it takes over `size` elements; bounds of size,
// stride and dilations are checked. `negative` padding is legal.
Result<int64_t> window_output_size(const WindowDim& window, int64_t size);
// The array that a window leaves of `input`, all dimensions windowed.
Result<Shape> windowed(const Shape& input, const Window& window, ElementType type);

}  // namespace hilo
