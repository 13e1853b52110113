#include "tools/operand_values.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <mutex>

namespace hilo::tools {
namespace {

class Capture {
 public:
  Capture(std::span<const InstructionId> wanted, size_t devices)
      : wanted_(wanted.begin(), wanted.end()), values_(devices), missing_(devices) {
    if (wanted_.empty()) missing_ = 0;
  }

  // From any device's thread. Kept values share their storage, which nobody writes over then.
  void see(const ValueEvent& event) {
    if (std::ranges::find(wanted_, event.instruction) == wanted_.end()) return;
    const std::lock_guard lock(mutex_);
    auto& values = values_[event.device];
    if (values.size() == distinct()) return;
    values[event.instruction] = *event.value;
    if (values.size() == distinct() && --missing_ == 0) stop.store(true);
  }
  bool is_complete() const { return missing_ == 0; }

  std::vector<std::vector<Literal>> take() {
    std::vector<std::vector<Literal>> out;
    for (auto& values : values_) {
      auto& row = out.emplace_back();
      for (InstructionId id : wanted_) row.push_back(values.at(id));
    }
    return out;
  }

  std::atomic<bool> stop = false;

 private:
  size_t distinct() const {
    std::vector<InstructionId> sorted = wanted_;
    std::ranges::sort(sorted);
    return static_cast<size_t>(std::ranges::unique(sorted).begin() - sorted.begin());
  }

  std::vector<InstructionId> wanted_;
  std::mutex mutex_;
  std::vector<std::map<InstructionId, Literal>> values_;  // by device
  size_t missing_;                                        // devices
};

}  // namespace

Result<std::vector<std::vector<Literal>>> values_in_run(const Module& module,
                                                        std::span<const InstructionId> wanted,
                                                        Inputs inputs, const EvalOptions& options) {
  Capture capture(wanted, inputs.devices.size());
  if (capture.is_complete()) return capture.take();
  EvalOptions eval = options;
  eval.interrupt = &capture.stop;
  eval.observer = [&](const ValueEvent& event) {
    if (options.interrupt && options.interrupt->load()) capture.stop.store(true);
    capture.see(event);
  };
  const auto ran = evaluate(module, std::move(inputs), eval);
  if (capture.is_complete()) return capture.take();
  if (!ran) return std::unexpected(ran.error());
  std::vector<std::string_view> names;
  for (InstructionId id : wanted) names.push_back(module[id].name);
  return fail(
      ErrorKind::Evaluation,
      "the run of {} did not come to {} by themselves: they may be in a branch that was not "
      "taken, or within a fusion",
      module.header.name, fmt::join(names, ", "));
}

Result<std::vector<std::vector<Literal>>> operand_values(const Module& module, InstructionId id,
                                                         Inputs inputs,
                                                         const EvalOptions& options) {
  const auto operands = module.operands(id);
  return values_in_run(module, std::vector<InstructionId>(operands.begin(), operands.end()),
                       std::move(inputs), options);
}

}  // namespace hilo::tools
