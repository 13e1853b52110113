// Compiling ends soon after its flag is set, whatever it was at.
#include "both.h"

namespace hilo::test {
namespace {

enum class Stage { Never, Before, AfterAPass, AfterPlanning, BeforeLlvm };

Result<Executable> compile_until(Stage stage) {
  const auto module = parse(R"(HloModule m
ENTRY e { x = f32[1000] parameter(0)
  y = f32[1000] copy(x)
  s = f32[1000] sine(y)
  ROOT r = f32[1000] add(s, x) }
)");
  std::atomic<bool> interrupt = stage == Stage::Before;
  CompileOptions options;
  options.emit.interrupt = &interrupt;
  options.see_module = [&](std::string_view pass, const Module&) {
    if (stage == Stage::AfterAPass && !pass.empty()) interrupt = true;
  };
  options.see_plan = [&](const Module&, const Machine&, const Plan&) {
    EXPECT_NE(stage, Stage::AfterAPass);
    if (stage == Stage::AfterPlanning) interrupt = true;
  };
  options.emit.see_ir = [&](std::string_view) {
    EXPECT_TRUE(stage == Stage::BeforeLlvm || stage == Stage::Never);
    interrupt = stage == Stage::BeforeLlvm;
  };
  return compile(*module, cpu_target(), options);
}

TEST(Interrupt, EndsEachStageOfCompiling) {
  EXPECT_TRUE(compile_until(Stage::Never));
  for (Stage stage : {Stage::Before, Stage::AfterAPass, Stage::AfterPlanning, Stage::BeforeLlvm}) {
    const auto out = compile_until(stage);
    ASSERT_FALSE(out);
    EXPECT_EQ(out.error().kind, ErrorKind::Interrupted);
  }
}

// Large steps are told without being asked for, inside of loops too; small ones are not.
TEST(Interrupt, RunsTellOfLargeSteps) {
  const auto module = parse(R"(HloModule m
body { p = (s32[], f32[1048576]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[1048576] get-tuple-element(p), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = f32[1048576] negate(x)
  ROOT t = (s32[], f32[1048576]) tuple(next, y) }
condition { p = (s32[], f32[1048576]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(101)
  ROOT c = pred[] compare(i, n), direction=LT }
ENTRY e { x = f32[1048576] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[1048576]) tuple(zero, x)
  w = (s32[], f32[1048576]) while(t), condition=condition, body=body
  ROOT r = f32[1048576] get-tuple-element(w), index=1 }
)");
  const auto executable = compile(*module);
  ASSERT_TRUE(executable) << to_string(executable.error());
  std::map<std::string, int> told;
  const RunOptions options = {.after_step = [&](InstructionId step, int64_t) {
    ++told[std::string(text_of(executable->module()[step].op))];
  }};
  ASSERT_TRUE(
      executable->run({Literal::zeros(Shape::array(ElementType::F32, {1048576}))}, options));
  EXPECT_EQ(told["negate"], 101);
  EXPECT_EQ(told["add"], 0);
}

}  // namespace
}  // namespace hilo::test
