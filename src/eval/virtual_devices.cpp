// Single instructions on devices that live on.
#include <algorithm>

#include "eval/device_grid.h"
#include "eval/evaluation.h"

namespace hilo {
namespace {

// Other devices may read the operands when this one has gone on: of custom calls, at the edges of
// manual regions; a user's function has done when it returns. An all-reduce ends when everybody has
// read them.
bool may_show_operands(const Module& module, const Instruction& instruction,
                       const EvalOptions& options) {
  if (instruction.op == Op::CustomCall)
    return !options.custom_calls.contains(
        module.attributes<CustomCallAttributes>(instruction).custom_call_target);
  return has_trait(instruction.op, TraitEffect | TraitCollective) &&
         instruction.op != Op::AllReduce;
}

Literal copied(const Literal& value) {
  if (value.shape().is_tuple()) {
    std::vector<Literal> elements;
    for (const Literal& element : value.elements()) elements.push_back(copied(element));
    return Literal::tuple(std::move(elements), value.shared_shape());
  }
  Literal out = value;
  if (value.shape().is_array()) out.mutable_raw();
  return out;
}

}  // namespace

Partitioning find_partitioning(const Module& module, const EvalOptions& options) {
  if (options.partitioning != Partitioning::Detect) return options.partitioning;
  return is_partitioned(module) ? Partitioning::Partitioned : Partitioning::Unpartitioned;
}

struct VirtualDevices::State {
  const Module& module;
  Rendezvous rendezvous;
  Evaluation evaluation;
  std::vector<Device> devices;

  State(const Module& module, const EvalOptions& options, DeviceGrid given)
      : module(module),
        rendezvous(module, running_grid(module, given), options),
        evaluation(module, options),
        devices(make_devices(evaluation, rendezvous, options, given)) {}
};

VirtualDevices::VirtualDevices(const Module& module, const EvalOptions& options)
    : state_(std::make_unique<State>(module, options, device_grid(module, options))) {}
VirtualDevices::~VirtualDevices() = default;

int64_t VirtualDevices::count() const { return std::ssize(state_->devices); }
int64_t VirtualDevices::program(int64_t device) const { return state_->devices[device].program; }
bool VirtualDevices::is_first(int64_t device) const { return state_->devices[device].is_first; }

Result<Literal> VirtualDevices::evaluate(int64_t device, InstructionId id,
                                         std::vector<Literal> operands,
                                         std::span<const Bytes> into) {
  Device& on = state_->devices[device];
  HILO_DO(state_->evaluation.may_go_on(on));
  const Instruction& instruction = state_->module[id];
  if (may_show_operands(state_->module, instruction, state_->evaluation.options()))
    std::ranges::transform(operands, operands.begin(), copied);
  Call call{on, state_->module, id, instruction, operands};
  call.into = into;
  const FlushSubnormals flush;
  Result<Literal> out = within_memory([&] { return op_function(instruction.op)(call); });
  if (!out && out.error().place.instruction.empty()) out.error().place = state_->module.place(id);
  if (out) HILO_DO(state_->evaluation.may_go_on(on));
  return out;
}

void VirtualDevices::finish(int64_t device) {
  state_->rendezvous.finish(state_->devices[device].id);
}
void VirtualDevices::stop(const Error& error) { state_->rendezvous.stop(error); }
std::optional<Error> VirtualDevices::error() const { return state_->rendezvous.error(); }

}  // namespace hilo
