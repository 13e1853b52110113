// Reductions of a few arrays that are put beside each other for nothing else, and of one element.
//   reduce(concatenate(a, b, c)) over the concatenated dimension => (a op b) op c
//   reduce(f32[9,1], init), dimensions={1} => init op reshape(f32[9])
#include <algorithm>

#include "pass/expand/map.h"
#include "pass/simplify/simplify.h"

namespace hilo {
namespace {

using namespace rule_types;
using enum Keeps;

constexpr int64_t most_stacked = 16;       // arrays
constexpr size_t most_instructions = 256;  // that are made

// A concatenation of arrays of one element along `dim`, which nobody else reads.
bool is_stack(const Editor& editor, InstructionId id, int64_t dim) {
  const Module& module = editor.module();
  if (module[id].op != Op::Concatenate || editor.use_count(id) != 1 ||
      module.attributes<DimensionsAttributes>(id).dimensions[0] != dim)
    return false;
  return std::ranges::all_of(module.operands(id), [&](InstructionId part) {
    const Shape& shape = module.shape(part);
    return shape.dims[static_cast<size_t>(dim)] == 1 && is_static(shape) && is_plain(shape);
  });
}

// Made where it is read, so that taking it apart costs nothing.
bool is_made_of_numbers(const Module& module, InstructionId id) {
  const Op op = module[id].op;
  return op == Op::Iota || (op == Op::Broadcast && module.shape(module.operand(id, 0)).is_scalar());
}

// Sums of these are kept in a wider type until they are rounded.
bool is_narrow_float(const Module& module, InstructionId id) {
  const ElementType type = module.shape(id).type;
  return is_floating(type) && bits_of(type) < 32;
}

bool may_unroll(const Editor& editor, InstructionId reduce, int64_t dim) {
  const Module& module = editor.module();
  const auto operands = module.operands(reduce);
  const size_t count = operands.size() / 2;
  const ComputationId body = module.attributes<ReduceAttributes>(reduce).to_apply;
  const int64_t size = module.shape(operands[0]).dims[static_cast<size_t>(dim)];
  bool is_of_stack = false;
  for (InstructionId array : operands.first(count)) {
    const bool stack = is_stack(editor, array, dim);
    if (!is_plain(module.shape(array)) || !is_static(module.shape(array))) return false;
    if (size > 1 &&
        (is_narrow_float(module, array) || (!stack && !is_made_of_numbers(module, array))))
      return false;
    is_of_stack = is_of_stack || stack || size == 1;
  }
  // One that is not known to be associative keeps the order that reductions have.
  const bool is_free = count > 1 || monoid_of(module, body);
  return is_of_stack && is_free && size <= most_stacked && is_mappable(module, body) &&
         static_cast<size_t>(size) * module[body].instructions.size() <= most_instructions;
}

// The elements at one place of the reduced dimension, as the result has them.
InstructionId part_at(Editor& editor, InstructionId like, InstructionId array, int64_t dim,
                      int64_t at, const Dims& dims) {
  const Module& module = editor.module();
  InstructionId part = array;
  if (module.shape(array).dims[static_cast<size_t>(dim)] == 1) {
    // Whatever it is made of.
  } else if (module[array].op == Op::Concatenate) {
    part = module.operand(array, static_cast<size_t>(at));
  } else {
    SliceAttributes slice;
    for (int64_t size : module.shape(array).dims) slice.slice.dims.push_back({0, size, 1});
    slice.slice.dims[static_cast<size_t>(dim)] = {at, at + 1, 1};
    part = editor.add_inferred(like, Op::Slice, std::array{array}, std::move(slice));
  }
  const Shape shape = Shape::array(module.shape(array).type, dims);
  return editor.add(like, Op::Reshape, shape, std::array{part});
}

InstructionId reduce_of_stack(Editor& editor, const Match& match) {
  const Module& module = editor.module();
  const InstructionId root = match.root();
  const ReduceAttributes attributes = match.attributes<ReduceAttributes>();
  if (attributes.dimensions.size() != 1 || !is_plain(match.shape()) ||
      !may_unroll(editor, root, attributes.dimensions[0]))
    return {};
  const int64_t dim = attributes.dimensions[0];
  const auto given = module.operands(root);
  const std::vector<InstructionId> operands(given.begin(), given.end());
  const size_t count = operands.size() / 2;
  Dims dims = module.shape(operands[0]).dims;
  const int64_t size = dims[static_cast<size_t>(dim)];
  dims.erase(dims.begin() + dim);
  std::vector<InstructionId> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(editor.add(root, Op::Broadcast,
                                Shape::array(module.shape(operands[i]).type, dims),
                                std::array{operands[count + i]}, DimensionsAttributes{}));
  for (int64_t at = 0; at < size; ++at) {
    for (size_t i = 0; i < count; ++i)
      values.push_back(part_at(editor, root, operands[i], dim, at, dims));
    values = map_arrays(editor, root, attributes.to_apply, values);
  }
  return count == 1 ? values[0] : editor.add_tuple(root, values);
}

constexpr RewriteRule rules[] = {
    {"reduce-of-stack", Any, Reals, "reduce(...)", reduce_of_stack},
};

}  // namespace

RuleTable stack_rules() { return rules; }

}  // namespace hilo
