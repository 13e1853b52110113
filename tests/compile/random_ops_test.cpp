// Random programs of many ops and types: compiled as evaluated, with kernels and by the reference.
#include "../base/environment.h"
#include "both.h"
#include "compile/compile.h"
#include "perturbed.h"
#include "wide_random_module.h"

namespace hilo {
namespace {

// Seeds of a longer run: HILO_RANDOM_FIRST and HILO_RANDOM_COUNT.
template <class RandomProgram>
void expect_compiled_as_evaluated(uint64_t count) {
  const uint64_t first = test::number_from("HILO_RANDOM_FIRST", 1);
  count = test::number_from("HILO_RANDOM_COUNT", count);
  uint64_t ill_conditioned = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Module module = RandomProgram(seed).make(24);
    for (const Error& error : verify(module)) FAIL() << seed << to_string(error) << print(module);
    CompileOptions options;
    options.threads = static_cast<int>(1 + seed % 3);
    options.emit.cpu = test::processor_of(seed);
    const auto executable = compile(module, cpu_target(), options);
    ASSERT_TRUE(executable) << seed << " " << to_string(executable.error()) << print(module);
    // NaN, infinities and zeros with signs among the arguments: simplification may keep no more
    // than the reals, so that they are compared behind it.
    const bool is_tame = seed % 4 != 3;
    const auto arguments = test::random_arguments(module, seed, is_tame);
    const Module judge = is_tame ? module : test::after_passes(module, "simplify");
    const auto compiled = executable->run(arguments);
    const auto evaluated = test::evaluate_once(judge, arguments),
               reference = test::evaluate_once(judge, arguments, true);
    ASSERT_TRUE(compiled) << seed << " " << to_string(compiled.error()) << print(module);
    ASSERT_TRUE(evaluated) << seed << " " << to_string(evaluated.error()) << print(module);
    ASSERT_TRUE(reference) << seed << " " << to_string(reference.error()) << print(module);
    if (const std::string differs = test::disagreement(*reference, *evaluated, Keeps::Reals);
        !differs.empty()) {
      EXPECT_TRUE(test::is_ill_conditioned(judge, arguments, *reference, *evaluated))
          << seed << differs << print(judge);
    }
    const std::string found = test::disagreement(*evaluated, *compiled, Keeps::Reals);
    if (!found.empty() && test::is_ill_conditioned(module, arguments, *evaluated, *compiled))
      ++ill_conditioned;
    else EXPECT_EQ(found, "") << seed << print(module);
  }
  EXPECT_LE(ill_conditioned, 1 + count / 100);
  testing::Test::RecordProperty("ill_conditioned", static_cast<int>(ill_conditioned));
}

TEST(RandomOps, CompiledAsEvaluated) { expect_compiled_as_evaluated<test::RandomModule>(30); }
TEST(RandomOps, WideCompiledAsEvaluated) {
  expect_compiled_as_evaluated<test::WideRandomModule>(30);
}

}  // namespace
}  // namespace hilo
