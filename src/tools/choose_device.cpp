#include "tools/choose_device.h"

#include "target/target.h"

namespace hilo::tools {

std::string_view option_of_evaluator(const RunOptions& options) {
  const std::pair<std::string_view, bool> given[] = {
      {"--float=f64", options.float_type == "f64"},
      {"--matmul-precision", options.matmul_precision != "f32"},
      {"--max-steps", options.max_steps > 0},
      {"--print-values", !options.observe.print_values.empty()},
      {"--check-numerics", options.observe.check_numerics},
      {"--in-plan", options.in_plan}};
  for (const auto& [name, is_given] : given)
    if (is_given) return name;
  return {};
}

Result<RunDevice> choose_device(std::string_view named, std::string_view only_eval) {
  if (named == "eval" || named == "reference" || (named.empty() && !only_eval.empty()))
    return RunDevice::Eval;
  if (!only_eval.empty()) return fail(ErrorKind::Usage, "{} needs --device=eval", only_eval);
  return RunDevice::Cpu;
}

bool is_here(RunDevice device, std::string_view named, Session& session) {
  if (device == RunDevice::Eval || !named.empty()) return true;
  const auto opened = cpu_target().open();
  if (!opened) warn(session, opened.error().message + "; the module is evaluated instead");
  return opened.has_value();
}

}  // namespace hilo::tools
