// What `fusion` decides of a producer and a consumer, and the reason that it gives: a row a
// decision.
#include <map>
#include <set>

#include "judge.h"
#include "pass/fuse/no_fusion.h"

namespace hilo {
namespace {

using test::parsed;

struct Row {
  const char* pair;
  // "one loop", "recomputed", or what each question that was asked got for an answer.
  const char* decision;
  const char* body;
};

const Row rows[] = {
    {"a -> b", "one loop", R"(x = f32[4,6] parameter(0)
 a = f32[4,6] exponential(x)
 ROOT b = f32[4,6] tanh(a))"},
    {"c -> b", "recomputed", R"(x = f32[6] parameter(0)
 c = f32[6] negate(x)
 b = f32[4,6] broadcast(c), dimensions={1}
 ROOT r = f32[4,6] negate(b))"},
    {"c -> b",
     "join: is computed 5 times, at most 2; "
     "merge: the loops go over other elements; "
     "recompute: is computed 5 times, at most 4",
     R"(x = f32[40,50] parameter(0)
 c = f32[40,50] multiply(x, x)
 b = f32[40,5,50] broadcast(c), dimensions={0,2}
 ROOT r = f32[40,5,50] negate(b))"},
    {"c -> b",
     "join: a costly op would be computed more than once an element; "
     "merge: the loops go over other elements; "
     "recompute: is made of an op that is not cheap",
     R"(x = f32[6] parameter(0)
 c = f32[6] exponential(x)
 b = f32[4,6] broadcast(c), dimensions={1}
 ROOT r = f32[4,6] negate(b))"},
    {"c -> u",
     "join: is computed at 3 points of the code, at most 2; "
     "merge: the loops go over other elements; "
     "recompute: is made of an op that is not cheap",
     R"(x = f32[8,12] parameter(0)
 y = f32[8,12] parameter(1)
 c = f32[8,12] divide(x, y)
 u = f32[8,4] slice(c), slice={[0:8], [0:4]}
 v = f32[8,4] slice(c), slice={[0:8], [1:5]}
 w = f32[8,4] slice(c), slice={[0:8], [2:6]}
 a = f32[8,4] add(u, v)
 ROOT r = f32[8,4] add(a, w))"},
    {"c -> s", "consumer: no loop computes this op for this target", R"(x = f32[4,4] parameter(0)
 c = f32[4,4] exponential(x)
 s = f32[4,4] sort(c), dimensions={1}, to_apply=less
 ROOT r = f32[4,4] add(c, s))"},
    {"c -> r",
     "join: one of its readers is in no loop; "
     "merge: a path leads from one loop to the other by way of a third; "
     "recompute: is made of an op that is not cheap",
     R"(x = f32[4,4] parameter(0)
 c = f32[4,4] exponential(x)
 s = f32[4,4] sort(c), dimensions={1}, to_apply=less
 ROOT r = f32[4,4] add(c, s))"},
    {"m -> s", "recomputed", R"(x = f32[40,50] parameter(0)
 y = f32[40,50] parameter(1)
 m = f32[40,50] multiply(x, y)
 z = f32[] constant(0)
 s = f32[40] reduce(m, z), dimensions={1}, to_apply=add
 t = f32[50] reduce(m, z), dimensions={0}, to_apply=add
 ROOT r = (f32[40], f32[50]) tuple(s, t))"},
    {"m -> s",
     "join: is read by 2 loops; "
     "merge: one loop reduces and the other does not, or one is a product; "
     "recompute: its sources take 16000 bytes of memory, at most 9000",
     R"(x = f32[40,50] parameter(0)
 a = f32[40,50] sort(x), dimensions={1}, to_apply=less
 b = f32[40,50] sort(x), dimensions={0}, to_apply=less
 m = f32[40,50] subtract(a, b)
 z = f32[] constant(0)
 s = f32[40] reduce(m, z), dimensions={1}, to_apply=add
 t = f32[50] reduce(m, z), dimensions={0}, to_apply=add
 ROOT r = (f32[40], f32[50]) tuple(s, t))"},
    {"n -> r",
     "join: the update is computed from other slices of the array it goes into; "
     "merge: one of the loops keeps rows, writes slices, has windows or one part an operand; "
     "recompute: is made of an op that is not cheap",
     R"(x = f32[8] parameter(0)
 i = s32[] parameter(1)
 d = f32[2] dynamic-slice(x, i), dynamic_slice_sizes={2}
 n = f32[2] reverse(d), dimensions={0}
 ROOT r = f32[8] dynamic-update-slice(x, n, i))"},
    {"a -> j",
     "join: each element of the concatenation would take a costly op for all operands; "
     "merge: the loops go over other elements; "
     "recompute: is made of an op that is not cheap",
     R"(x = f32[4,6] parameter(0)
 a = f32[4,6] exponential(x)
 j = f32[8,6] concatenate(a, x), dimensions={0}
 ROOT r = f32[8,6] negate(j))"},
    {"d -> r", "one loop", R"(x = f32[4,4] parameter(0)
 a = f32[4,4] exponential(x)
 d = f32[4,4] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 ROOT r = f32[4,4] add(a, d))"},
    {"a -> d",
     "join: a product reads its operands from memory; "
     "merge: one loop reduces and the other does not, or one is a product; "
     "recompute: is made of an op that is not cheap",
     R"(x = f32[4,4] parameter(0)
 a = f32[4,4] exponential(x)
 d = f32[4,4] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 ROOT r = f32[4,4] add(a, d))"},
    {"s -> b",
     "join: a costly op would be computed more than once an element; "
     "merge: its loop is a reduction, windows or a product; "
     "recompute: comes from a loop that keeps rows at hand, reduces or multiplies",
     R"(x = f32[4,6] parameter(0)
 z = f32[] constant(0)
 s = f32[6] reduce(x, z), dimensions={0}, to_apply=add
 b = f32[4,6] broadcast(s), dimensions={1}
 ROOT t = f32[4,6] add(b, x))"},
};

std::string said_of(const FusionPair& pair) {
  if (pair.outcome == FusionPair::Outcome::OneLoop) return "one loop";
  if (pair.outcome == FusionPair::Outcome::Recomputed) return "recomputed";
  std::string out;
  for (const auto& [question, decision] : pair.refusals)
    out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", name_of(question), describe(decision));
  return out;
}

Module module_of(const char* body) {
  static constexpr const char* computations = R"(HloModule m
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] add(a, b) }
less { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = pred[] compare(a, b), direction=LT }
ENTRY e { )";
  return parsed(std::string(computations) + body + " }");
}

