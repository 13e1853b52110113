#include "eval/operand_view.h"

#include <algorithm>

namespace hilo {
namespace {

using ViewOf = View (*)(const Module&, const Instruction&, const Shape& operand);

View view_of_broadcast(const Module& module, const Instruction& instruction, const Shape& operand) {
  const Dims& dimensions = module.attributes<DimensionsAttributes>(instruction).dimensions;
  const Dims strides = row_major_strides(operand.dims);
  View view{module.shape(instruction).dims, Dims(module.shape(instruction).dims.size(), 0), 0};
  for (size_t d = 0; d < dimensions.size() && d < strides.size(); ++d)
    if (operand.dims[d] != 1) view.strides.at(dimensions[d]) = strides[d];
  return view;
}

View view_of_transpose(const Module& module, const Instruction& instruction, const Shape& operand) {
  const Dims& dimensions = module.attributes<DimensionsAttributes>(instruction).dimensions;
  const Dims strides = row_major_strides(operand.dims);
  View view{module.shape(instruction).dims, {}, 0};
  for (int64_t d : dimensions) view.strides.push_back(strides.at(d));
  return view;
}

View view_of_slice(const Module& module, const Instruction& instruction, const Shape& operand) {
  const std::vector<SliceDim>& slice = module.attributes<SliceAttributes>(instruction).slice.dims;
  View view = View::of(operand.dims);
  view.dims = module.shape(instruction).dims;
  for (size_t d = 0; d < slice.size() && d < view.dims.size(); ++d) {
    view.base += slice[d].start * view.strides[d];
    view.strides[d] *= slice[d].stride;
  }
  return view;
}

View view_of_reverse(const Module& module, const Instruction& instruction, const Shape& operand) {
  View view = View::of(operand.dims);
  for (int64_t d : module.attributes<DimensionsAttributes>(instruction).dimensions) {
    view.base += view.strides.at(d) * (view.dims[d] - 1);
    view.strides[d] = -view.strides[d];
  }
  return view;
}

struct ViewOp {
  Op op;
  ViewOf view;
};
constexpr ViewOp view_ops[] = {{Op::Broadcast, view_of_broadcast},
                               {Op::Transpose, view_of_transpose},
                               {Op::Slice, view_of_slice},
                               {Op::Reverse, view_of_reverse}};

ViewOf find_view(Op op) {
  for (const ViewOp& entry : view_ops)
    if (entry.op == op) return entry.view;
  return nullptr;
}

const Shape& operand_shape(const Module& module, const Instruction& instruction) {
  return module.shape(module.operands(instruction)[0]);
}

// Whether the attributes name dimensions that are there; what does not fit is left to the op.
bool names_dimensions(const Module& module, const Instruction& instruction, const Shape& operand) {
  const Dims& result = module.shape(instruction).dims;
  if (instruction.op == Op::Slice)
    return module.attributes<SliceAttributes>(instruction).slice.dims.size() == result.size() &&
           operand.dims.size() == result.size();
  const Dims& dimensions = module.attributes<DimensionsAttributes>(instruction).dimensions;
  const size_t rank = instruction.op == Op::Broadcast ? result.size() : operand.dims.size();
  const bool all = instruction.op == Op::Reverse || dimensions.size() == operand.dims.size();
  return all && std::all_of(dimensions.begin(), dimensions.end(),
                            [&](int64_t d) { return d >= 0 && d < static_cast<int64_t>(rank); });
}

}  // namespace

bool is_fixed_array(const Shape& shape) { return shape.is_array() && !shape.has_dynamic_dims(); }

bool is_view(const Module& module, const Instruction& instruction) {
  if (!find_view(instruction.op)) return false;
  const Shape& operand = operand_shape(module, instruction);
  return is_fixed_array(operand) && names_dimensions(module, instruction, operand);
}

View view_of_operand(const Module& module, const Instruction& instruction) {
  return find_view(instruction.op)(module, instruction, operand_shape(module, instruction));
}

}  // namespace hilo
