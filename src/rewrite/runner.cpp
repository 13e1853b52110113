#include <algorithm>
#include <chrono>

#include "rewrite/order.h"
#include "rewrite/runner.h"
#include "verify/verify.h"

namespace hilo {

bool PassOptions::is_supplied(std::string_view target) const {
  return std::ranges::find(supplied_calls, target) != supplied_calls.end();
}
namespace {

class Runner {
 public:
  Runner(Module& module, const PipelineOptions& options) : module_(module), options_(options) {
    pass_options_ = options.pass;
    pass_options_.rewrite.fired = [this, told = options.pass.rewrite.fired](std::string_view rule) {
      ++report.fired[rule];
      if (told) told(rule);
    };
  }

  // Whether any step changed the module.
  Result<bool> run(const Pipeline& steps, int depth = 0) {
    bool changed = false;
    for (const PipelineStep& step : steps) {
      if (is_stopped()) break;
      HILO_TRY(const bool now,
               step.pass ? run(*step.pass, depth > 0) : repeat(step.repeated, depth));
      changed = changed || now;
    }
    return changed;
  }

  PipelineReport report;

 private:
  bool is_stopped() const {
    return options_.stop_after && static_cast<int64_t>(report.runs.size()) >= *options_.stop_after;
  }

  Result<bool> repeat(const Pipeline& steps, int depth) {
    bool changed = false;
    for (int round = 0; round < options_.max_rounds; ++round) {
      HILO_TRY(const bool now, run(steps, depth + 1));
      if (!now) break;
      changed = true;
    }
    return changed;
  }

  Result<bool> run(const Pass& pass, bool repeated) {
    if (std::ranges::find(options_.disabled, pass.name) != options_.disabled.end()) return false;
    if (const auto idle = idle_at_.find(&pass);
        repeated && idle != idle_at_.end() && idle->second == version_)
      return false;
    const auto start = std::chrono::steady_clock::now();
    HILO_TRY(const bool changed, run_pass(module_, pass.run, pass_options_));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (changed) report.changed = true, ++version_;
    else idle_at_[&pass] = version_;
    report.runs.push_back({static_cast<int64_t>(report.runs.size()) + 1, pass.name, took.count(),
                           changed, module_.instructions.size()});
    if (options_.verify && changed) HILO_DO(verify_after(pass));
    if (options_.observer) HILO_DO(options_.observer(report.runs.back(), module_));
    return changed;
  }

  Result<void> verify_after(const Pass& pass) {
    std::vector<Error> errors = hilo::verify(module_, {.max_errors = 1});
    if (errors.empty()) return {};
    errors[0].message =
        fmt::format("after pass {} (run {}): {}", pass.name, report.runs.size(), errors[0].message);
    return std::unexpected(std::move(errors[0]));
  }

  Module& module_;
  const PipelineOptions& options_;
  PassOptions pass_options_;
  int64_t version_ = 0;
  std::map<const Pass*, int64_t> idle_at_;  // the version that a pass could not change
};

}  // namespace

Result<bool> run_pass(Module& module, PassFunction pass, const PassOptions& options) {
  const uint32_t before = static_cast<uint32_t>(module.instructions.size());
  HILO_TRY(const bool changed, pass(module, options));
  if (changed || module.instructions.size() != before) restore_order(module, before);
  return changed;
}

Result<PipelineReport> run_pipeline(Module& module, const Pipeline& pipeline,
                                    const PipelineOptions& options) {
  Runner runner(module, options);
  HILO_DO(runner.run(pipeline));
  return std::move(runner.report);
}

}  // namespace hilo
