// Sharding factors of each family of ops, and all of the measured rules where they are at hand.
#include <filesystem>
#include <fstream>

#include "parsed.h"
#include "sharding_rules.h"

namespace hilo {
namespace {

using test::with_names_in_order;
using testing_analysis::Parsed;

std::string rule_of(const std::string& text) {
  const Parsed parsed(text);
  return with_names_in_order(to_string(sharding_factors(parsed.module, parsed["r"])));
}
void expect_rule(const std::string& entry, const std::string& rule) {
  const std::string computations =
      "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r1 = f32[] add(a, b) }\n"
      "ge { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
      " ROOT r2 = pred[] compare(a, b), direction=GE }\n";
  EXPECT_EQ(rule_of("HloModule m\n" + computations + "ENTRY e {\n" + entry + "\n}\n"),
            with_names_in_order(rule))
      << entry;
}

TEST(ShardingFactors, WhatPasses) {
  const std::string x = "x = f32[8,4] parameter(0)\n z = f32[] parameter(1)\n";
  expect_rule(x + "ROOT r = f32[8,4] add(x, x)", "([i, j], [i, j])->([i, j]) {i=8, j=4}");
  expect_rule(x + "ROOT r = f32[8,4] clamp(z, x, z)", "([], [i, j], [])->([i, j]) {i=8, j=4}");
  expect_rule(x + "ROOT r = f32[4,8] transpose(x), dimensions={1,0}",
              "([i, j])->([j, i]) {i=8, j=4}");
  expect_rule(x + "ROOT r = f32[8,3,4] broadcast(x), dimensions={0,2}",
              "([i, j])->([i, k, j]) {i=8, j=4, k=3}");
}

TEST(ShardingFactors, Reshapes) {
  const auto expect = [](const std::string& from, const std::string& to, const std::string& rule) {
    expect_rule("x = " + from + " parameter(0)\n ROOT r = " + to + " reshape(x)", rule);
  };
  expect("f32[8,4]", "f32[2,16]", "([ij, k])->([i, jk]) {i=2, j=4, k=4}");
  expect("f32[4,6]", "f32[24]", "([i, j])->([ij]) {i=4, j=6}");
  expect("f32[6,4]", "f32[8,3]", "([ij, k])->([il, m]) {i=2, j=3, k=4, l=4, m=3}");
  expect("f32[12]", "f32[1,12]", "([i])->([j, i]) {i=12, j=1}");
}

TEST(ShardingFactors, Reductions) {
  const std::string x = "x = f32[8,4] parameter(0)\n z = f32[] parameter(1)\n";
  expect_rule(x + "ROOT r = f32[8] reduce(x, z), dimensions={1}, to_apply=add",
              "([i, j], [])->([i]) {i=8, j=4} reduction={j}");
  expect_rule(x + "y = f32[4,6] parameter(2)\n ROOT r = f32[8,6] dot(x, y), "
                  "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
              "([i, j], [j, k])->([i, k]) {i=8, j=4, k=6} reduction={j}");
  expect_rule(
      "x = f32[9,4] parameter(0)\n k = s32[5,1] parameter(1)\n u = f32[5,4] parameter(2)\n"
      " ROOT r = f32[9,4] scatter(x, k, u), update_window_dims={1}, inserted_window_dims={0}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
      "([i, j], [k, l], [k, j])->([i, j]) {i=9, j=4, k=5, l=1} reduction={k} "
      "need_replication={l}");
}

TEST(ShardingFactors, WhatCannotBeCut) {
  const std::string x = "x = f32[8,4,4] parameter(0)\n";
  expect_rule(x + "ROOT r = f32[8,4,4] sort(x), dimensions={1}, to_apply=ge",
              "([i, j, k])->([i, j, k]) {i=8, j=4, k=4} need_replication={j}");
  expect_rule(x + "ROOT r = f32[8,4,4] cholesky(x)",
              "([i, j, k])->([i, j, k]) {i=8, j=4, k=4} need_replication={j, k}");
  expect_rule(x + "ROOT r = f32[8,4] custom-call(x), custom_call_target=\"f\"",
              "([i, j, k])->([l, m]) {i=8, j=4, k=4, l=8, m=4} need_replication={i, j, k}");
}

// Windows over rows of which there are none.
TEST(ShardingFactors, LoopsOfNoElements) {
  expect_rule(
      "x = f32[0,1] parameter(0)\n s = f32[0,2] parameter(1)\n z = f32[] parameter(2)\n"
      " ROOT r = f32[0,1] select-and-scatter(x, s, z), window={size=2x3 stride=2x1 pad=0_1x1_2}, "
      "select=ge, scatter=add",
      "([i, j], [k, j], [])->([k, j]) {i=0, j=1, k=0} need_replication={i, j} "
      "permutation={k}");
}

TEST(ShardingFactors, GroupsOfFeatures) {
  expect_rule(
      "x = f32[2,9,8] parameter(0)\n k = f32[3,2,12] parameter(1)\n"
      " ROOT r = f32[2,9,12] convolution(x, k), window={size=3 pad=1_1}, "
      "dim_labels=b0f_0io->b0f, feature_group_count=4",
      "([i, j, gf], [k, f, go])->([i, j, go]) {i=2, j=9, g=4, f=2, k=1, o=3} reduction={f} "
      "permutation={j}");
}

TEST(ShardingFactors, MeasuredRules) {
  const std::filesystem::path path =
      std::filesystem::path(HILO_SHARED) / "corpus" / "spmd" / "sharding_rules.txt";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  std::ifstream file(path);
  int checked = 0, unknown = 0;
  for (std::string line; std::getline(file, line);) {
    const auto rule = test::read_rule(line);
    if (!rule) continue;
    const auto text = test::RuleAsHlo(*rule).module();
    if (!text) {
      ++unknown;
      continue;
    }
    EXPECT_EQ(rule_of(*text), rule->rule) << line << "\n" << *text;
    ++checked;
  }
  fmt::print("{} rules, {} of ops that are custom\n", checked, unknown);
  EXPECT_GT(checked, 100);
}

}  // namespace
}  // namespace hilo
