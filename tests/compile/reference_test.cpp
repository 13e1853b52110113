// Three that share no code agree on ops that have kernels: the loops of the reference evaluator,
// the kernels that the evaluator calls, and what is compiled.
#include "../base/environment.h"
#include "compile/compile.h"
#include "random_kernel_op.h"

namespace hilo::test {
namespace {

Result<Literal> run_compiled(const Module& module, const std::vector<Literal>& arguments) {
  CompileOptions options;
  options.threads = 2;
  HILO_TRY(const Executable executable, compile(module, cpu_target(), options));
  return executable.run(arguments);
}

// Sums of infinities are no figures, and a comparator that NaNs make no order gives any order: only
// top-k and sorts in total order, or of integers, meet all kinds of values.
bool is_tame(const Module& module) {
  for (const Instruction& instruction : module.instructions) {
    if (instruction.op != Op::Compare) continue;
    const ElementType type = module.shape(module.operands(instruction)[0]).type;
    const auto& a = module.attributes<CompareAttributes>(instruction);
    if (is_floating(type) && a.type != ComparisonType::TotalOrder) return true;
  }
  return count_op(module, Op::Sort) + count_op(module, Op::TopK) == 0;
}

TEST(Reference, EvaluatorAndCompiledCodeAgree) {
  const uint64_t first = number_from("HILO_RANDOM_FIRST", 1);
  const uint64_t count = number_from("HILO_RANDOM_COUNT", 180);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Module module = parsed(RandomKernelOp(seed).text(seed));
    for (const Error& error : verify(module)) FAIL() << seed << to_string(error) << print(module);
    const auto arguments = random_arguments(module, seed, is_tame(module));
    const auto reference = evaluate_once(module, arguments, true),
               evaluated = evaluate_once(module, arguments),
               compiled = run_compiled(module, arguments);
    ASSERT_TRUE(reference) << seed << to_string(reference.error()) << print(module);
    ASSERT_TRUE(evaluated) << seed << to_string(evaluated.error()) << print(module);
    ASSERT_TRUE(compiled) << seed << to_string(compiled.error()) << print(module);
    EXPECT_EQ(disagreement(*reference, *evaluated, Keeps::Reals), "") << seed << print(module);
    EXPECT_EQ(disagreement(*reference, *compiled, Keeps::Reals), "") << seed << print(module);
  }
}

}  // namespace
}  // namespace hilo::test