std::map<std::string, std::string> decisions_of(const Module& module) {
  std::map<std::string, std::string> out;
  PipelineOptions options;
  options.pass.fusion_decided = [&](const Module& now, const FusionPair& pair) {
    out[fmt::format("{} -> {}", now[pair.producer].name, now[pair.consumer].name)] = said_of(pair);
  };
  test::after_passes(module, "fusion", options);
  return out;
}

TEST(FusionDecision, IsToldWithItsReason) {
  for (const Row& row : rows) {
    const auto decisions = decisions_of(module_of(row.body));
    const auto found = decisions.find(row.pair);
    EXPECT_NE(found, decisions.end()) << row.pair << row.body;
    if (found != decisions.end()) {
      EXPECT_EQ(found->second, row.decision) << row.pair << row.body;
    }
  }
}

TEST(FusionDecision, EachReasonIsASentenceWithItsNumbers) {
  std::set<std::string> said;
  for (const NoFusion reason : all_no_fusions()) {
    const std::string text = describe({reason, 7531, 2468});
    EXPECT_TRUE(said.insert(text).second) << text;
    EXPECT_EQ(text.find_first_of("{}"), text.npos) << text;
    // A limit says nothing without what was counted.
    EXPECT_TRUE(text.find("2468") == text.npos || text.find("7531") != text.npos) << text;
  }
  EXPECT_EQ(describe({}), "");
}

TEST(FusionDecision, IsTheSameWhoeverAsks) {
  for (const Row& row : rows) {
    const Module before = module_of(row.body);
    PipelineOptions asked;
    asked.pass.fusion_decided = [](const Module&, const FusionPair&) {};
    EXPECT_EQ(print(test::after_passes(before, "fusion", asked)),
              print(test::after_passes(before, "fusion")));
  }
}

}  // namespace
}  // namespace hilo
