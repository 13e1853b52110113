// Every rule proves itself: on modules made from its own pattern it fires, and the values after it
// are those before, to the bit where the rule says so.
#include "pattern_instance.h"

namespace hilo {
namespace {

constexpr int wanted = 40;    // modules in which a rule must fire
constexpr int tries = 16000;  // after which it is said not to

// The module after one rule, and how often it fired.
std::pair<Module, int> apply(const RewriteRule& rule, const Module& module) {
  std::pair<Module, int> out(module, 0);
  RewriteOptions options;
  options.fired = [&](std::string_view) { ++out.second; };
  const RuleTable table(&rule, 1);
  apply_rules(out.first, std::array{table}, options);
  restore_order(out.first, static_cast<uint32_t>(module.instructions.size()));
  return out;
}

// Modules in which the rule fired; -1 after a failure.
int prove(const RewriteRule& rule) {
  int fired = 0;
  for (uint64_t seed = 1; seed <= tries && fired < wanted; ++seed) {
    test::PatternInstance instance(rule, seed);
    if (!instance.make()) continue;
    const Module before = std::move(instance.module);
    if (rule.keeps == Keeps::Reals && !test::has_tolerance(before)) continue;
    const auto [after, now] = apply(rule, before);
    if (now == 0) continue;
    const auto arguments = test::random_arguments(before, seed, true);
    if (!test::evaluate_once(before, arguments)) continue;  // a type that the op has no values for
    ++fired;
    const std::string found = test::difference_in_values(before, after, rule.keeps, seed, 2);
    if (found.empty()) continue;
    ADD_FAILURE() << rule.name << ", seed " << seed << ": " << found << "\n"
                  << print(before) << print(after);
    return -1;
  }
  return fired;
}

TEST(Rules, KeepWhatTheySayOnModulesOfTheirPattern) {
  int cases = 0, rules = 0;
  for (const RuleFamily& family : all_rules())
    for (const RewriteRule& rule : family.rules) {
      const int fired = prove(rule);
      EXPECT_TRUE(fired < 0 || fired == wanted) << rule.name << " fired in " << fired << " modules";
      cases += std::max(0, fired), ++rules;
    }
  RecordProperty("rules", rules);
  RecordProperty("cases", cases);
}

TEST(Rules, NamesAreDistinct) {
  std::vector<std::string_view> names;
  for (const RuleFamily& family : all_rules())
    for (const RewriteRule& rule : family.rules) names.push_back(rule.name);
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

}  // namespace
}  // namespace hilo
