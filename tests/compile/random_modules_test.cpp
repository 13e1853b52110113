// Random modules with loops, branches, calls, updates in place and aliases: compiled as evaluated.
#include "../base/environment.h"
#include "../plan/random_module.h"
#include "both.h"

namespace hilo::test {
namespace {

// HILO_RANDOM_FIRST and HILO_RANDOM_COUNT: seeds for a longer run.
TEST(RandomModules, CompiledAsEvaluated) {
  const uint64_t first = number_from("HILO_RANDOM_FIRST", 0);
  const uint64_t count = number_from("HILO_RANDOM_COUNT", 12);
  uint64_t unsupported = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const std::string text = RandomModule(seed).text();
    const auto both = run_both(text, seed, static_cast<int>(1 + seed % 3));
    if (!both && both.error().kind == ErrorKind::Unsupported) {
      ++unsupported;
      continue;
    }
    ASSERT_TRUE(both) << seed << to_string(both.error()) << "\n" << text;
    ASSERT_LE(largest_difference(both->compiled, both->evaluated), 1e-6) << seed << "\n" << text;
  }
  EXPECT_LE(2 * unsupported, count);
}

TEST(RandomModules, AnyNumberOfThreadsGivesTheSameBits) {
  const char* text = R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
ENTRY e {
  x = f32[700,1500] parameter(0)
  z = f32[] constant(0)
  s = f32[700,1500] sine(x)
  a = f32[700] reduce(s, z), dimensions={1}, to_apply=add
  b = f32[1500] reduce(s, z), dimensions={0}, to_apply=add
  ROOT t = (f32[700], f32[1500], f32[700,1500]) tuple(a, b, s)
}
)";
  const auto one = run_both(text, 3, 1), seven = run_both(text, 3, 7);
  ASSERT_TRUE(one && seven);
  EXPECT_TRUE(same_bits(one->compiled, seven->compiled));
  EXPECT_LE(largest_difference(one->compiled, one->evaluated), 1e-6);
}

TEST(RandomModules, ArgumentsThatOthersHoldAreNotWrittenOver) {
  const auto module = parse(R"(HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e {
  x = f32[8] parameter(0)
  ROOT r = f32[8] add(x, x)
}
)");
  ASSERT_TRUE(module);
  const auto executable = compile(*module);
  ASSERT_TRUE(executable) << to_string(executable.error());
  std::mt19937_64 random(1);
  const Literal x = random_value(Shape::array(ElementType::F32, {8}), random);
  const float first = x.data<float>()[0];
  const auto once = executable->run({x}), twice = executable->run({x});
  ASSERT_TRUE(once && twice);
  EXPECT_EQ(x.data<float>()[0], first);
  EXPECT_TRUE(same_bits(*once, *twice));
  EXPECT_EQ(once->data<float>()[0], first + first);
}

TEST(RandomModules, WrongArgumentsAreAnError) {
  const auto module = parse("HloModule m\nENTRY e {\n  ROOT x = f32[8] parameter(0)\n}\n");
  const auto executable = compile(*module);
  ASSERT_TRUE(executable);
  EXPECT_EQ(executable->run({}).error().kind, ErrorKind::Input);
  EXPECT_EQ(executable->run({Literal::zeros(Shape::array(ElementType::F32, {4}))}).error().kind,
            ErrorKind::Input);
}

TEST(RandomModules, AnInfiniteLoopCanBeInterrupted) {
  const auto module = parse(R"(HloModule m
body { ROOT p = s32[] parameter(0) }
condition { p = s32[] parameter(0)
  ROOT t = pred[] compare(p, p), direction=EQ }
ENTRY e { x = s32[] parameter(0)
  ROOT w = s32[] while(x), condition=condition, body=body }
)");
  ASSERT_TRUE(module) << to_string(module.error());
  const auto executable = compile(*module);
  ASSERT_TRUE(executable) << to_string(executable.error());
  const std::atomic<bool> interrupt = true;
  const auto result = executable->run({Literal::scalar<int32_t>(1)}, {.interrupt = &interrupt});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::Interrupted);
}

}  // namespace
}  // namespace hilo::test
