#include "tools/progress.h"

#include <unistd.h>

#include <atomic>

#include "emit/emit.h"

namespace hilo::tools {

std::function<void(int64_t, int64_t)> instruction_progress() {
  if (!isatty(STDERR_FILENO)) return {};
  auto last = std::make_shared<std::atomic<int64_t>>(-1);
  return [last](int64_t done, int64_t total) {
    const int64_t percent = total > 0 ? 100 * done / total : 100;
    if (last->exchange(percent) != percent)
      fmt::print(stderr, "\r{:3}% {}/{} instructions{}", percent, done, total,
                 done == total ? "\r\033[K" : "");
  };
}

WorkProgress::WorkProgress(const Module& module) {
  const std::vector<Cost> costs = count_cost(module);
  for (uint32_t i = 0; i < costs.size(); ++i) {
    work_.push_back(estimate(work_of(costs[i]), host_machine()).seconds);
    if (!module[InstructionId{i}].removed && is_large(module, {i}))
      total_ += work_.back() * costs[i].runs;
  }
}

WorkProgress::~WorkProgress() {
  if (percent_ >= 0) fmt::print(stderr, "\r\033[K");
}

void WorkProgress::add(InstructionId step) {
  done_ += work_[step.value];
  // Loops may run more often than was known.
  const int percent = total_ > 0 ? static_cast<int>(std::min(99.0, 100 * done_ / total_)) : 0;
  if (percent == percent_) return;
  percent_ = percent;
  fmt::print(stderr, "\r{:3}% of the work", percent);
}

std::optional<WorkProgress> work_progress(const Module& module) {
  std::optional<WorkProgress> out;
  if (isatty(STDERR_FILENO)) out.emplace(module);
  return out;
}

}  // namespace hilo::tools
