// Custom calls that one device runs alone: in a branch that only that device takes. The others get
// the results from it.
#include "pass/shard/partition_single_device.h"

#include "pass/shard/dynamic_arrays.h"

namespace hilo {
namespace {

// The result of a branch over the tuple of operands.
struct Branch {
  ComputationId computation;
  InstructionId parameter;
};
Branch begin_branch(OpPartition& op, std::string_view name, InstructionId operands) {
  Module& module = op.module();
  const ComputationId computation = module.add_computation(name);
  const Shape shape = module.shape(operands);
  return {computation, op.editor().add_parameter(computation, operands, shape)};
}

ComputationId calling_branch(OpPartition& op, InstructionId operands) {
  const Branch branch = begin_branch(op, "run_alone", operands);
  std::vector<InstructionId> elements;
  for (int64_t i = 0; i < std::ssize(op.module().shape(operands).elements); ++i)
    elements.push_back(op.editor().add_element(branch.parameter, branch.parameter, i));
  const InstructionId call = op.editor().clone(op.id(), branch.computation, elements);
  op.module().mutable_extra(call).sharding = nullptr;
  op.module()[branch.computation].root = call;
  return branch.computation;
}

InstructionId nothing_of(Editor& editor, InstructionId like, const Shape& shape) {
  if (shape.is_token()) return editor.add(like, Op::AfterAll, shape, {});
  if (!shape.is_tuple()) return LocalCode(editor, like).zeros(shape.type, shape.dims);
  std::vector<InstructionId> elements;
  for (const Shape& element : shape.elements) elements.push_back(nothing_of(editor, like, element));
  return editor.add_tuple(like, elements);
}

ComputationId idle_branch(OpPartition& op, InstructionId operands) {
  const Branch branch = begin_branch(op, "run_elsewhere", operands);
  const Shape shape = op.shape();
  op.module()[branch.computation].root = nothing_of(op.editor(), branch.parameter, shape);
  return branch.computation;
}

}  // namespace

std::optional<int64_t> only_device(OpPartition& op) {
  const Sharding* sharding = op.module().extra(op.module()[op.id()]).sharding.get();
  if (sharding && sharding->kind == Sharding::Kind::Tuple && !sharding->elements.empty())
    sharding = &sharding->elements[0];
  if (sharding && sharding->kind == Sharding::Kind::Maximal) return sharding->device;
  const bool has_effect = op.attributes<CustomCallAttributes>().custom_call_has_side_effect;
  if (has_effect && op.manual().empty()) return 0;  // in a region each device has its own
  return std::nullopt;
}

Result<Shards> on_device(OpPartition& op, int64_t device) {
  const int64_t devices = op.partitioner().devices();
  if (device < 0 || device >= devices)
    return fail(ErrorKind::Structure, "expected a device below {}, found {}", devices, device);
  for (const GlobalShape& leaf : op.leaves())
    if (leaf->has_dynamic_dims())
      return fault_of_dynamic(leaf, fmt::format("{{maximal device={}}}", device));
  HILO_TRY(const std::vector<InstructionId> whole, op.whole_operands());
  LocalCode code = op.code();
  const InstructionId operands = op.editor().add_tuple(code.like(), whole);
  std::vector<bool> is_device(static_cast<size_t>(devices));
  is_device[static_cast<size_t>(device)] = true;
  const InstructionId is_here = code.is_listed(is_device);
  const ComputationId call = calling_branch(op, operands), idle = idle_branch(op, operands);
  const Shape shape = op.shape();
  const InstructionId result =
      op.editor().add(code.like(), Op::Conditional, shape, std::array{is_here, operands, operands},
                      ConditionalAttributes{call, idle, {}});
  std::vector<InstructionId> leaves = op.partitioner().split(result);
  for (InstructionId& leaf : leaves)
    if (op.module().shape(leaf).is_array())
      leaf = code.broadcast_from(device, leaf, devices, op.partitioner().next_channel());
  return op.whole_results(leaves);
}

}  // namespace hilo
