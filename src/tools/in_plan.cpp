#include "tools/in_plan.h"

#include "pass/pass.h"
#include "report/report.h"

namespace hilo::tools {

Result<std::shared_ptr<const Plan>> plan_to_run(Module& module, const std::string& target) {
  const Machine* machine = target.empty() ? assume_machine(module).machine : find_machine(target);
  if (!machine) return fail(ErrorKind::Usage, "--target: no chip is called '{}'", target);
  if (!module.header.is_scheduled) HILO_DO(insert_copies(module, {.machine = machine}));
  HILO_TRY(Plan made, plan(module, *machine));
  const std::vector<Error> errors = check_plan(module, *machine, made);
  if (!errors.empty()) return std::unexpected(errors.front());
  // The evaluator walks the order of the file.
  for (size_t c = 0; c < made.schedule.orders.size(); ++c)
    if (!made.schedule.orders[c].empty())
      module.computations[c].instructions = made.schedule.orders[c];
  module.header.is_scheduled = true;
  return std::make_shared<const Plan>(std::move(made));
}

}  // namespace hilo::tools
