// Random modules planned, checked, and evaluated inside their plans. HILO_RANDOM_PLANS says how
// many (200 when it is not set); HILO_RANDOM_SEED the first of their seeds.
#include <gtest/gtest.h>

#include <cstdlib>

#include "eval/eval.h"
#include "pass/pass.h"
#include "plan/plan.h"
#include "random_module.h"
#include "text/text.h"
#include "verify/verify.h"

namespace hilo {
namespace {

int64_t number_from(const char* variable, int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atoll(text) : otherwise;
}

Inputs inputs_of(uint64_t seed) {
  std::vector<Literal> values;
  for (int p = 0; p < 3; ++p) {
    std::vector<float> numbers(16);
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = static_cast<float>((seed * 31 + p * 17 + i * 7) % 97) / 97.0f - 0.4f;
    values.push_back(Literal::from<float>({16}, numbers));
  }
  return {{std::move(values)}};
}

// What went wrong, or "".
std::string fault_of(const std::string& text, uint64_t seed) {
  const Machine& machine = *find_machine("cpu");
  Result<Module> parsed = parse(text);
  if (!parsed) return "parse: " + to_string(parsed.error());
  const Module original = *parsed;
  Module module = *parsed;
  for (const Error& error : verify(module)) return "verify: " + to_string(error);
  if (auto done = insert_copies(module, {.machine = &machine}); !done)
    return "copies: " + to_string(done.error());
  for (const Error& error : verify(module)) return "verify with copies: " + to_string(error);
  Result<Plan> made = plan(module, machine);
  if (!made) return "plan: " + to_string(made.error());
  for (const Error& error : check_plan(module, machine, *made)) return "check: " + to_string(error);
  for (size_t c = 0; c < made->schedule.orders.size(); ++c)
    if (!made->schedule.orders[c].empty())
      module.computations[c].instructions = made->schedule.orders[c];
  EvalOptions outside, inside;
  outside.threads = inside.threads = 1;
  inside.place = place_in(module, *made, 1);
  const auto want = evaluate(original, inputs_of(seed), outside);
  const auto got = evaluate(module, inputs_of(seed), inside);
  if (!want || !got) return "run: " + to_string((want ? got : want).error());
  return same_bits(want->devices[0], got->devices[0]) ? "" : "the bits differ inside the plan";
}

TEST(RandomModules, RunInsideTheirPlans) {
  const auto first = static_cast<uint64_t>(number_from("HILO_RANDOM_SEED", 1));
  const auto count = static_cast<uint64_t>(number_from("HILO_RANDOM_PLANS", 200));
  int faults = 0;
  for (uint64_t seed = first; seed < first + count && faults < 5; ++seed) {
    const std::string text = test::RandomModule(seed).text();
    const std::string fault = fault_of(text, seed);
    if (fault.empty()) continue;
    ++faults;
    ADD_FAILURE() << "seed " << seed << ": " << fault << (faults == 1 ? "\n" + text : "");
  }
}

}  // namespace
}  // namespace hilo
