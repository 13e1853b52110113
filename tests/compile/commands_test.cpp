// The commands that are decided before there is code are what is compiled then.
#include <algorithm>

#include "../base/environment.h"
#include "both.h"
#include "small_modules.h"
#include "wide_random_module.h"

namespace hilo::test {
namespace {

struct Decided {
  std::vector<std::string> evaluated;  // "name: reason", sorted
  int64_t routines = 0, kernels = 0;
};

// A product of slices is called as the product alone.
InstructionId called_step(const Module& module, InstructionId id) {
  const auto product = dot_of_slices(module, id);
  return product ? product->product : id;
}

Decided decided(const PlannedProgram& program) {
  Decided out;
  for (const auto& commands : program.plan.commands.orders)
    for (const Command& command : commands) {
      using enum CommandKind;
      if (command.kind == Kernel || command.kind == Copy) ++out.kernels;
      if (command.kind == Routine) ++out.routines;
      if (command.kind != Evaluated && command.kind != Collective) continue;
      const InstructionId step = called_step(program.module, command.instruction);
      out.evaluated.push_back(
          fmt::format("{}: {}", program.module[step].name, describe(program.module, command)));
    }
  std::ranges::sort(out.evaluated);
  return out;
}

Decided compiled(const Executable& executable) {
  Decided out;
  out.routines = executable.report().routines;
  out.kernels = executable.report().kernels;
  for (const EvaluatedStep& step : executable.report().evaluated)
    out.evaluated.push_back(
        fmt::format("{}: {}", executable.module()[step.instruction].name, step.reason));
  std::ranges::sort(out.evaluated);
  return out;
}

void expect_as_decided(const Module& module, const std::string& processor = "native") {
  CompileOptions options;
  options.threads = 1;
  options.emit.cpu = processor;
  const auto planned = plan_program(module, cpu_target(), options);
  const auto executable = compile(module, cpu_target(), options);
  ASSERT_TRUE(planned || !executable) << to_string(planned.error()) << print(module);
  if (!executable) return;  // a custom call that nobody knows
  const Decided before = decided(*planned), after = compiled(*executable);
  EXPECT_EQ(before.evaluated, after.evaluated) << print(planned->module);
  EXPECT_EQ(before.routines, after.routines) << print(planned->module);
  // Equal steps share kernels, scalars stand in the code around them.
  EXPECT_LE(after.kernels > 0, before.kernels > 0) << print(planned->module);
}

TEST(Commands, HaveTheCostsOfTheNamedProcessor) {
  const auto module = parse(
      "HloModule m\nENTRY e { x = f32[64,4096] parameter(0)\n e = f32[64,4096] exponential(x)\n"
      "ROOT n = f32[64,4096] negate(e) }");
  ASSERT_TRUE(module);
  int64_t found = 0;
  for (const char* name : {"native", "x86-64-v2", "x86-64-v3"}) {
    CompileOptions options;
    options.emit.cpu = name;
    const auto planned = plan_program(*module, cpu_target(), options);
    if (!planned) continue;  // this machine does not run it
    const auto want = estimate_commands(planned->module, planned->plan, find_cpu(name));
    for (const auto& commands : planned->plan.commands.orders)
      for (const Command& command : commands) {
        const Estimate& cost = want[command.instruction.value];
        EXPECT_EQ(command.cost.serial_seconds, cost.serial_seconds) << name;
        EXPECT_EQ(command.cost.threads, cost.threads) << name;
        found += cost.serial_seconds > 0;
      }
  }
  EXPECT_GT(found, 0);
}

TEST(Commands, OfSmallModulesAreCompiled) {
  for (const char* text : small_modules) {
    const auto module = parse(text);
    if (module && verify(*module).empty()) expect_as_decided(*module);
  }
}

// HILO_RANDOM_FIRST and HILO_RANDOM_COUNT: a longer run.
TEST(Commands, OfRandomModulesAreCompiled) {
  const uint64_t first = number_from("HILO_RANDOM_FIRST", 1),
                 count = number_from("HILO_RANDOM_COUNT", 20);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    expect_as_decided(RandomModule(seed).make(24), processor_of(seed));
    expect_as_decided(WideRandomModule(seed).make(24), processor_of(seed));
  }
}

}  // namespace
}  // namespace hilo::test
