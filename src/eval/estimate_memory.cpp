// How much memory the largest moment of an evaluation takes, before anything runs.
#include <algorithm>

#include "eval/device_grid.h"
#include "eval/evaluation.h"

namespace hilo {
namespace {

class Estimate {
 public:
  Estimate(const Module& module, bool ideal) : module_(module), ideal_(ideal) {}

  // Bytes at the largest moment of a computation beyond its arguments. Callees come first.
  int64_t peak(ComputationId id) {
    const auto prepared = prepare(module_, id, ideal_, true);
    if (!prepared) return 0;
    const std::vector<int64_t> last = last_steps(*prepared);
    std::vector<std::vector<uint32_t>> dying(prepared->steps.size() + 1);
    for (uint32_t slot = 0; slot < prepared->slots; ++slot)
      if (last[slot] >= 0) dying[last[slot]].push_back(slot);
    std::vector<int64_t> bytes(prepared->slots, 0);
    int64_t alive = 0, most = 0;
    for (size_t s = 0; s < prepared->steps.size(); ++s) {
      const Step& step = prepared->steps[s];
      int64_t within = 0;
      if (__builtin_add_overflow(alive, inner(step), &within)) return peaks_[id.value] = INT64_MAX;
      most = std::max(most, within);
      if (!shares(step)) bytes[step.slot] = literal_bytes(*step.held);
      if (__builtin_add_overflow(alive, bytes[step.slot], &alive))
        return peaks_[id.value] = INT64_MAX;
      most = std::max(most, alive);
      for (uint32_t slot : dying[s]) alive -= bytes[slot];
    }
    return peaks_[id.value] = most;
  }

 private:
  bool shares(const Step& step) const {
    const Op op = module_[step.id].op;
    return step.parameter >= 0 || op == Op::Constant || has_trait(op, TraitTakesOver);
  }

  int64_t inner(const Step& step) const {
    int64_t most = 0;
    for (ComputationId callee : module_.called(module_[step.id]))
      if (const auto known = peaks_.find(callee.value); known != peaks_.end())
        most = std::max(most, known->second);
    return most;
  }

  // The step after which the storage of each slot is free: values that share it are used no more.
  std::vector<int64_t> last_steps(const PreparedComputation& prepared) const {
    const int64_t end = static_cast<int64_t>(prepared.steps.size());
    std::vector<int64_t> last(prepared.slots, -1);
    last[prepared.root] = end;
    for (int64_t s = end - 1; s >= 0; --s) {
      const Step& step = prepared.steps[s];
      last[step.slot] = std::max(last[step.slot], s);
      const int64_t until = shares(step) ? last[step.slot] : s;
      for (uint32_t i = 0; i < step.operand_count; ++i) {
        int64_t& operand = last[prepared.operands[step.first_operand + i].slot];
        operand = std::max(operand, until);
      }
    }
    return last;
  }

  const Module& module_;
  bool ideal_;
  std::unordered_map<uint32_t, int64_t> peaks_;
};

}  // namespace

int64_t estimate_memory(const Module& module, const EvalOptions& options) {
  if (!module.entry) return 0;
  Estimate estimate(module, options.ideal_floats);
  int64_t out = 0;
  for (ComputationId id : module.post_order()) out = estimate.peak(id);
  bool too_much = false;
  for (InstructionId parameter : module[module.entry].parameters)
    too_much |= __builtin_add_overflow(
        out, literal_bytes(held_shape(module.shape(parameter), options.ideal_floats)), &out);
  const int64_t devices = running_grid(module, device_grid(module, options)).count();
  const int processes = options.processes.communicator ? options.processes.communicator->size() : 1;
  too_much |= __builtin_mul_overflow(out, (devices + processes - 1) / processes, &out);
  return too_much ? INT64_MAX : out;
}

}  // namespace hilo
