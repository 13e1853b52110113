// Random programs of many ops and types: compiled as evaluated.
#include "../base/environment.h"
#include "../pass/random_module.h"
#include "both.h"
#include "compile/compile.h"
#include "wide_random_module.h"

namespace hilo {
namespace {

// Reals, each moved by what one or two roundings do.
Literal moved(const Literal& given, test::Dice& dice) {
  Literal out = given;
  const auto move = [&](auto type, auto by) {
    for (auto& x : out.mutable_data<decltype(type)>())
      x = static_cast<decltype(type)>(x * (1 + (dice.below(2) ? by : -by)));
  };
  if (given.type() == ElementType::BF16) move(BF16{}, 0x1p-8F);
  if (given.type() == ElementType::F16) move(F16{}, 0x1p-11F);
  if (given.type() == ElementType::F32) move(float{}, 0x1p-22F);
  if (given.type() == ElementType::F64) move(double{}, 0x1p-51);
  if (given.type() == ElementType::C64) move(std::complex<float>{}, 0x1p-22F);
  return out;
}
// Whether the program itself makes more than a tolerance of its arguments' roundings: sines of
// large sums, floors and comparisons of what is nearly whole or equal.
bool is_ill_conditioned(const Module& module, const std::vector<Literal>& arguments,
                        const Literal& evaluated) {
  test::Dice dice(7);
  for (int i = 0; i < 8; ++i) {
    std::vector<Literal> others;
    for (const Literal& argument : arguments) others.push_back(moved(argument, dice));
    const auto other = test::evaluate_once(module, others);
    if (other && !test::disagreement(evaluated, *other, Keeps::Reals).empty()) return true;
  }
  return false;
}

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
    const auto arguments = test::random_arguments(module, seed, true);
    const auto compiled = executable->run(arguments);
    const auto evaluated = test::evaluate_once(module, arguments);
    ASSERT_TRUE(compiled) << seed << " " << to_string(compiled.error()) << print(module);
    ASSERT_TRUE(evaluated) << seed << " " << to_string(evaluated.error()) << print(module);
    const std::string found = test::disagreement(*evaluated, *compiled, Keeps::Reals);
    if (!found.empty() && is_ill_conditioned(module, arguments, *evaluated)) ++ill_conditioned;
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
