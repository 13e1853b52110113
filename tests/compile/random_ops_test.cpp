// Random programs of many ops and types: compiled as evaluated.
#include "../base/environment.h"
#include "../pass/random_module.h"
#include "compile/compile.h"

namespace hilo {
namespace {

// HILO_RANDOM_FIRST and HILO_RANDOM_COUNT: seeds for a longer run.
TEST(RandomOps, CompiledAsEvaluated) {
  const uint64_t first = test::number_from("HILO_RANDOM_FIRST", 1);
  const uint64_t count = test::number_from("HILO_RANDOM_COUNT", 30);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Module module = test::RandomModule(seed).make(24);
    CompileOptions options;
    options.threads = static_cast<int>(1 + seed % 3);
    const auto executable = compile(module, cpu_target(), options);
    ASSERT_TRUE(executable) << seed << " " << to_string(executable.error()) << print(module);
    const auto arguments = test::random_arguments(module, seed, true);
    const auto compiled = executable->run(arguments);
    const auto evaluated = test::evaluate_once(module, arguments);
    ASSERT_TRUE(compiled && evaluated) << seed << print(module);
    ASSERT_EQ(test::disagreement(*evaluated, *compiled, Keeps::Reals), "") << seed << print(module);
  }
}

}  // namespace
}  // namespace hilo
