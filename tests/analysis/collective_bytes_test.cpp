// What collectives send, against the formulas by hand.
#include <gtest/gtest.h>

#include "analysis/analysis.h"
#include "text/text.h"

namespace hilo {
namespace {

struct Sent {
  const char* instruction;  // of x, f32[12] on each of 6 devices: 48 bytes
  const char* kind;
  int64_t group;
  double bytes;
};

Module around(const std::string& instruction) {
  const auto module = parse(
      "HloModule m, num_partitions=6\n"
      "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }\n"
      "gather { p = f32[12] parameter(0)  ROOT g = f32[72] all-gather(p), dimensions={0}, "
      "replica_groups={} }\n"
      "first { p = f32[12] parameter(0)  g = f32[72] all-gather(p), dimensions={0}, "
      "replica_groups={}  ROOT s = (f32[12], f32[72]) custom-call(g), "
      "custom_call_target=\"AsyncCollectiveStart\" }\n"
      "ENTRY e {\n  x = f32[12] parameter(0)\n  ROOT r = " +
      instruction + "\n}\n");
  EXPECT_TRUE(module) << instruction << " " << to_string(module.error());
  return *module;
}

class CollectiveBytesOf : public testing::TestWithParam<Sent> {};
TEST_P(CollectiveBytesOf, IsTheFormulas) {
  const Module module = around(GetParam().instruction);
  const auto sent = collective_bytes(module, module[module.entry].root);
  ASSERT_TRUE(sent) << GetParam().instruction;
  EXPECT_EQ(text_of(sent->kind), GetParam().kind);
  EXPECT_EQ(sent->group, GetParam().group);
  EXPECT_DOUBLE_EQ(sent->sent_bytes, GetParam().bytes) << GetParam().instruction;
}
INSTANTIATE_TEST_SUITE_P(
    Kinds, CollectiveBytesOf,
    testing::Values(
        Sent{"f32[72] all-gather(x), dimensions={0}, replica_groups={}", "all-gather", 6, 48 * 5},
        Sent{"f32[24] all-gather(x), dimensions={0}, replica_groups=[3,2]<=[6]", "all-gather", 2,
             48},
        Sent{"(f32[12], f32[72]) all-gather-start(x), dimensions={0}, replica_groups={}",
             "all-gather", 6, 48 * 5},
        Sent{"f32[12] all-reduce(x), to_apply=add, replica_groups={{0,1,2},{3,4,5}}", "all-reduce",
             3, 2 * 48 * 2. / 3},
        Sent{"f32[12] all-reduce(x), to_apply=add, replica_groups={{0,1,2,3},{4,5}}", "all-reduce",
             4, 2 * 48 * 3. / 4},  // of the larger group
        Sent{"f32[6] reduce-scatter(x), to_apply=add, dimensions={0}, "
             "replica_groups={{0,1},{2,3},{4,5}}",
             "reduce-scatter", 2, 24},
        Sent{"f32[12] all-to-all(x), dimensions={0}, replica_groups={}", "all-to-all", 6, 40},
        Sent{"f32[12] collective-broadcast(x), replica_groups={}", "collective-broadcast", 6, 40},
        Sent{"f32[12] collective-permute(x), source_target_pairs={{0,1},{1,2},{3,3}}",
             "collective-permute", 2, 48},
        Sent{"f32[12] collective-permute(x), source_target_pairs={{1,1},{3,3}}",
             "collective-permute", 2, 0},
        Sent{"((f32[12]), f32[72]) async-start(x), calls=gather", "all-gather", 6, 48 * 5},
        Sent{"(f32[12], f32[72]) fusion(x), kind=kCustom, calls=first", "all-gather", 6, 48 * 5}));

TEST(CollectiveBytes, NothingOfOtherOps) {
  for (const char* other :
       {"f32[12] negate(x)", "f32[12] copy(x)", "f32[12] custom-call(x), custom_call_target=\"t\"",
        "f32[72] fusion(x), kind=kLoop, calls=gather"}) {
    const Module module = around(other);
    EXPECT_FALSE(collective_bytes(module, module[module.entry].root)) << other;
  }
}

}  // namespace
}  // namespace hilo
