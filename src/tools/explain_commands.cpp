#include "tools/explain_commands.h"

#include "compile/compile.h"

namespace hilo::tools {

Result<std::string> commands_of_program(const Module& module, const Machine& machine, bool json,
                                        const ReportStyle& style) {
  CompileOptions options;
  options.is_verified = true;
  HILO_TRY(const PlannedProgram program, plan_program(module, cpu_target(), options));
  return json ? commands_json(program.module, program.plan, machine) + "\n"
              : commands_report(program.module, program.plan, machine, style);
}

}  // namespace hilo::tools
