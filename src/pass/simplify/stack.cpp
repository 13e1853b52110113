// Reductions of a few arrays that are put beside each other for nothing else, or for elementwise
// ops on all of them, and of one element.
//   reduce(concatenate(a, b, c)) over the concatenated dimension => (a op b) op c
//   reduce(f(concatenate(a, b), x)) over the concatenated dimension => f(a, x[0]) op f(b, x[1])
//   reduce(f32[9,1], init), dimensions={1} => init op reshape(f32[9])
#include <algorithm>

#include "pass/expand/map.h"
#include "pass/simplify/simplify.h"

namespace hilo {
namespace {

using namespace rule_types;
using enum Keeps;

constexpr int64_t max_stacked = 32;       // arrays
constexpr size_t max_instructions = 256;  // that are made

// A concatenation of arrays of one element along `dim`.
bool is_stack(const Module& module, InstructionId id, int64_t dim) {
  if (module[id].op != Op::Concatenate ||
      module.attributes<DimensionsAttributes>(id).dimensions[0] != dim)
    return false;
  return std::ranges::all_of(module.operands(id), [&](InstructionId part) {
    const Shape& shape = module.shape(part);
    return shape.dims[static_cast<size_t>(dim)] == 1 && is_static(shape) && is_plain(shape);
  });
}

int64_t dim_behind(const Module& module, InstructionId transpose, int64_t dim) {
  return module.attributes<DimensionsAttributes>(transpose).dimensions[static_cast<size_t>(dim)];
}

// What an array is made of, up to what stands in memory or is made where it is read: taking that
// apart costs nothing.
struct Making {
  size_t ops = 0;
  bool has_stack = false;
};
bool is_stack_of_parts(const Editor& editor, InstructionId id, int64_t dim, Making& making) {
  const Module& module = editor.module();
  const Op op = module[id].op;
  const Shape& shape = module.shape(id);
  if (shape.is_scalar()) return true;
  if (!is_plain(shape) || !is_static(shape)) return false;
  if (op == Op::Broadcast) {
    const Shape& from = module.shape(module.operand(id, 0));
    return is_plain(from) && is_static(from);
  }
  if (info(op).operands == 0 || op == Op::GetTupleElement) return true;
  if (editor.use_count(id) != 1 || editor.is_pinned(id) || ++making.ops > max_instructions)
    return false;
  if (is_stack(module, id, dim)) return making.has_stack = true;
  if (op == Op::Transpose)
    return is_stack_of_parts(editor, module.operand(id, 0), dim_behind(module, id, dim), making);
  return is_elementwise(op) && std::ranges::all_of(module.operands(id), [&](InstructionId operand) {
           return is_stack_of_parts(editor, operand, dim, making);
         });
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
  Making making;
  for (InstructionId array : operands.first(count)) {
    if (!is_plain(module.shape(array)) || !is_static(module.shape(array))) return false;
    if (size > 1 &&
        (is_narrow_float(module, array) || !is_stack_of_parts(editor, array, dim, making)))
      return false;
  }
  // One that is not known to be associative keeps the order that reductions have.
  const bool is_free = count > 1 || monoid_of(module, body);
  const size_t most = module[body].instructions.size() + making.ops;
  return (making.has_stack || size == 1) && is_free && size <= max_stacked &&
         is_mappable(module, body) && static_cast<size_t>(size) * most <= max_instructions;
}

// Elements at one place of a dimension, which the parts do not have.
class PartMaker {
 public:
  PartMaker(Editor& editor, InstructionId like, int64_t at)
      : editor_(editor), module_(editor.module()), like_(like), at_(at) {}

  InstructionId part(InstructionId array, int64_t dim) {
    if (module_.shape(array).is_scalar()) return array;
    if (module_.shape(array).dims[static_cast<size_t>(dim)] == 1) return less_dim(array, dim);
    const Op op = module_[array].op;
    if (op == Op::Broadcast) return part_of_broadcast(array, dim);
    if (editor_.use_count(array) > 1) return slice(array, dim);
    if (is_stack(module_, array, dim))
      return less_dim(module_.operand(array, static_cast<size_t>(at_)), dim);
    if (op == Op::Transpose) return part_of_transpose(array, dim);
    return is_elementwise(op) ? part_of_elementwise(array, dim) : slice(array, dim);
  }

 private:
  Shape part_shape(InstructionId array, int64_t dim) const {
    Dims dims = module_.shape(array).dims;
    dims.erase(dims.begin() + dim);
    return Shape::array(module_.shape(array).type, dims);
  }
  // Of one element along the dimension.
  InstructionId less_dim(InstructionId array, int64_t dim) {
    const Shape shape = part_shape(array, dim);
    return editor_.add(like_, Op::Reshape, shape, std::array{array});
  }
  InstructionId slice(InstructionId array, int64_t dim) {
    SliceAttributes slice;
    for (int64_t size : module_.shape(array).dims) slice.slice.dims.push_back({0, size, 1});
    slice.slice.dims[static_cast<size_t>(dim)] = {at_, at_ + 1, 1};
    return less_dim(editor_.add_inferred(like_, Op::Slice, std::array{array}, std::move(slice)),
                    dim);
  }
  // Places of dimensions when one of them is taken out.
  static Dims without(Dims dims, int64_t dim) {
    std::erase(dims, dim);
    for (int64_t& d : dims) d -= d > dim;
    return dims;
  }
  InstructionId part_of_broadcast(InstructionId array, int64_t dim) {
    InstructionId from = module_.operand(array, 0);
    const Dims dims = module_.attributes<DimensionsAttributes>(array).dimensions;
    const auto along = std::ranges::find(dims, dim);
    if (along != dims.end()) from = slice(from, along - dims.begin());
    const Shape shape = part_shape(array, dim);
    return editor_.add(like_, Op::Broadcast, shape, std::array{from},
                       DimensionsAttributes{without(dims, dim)});
  }
  InstructionId part_of_transpose(InstructionId array, int64_t dim) {
    const int64_t behind = dim_behind(module_, array, dim);
    const Dims order = without(module_.attributes<DimensionsAttributes>(array).dimensions, behind);
    const InstructionId from = part(module_.operand(array, 0), behind);
    if (std::ranges::is_sorted(order)) return from;
    const Shape shape = part_shape(array, dim);
    return editor_.add(like_, Op::Transpose, shape, std::array{from}, DimensionsAttributes{order});
  }
  InstructionId part_of_elementwise(InstructionId array, int64_t dim) {
    const auto given = module_.operands(array);
    std::vector<InstructionId> operands(given.begin(), given.end());
    for (InstructionId& operand : operands) operand = part(operand, dim);
    const InstructionId out = editor_.clone(array, module_[array].computation, operands);
    editor_.set_shape(out, part_shape(array, dim));
    if (module_[out].extra) module_.mutable_extra(out).sharding = nullptr;
    return out;
  }

  Editor& editor_;
  Module& module_;
  const InstructionId like_;
  const int64_t at_;
};

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
      values.push_back(PartMaker(editor, root, at).part(operands[i], dim));
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
