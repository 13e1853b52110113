#include "tools/explain_commands.h"

#include "compile/compile.h"
#include "tools/roofline.h"

namespace hilo::tools {
namespace {

// A machine with rates as measured here where its record has none; without them where nothing can
// be compiled to measure.
struct RatedMachine {
  explicit RatedMachine(const Machine& known) : machine(known), memory(memory_space(known, 0)) {
    if (machine.flops_f32 > 0 && memory.bytes_per_second > 0) return;
    const Result<Roofline> measured = measure_roofline(0);
    if (!measured) return;
    machine.flops_f32 = measured->flops_per_second;
    memory.bytes_per_second = measured->bytes_per_second;
    machine.spaces = {&memory, 1};
  }
  RatedMachine(const RatedMachine&) = delete;

  Machine machine;
  MemorySpace memory;
};

}  // namespace

Result<std::string> commands_of_program(const Module& module, bool json, const ReportStyle& style) {
  const Target& target = cpu_target();
  CompileOptions options;
  options.is_verified = true;
  HILO_TRY(const PlannedProgram program, plan_program(module, target, options));
  const RatedMachine rated(*target.machine());
  return json ? commands_json(program.module, program.plan, rated.machine) + "\n"
              : commands_report(program.module, program.plan, rated.machine, style);
}

}  // namespace hilo::tools
