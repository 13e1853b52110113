// Random modules planned, checked, and evaluated inside their plans. HILO_RANDOM_PLANS says how
// many (otherwise so many that it takes a few seconds); HILO_RANDOM_SEED the first of their seeds.
#include "../base/environment.h"
#include "planned.h"
#include "random_module.h"

namespace hilo {
namespace {

// What went wrong, or "".
std::string fault_of(const std::string& text, uint64_t seed) {
  constexpr const char* machines[] = {"cpu", "v5e", "cpu", "h100_sxm"};
  const Machine& machine = *find_machine(machines[seed % 4]);
  const auto made = test::make_plan(text, {}, machine);
  if (!made) return to_string(made.error());
  for (const Error& error : check_plan(made->module, machine, made->plan))
    return "check: " + to_string(error);
  return test::difference_inside(*made, seed);
}

TEST(RandomModules, RunInsideTheirPlans) {
  const uint64_t first = test::number_from("HILO_RANDOM_SEED", 1);
  const uint64_t count = test::number_from("HILO_RANDOM_PLANS", 1000);
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
