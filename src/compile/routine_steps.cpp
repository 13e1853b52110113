#include "compile/routine_steps.h"

namespace hilo {
namespace {

void add_slots(const Shape& shape, std::span<const Address> addresses,
               std::vector<ArraySlot>& out) {
  size_t leaf = 0;
  for_each_leaf(shape, [&](const Shape& one, std::span<const int64_t>) {
    const Address& at = addresses[leaf++];
    out.push_back({at.allocation, at.offset, one.is_array() ? literal_bytes(one) : 0});
  });
}

// What find_routine() asks of where arrays lie.
bool suits_routine(const Module& module, const LibraryStep& step) {
  std::vector<ArraySlot> read, written;
  const auto operands = module.operands(step.instruction);
  for (size_t i = 0; i < operands.size(); ++i)
    add_slots(module.shape(operands[i]), step.operands[i], read);
  add_slots(module.shape(step.instruction), step.results, written);
  return suits_routine(module, step.instruction, read, written);
}

}  // namespace

std::vector<RoutineStep> find_routines(const Module& module, std::span<const LibraryStep> steps,
                                       const EvalOptions& options) {
  std::vector<RoutineStep> out;
  for (const LibraryStep& step : steps) {
    RoutineStep& one = out.emplace_back();
    if (suits_routine(module, step)) one.routine = find_routine(module, step.instruction, options);
    if (!one.routine) continue;
    for (const std::vector<Address>& leaves : step.operands)
      one.operands.insert(one.operands.end(), leaves.begin(), leaves.end());
    one.results = step.results;
  }
  return out;
}

RoutineStep::Pointers RoutineStep::pointers(const DeviceMemory& memory) const {
  Pointers out;
  const auto pointer = [&](const Address& address) {
    return memory.pointers[address.allocation] + address.offset;
  };
  for (const Address& address : operands) out.from.push_back(pointer(address));
  for (const Address& address : results) out.to.push_back(pointer(address));
  return out;
}

void RoutineStep::run(const DeviceMemory& memory, const Parallel& parallel) const {
  const auto [from, to] = pointers(memory);
  routine(from, to, parallel);
}

bool RoutineStep::run_in_parts(const DeviceMemory& memory, const Parallel& parallel, int64_t width,
                               const TakePart& take) const {
  if (!routine || !routine.run_in_parts) return false;
  const auto [from, to] = pointers(memory);
  return routine.run_in_parts(from, to, parallel, width, take);
}

}  // namespace hilo
