// Passes on random programs: what is exact keeps every bit, what is not leaves sound modules.
#include "random_module.h"

namespace hilo {
namespace {

using test::RandomModule;

constexpr int modules = 150;

const char* const exact_passes[] = {"algebraic-simplifier",
                                    "call-inliner",
                                    "conditional-simplifier",
                                    "constant-folding",
                                    "cse",
                                    "dce",
                                    "flatten-call-graph",
                                    "flatten-call-graph, copy-insertion",
                                    "float-normalization",
                                    "reshape-mover",
                                    "while-loop-simplifier",
                                    "while-loop-invariant-code-motion",
                                    "while-loop-unroller",
                                    "loop-double-buffer, copy-insertion",
                                    "zero-sized-elimination",
                                    "layout-assignment",
                                    "fusion",
                                    "simplify",
                                    "expand-and-fuse"};

// One printed module is enough to see what is wrong.
TEST(RandomModules, ExactPassesKeepEveryBit) {
  int changed = 0;
  for (uint64_t seed = 1; seed <= modules; ++seed) {
    Module before = RandomModule(seed).make(24);
    before.compact();
    ASSERT_TRUE(verify(before).empty()) << to_string(verify(before)[0]) << print(before);
    for (const char* passes : exact_passes) {
      PipelineOptions options;
      options.verify = true;
      options.pass.rewrite.keeps = Keeps::Bits;
      options.pass.machine = find_machine("cpu");
      const Module after = test::after_passes(before, passes, options);
      if (difference(before, after).empty()) continue;
      ++changed;
      const std::string found = test::difference_in_values(before, after, Keeps::Bits, seed, 2);
      ASSERT_EQ(found, "") << "seed " << seed << ", " << passes << "\n"
                           << print(before) << print(after);
    }
  }
  EXPECT_GT(changed, 5 * modules);
}

// What is printed is what there is, names included.
TEST(RandomModules, SimplifiedOnesAreSoundText) {
  for (uint64_t seed = 1; seed <= modules; ++seed) {
    PipelineOptions options;
    options.verify = true;
    const Module after = test::after_passes(RandomModule(seed).make(40), "simplify", options);
    const auto again = parse(print(after));
    ASSERT_TRUE(again.has_value()) << to_string(again.error()) << print(after);
    EXPECT_EQ(print(*again), print(after));
    const auto arguments = test::random_arguments(after, seed, true);
    EXPECT_TRUE(test::evaluate_once(after, arguments).has_value());
  }
}

// Simplifying again finds nothing, and the same module gives the same text.
TEST(RandomModules, SimplificationEnds) {
  for (uint64_t seed = 1; seed <= modules / 3; ++seed) {
    const Module once = test::after_passes(RandomModule(seed).make(40), "simplify");
    const Module twice = test::after_passes(once, "simplify");
    EXPECT_EQ(difference(once, twice), "") << "seed " << seed << print(once) << print(twice);
    EXPECT_EQ(print(once), print(test::after_passes(RandomModule(seed).make(40), "simplify")));
  }
}

}  // namespace
}  // namespace hilo
