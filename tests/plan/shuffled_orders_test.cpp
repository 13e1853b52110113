// Orders that are found from any order of the file, against many random ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "machine/machine.h"
#include "plan/plan.h"
#include "text/text.h"

namespace hilo {
namespace {

// The last reader of a copy can write over it, and the rested parts of the carry can hold the
// other: three arrays at once, where four are taken by most orders.
constexpr std::string_view loop = R"(HloModule loop
body {
  carry = (s32[], f32[4096], f32[4096]) parameter(0)
  i = s32[] get-tuple-element(carry), index=0
  a = f32[4096] get-tuple-element(carry), index=1
  b = f32[4096] get-tuple-element(carry), index=2
  copy_a = f32[4096] copy(a)
  copy_b = f32[4096] copy(b)
  sum = f32[4096] add(copy_a, copy_b)
  product = f32[4096] multiply(copy_a, copy_b)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT out = (s32[], f32[4096], f32[4096]) tuple(next, sum, product)
}
condition {
  carry = (s32[], f32[4096], f32[4096]) parameter(0)
  i = s32[] get-tuple-element(carry), index=0
  four = s32[] constant(4)
  ROOT more = pred[] compare(i, four), direction=LT
}
ENTRY e {
  start = s32[] constant(0)
  i = s32[] copy(start)
  half = f32[] constant(0.5)
  x = f32[4096] broadcast(half), dimensions={}
  y = f32[4096] exponential(x)
  init = (s32[], f32[4096], f32[4096]) tuple(i, x, y)
  w = (s32[], f32[4096], f32[4096]) while(init), condition=condition, body=body
  last = f32[4096] get-tuple-element(w), index=1
  other = f32[4096] get-tuple-element(w), index=2
  z = f32[4096] multiply(last, other)
  ROOT r = f32[2] slice(z), slice={[0:2]}
}
)";

// A wide tree whose branches need different room.
constexpr std::string_view tree = R"(HloModule tree
ENTRY e {
  p = f32[] parameter(0)
  a = f32[9000] broadcast(p), dimensions={}
  b = f32[100] slice(a), slice={[0:100]}
  c = f32[7000] broadcast(p), dimensions={}
  d = f32[100] slice(c), slice={[0:100]}
  e = f32[100] add(b, d)
  f = f32[5000] broadcast(p), dimensions={}
  g = f32[300] slice(f), slice={[0:300]}
  h = f32[2000] broadcast(p), dimensions={}
  i = f32[100] slice(h), slice={[0:100]}
  j = f32[100] slice(g), slice={[200:300]}
  k = f32[100] add(i, j)
  l = f32[100] multiply(k, e)
  ROOT r = f32[100] negate(l)
}
)";

void shuffle(Module& module, std::mt19937_64& random) {
  for (Computation& computation : module.computations) {
    std::vector<InstructionId> order, left = computation.instructions;
    while (!left.empty()) {
      std::vector<size_t> ready;
      for (size_t i = 0; i < left.size(); ++i) {
        const auto needs = [&](InstructionId id) {
          return std::ranges::find(left, id) != left.end();
        };
        if (std::ranges::none_of(module.operands(left[i]), needs)) ready.push_back(i);
      }
      const size_t at = ready[random() % ready.size()];
      order.push_back(left[at]);
      left.erase(left.begin() + static_cast<ptrdiff_t>(at));
    }
    computation.instructions = order;
  }
}

int64_t temporaries(const Module& module) {
  const Result<Plan> planned = plan(module, *find_machine("cpu"));
  EXPECT_TRUE(planned) << to_string(planned.error());
  if (!planned) return 0;
  EXPECT_TRUE(check_plan(module, *find_machine("cpu"), *planned).empty());
  return planned->spaces[0].temp_bytes;
}

class ShuffledOrders : public testing::TestWithParam<std::string_view> {};

TEST_P(ShuffledOrders, NoneIsBetterThanTheOneFound) {
  const Result<Module> parsed = parse(GetParam());
  ASSERT_TRUE(parsed) << to_string(parsed.error());
  std::mt19937_64 random(11);
  int64_t most_found = 0, least_given = INT64_MAX, most_given = 0;
  for (int round = 0; round < 60; ++round) {
    Module module = *parsed;
    shuffle(module, random);
    most_found = std::max(most_found, temporaries(module));
    module.header.is_scheduled = true;
    const int64_t given = temporaries(module);
    least_given = std::min(least_given, given);
    most_given = std::max(most_given, given);
  }
  EXPECT_LE(most_found, least_given);
  EXPECT_LT(least_given, most_given) << "the order does not matter here";
}
INSTANTIATE_TEST_SUITE_P(Modules, ShuffledOrders, testing::Values(loop, tree));

}  // namespace
}  // namespace hilo
