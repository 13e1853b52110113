#include "pass/collective/product_roles.h"

#include <algorithm>

namespace hilo {

std::optional<Role> role_of(const Module& module, InstructionId dot, size_t side, size_t dim) {
  const auto& a = module.attributes<DotAttributes>(dot);
  const Dims& batch = side == 0 ? a.lhs_batch_dims : a.rhs_batch_dims;
  const Dims& summed = side == 0 ? a.lhs_contracting_dims : a.rhs_contracting_dims;
  const Dims& other = side == 0 ? a.rhs_contracting_dims : a.lhs_contracting_dims;
  const auto number = static_cast<int64_t>(dim);
  if (std::ranges::count(batch, number)) return std::nullopt;
  if (const auto at = std::ranges::find(summed, number); at != summed.end())
    return Role{true, static_cast<size_t>(other[static_cast<size_t>(at - summed.begin())]), 0};
  size_t result = batch.size();
  if (side == 1)
    result += module.shape(module.operand(dot, 0)).dims.size() - a.lhs_batch_dims.size() -
              a.lhs_contracting_dims.size();
  for (int64_t before = 0; before < number; ++before)
    result += !std::ranges::count(batch, before) && !std::ranges::count(summed, before);
  return Role{false, 0, result};
}

bool is_plain_dot(const Module& module, InstructionId dot) {
  return module.attributes<DotAttributes>(dot).sparsity.text.empty() &&
         !module.extra(module[dot]).sharding && is_static(module.shape(dot));
}

InstructionId product_of(Editor& editor, InstructionId dot, size_t side, InstructionId operand,
                         const Shape& shape, InstructionId other) {
  const Module& module = editor.module();
  InstructionId operands[] = {operand, other ? other : module.operand(dot, 1 - side)};
  if (side == 1) std::swap(operands[0], operands[1]);
  const InstructionId out = editor.clone(dot, module[dot].computation, operands);
  editor.set_shape(out, shape);
  return out;
}

std::vector<double> slack_of(const Module& module, std::span<const InstructionId> order,
                             const StepTimes& times) {
  const auto seconds = [&](InstructionId id) {
    return times.communication(id) + times.computation(id);
  };
  std::vector<double> earliest(module.instructions.size()), latest(earliest.size());
  double end = 0;
  for (InstructionId id : order) {
    for (InstructionId operand : module.operands(id))
      earliest[id.value] = std::max(earliest[id.value], earliest[operand.value]);
    earliest[id.value] += seconds(id);
    end = std::max(end, earliest[id.value]);
  }
  for (InstructionId id : order) latest[id.value] = end;
  std::vector<double> out(earliest.size());
  for (size_t i = order.size(); i-- > 0;) {
    const InstructionId id = order[i];
    out[id.value] = latest[id.value] - earliest[id.value];
    for (InstructionId operand : module.operands(id))
      latest[operand.value] = std::min(latest[operand.value], latest[id.value] - seconds(id));
  }
  return out;
}

}  // namespace hilo
