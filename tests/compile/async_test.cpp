// Asynchronous forms, transfers and feeds, compiled: what the evaluator's tests expect.
#include "on_devices.h"

#include "../eval/async_test.cpp"

namespace hilo::test {
namespace {

// Steps that the evaluator does.
int64_t evaluated_steps(const std::string& text) {
  auto module = parse(text);
  EXPECT_TRUE(module.has_value()) << text;
  if (!module) return -1;
  const auto executable = compile(std::move(*module));
  EXPECT_TRUE(executable.has_value()) << to_string(executable.error()) << text;
  return executable ? std::ssize(executable->report().evaluated) : -1;
}

TEST(FusedAsyncCollective, IsDoneOnce) {
  EXPECT_EQ(evaluated_steps(fused_async(2, "{0,1}", 6)), 1);
}

// Of so many elements that they are not joined.
TEST(Collectives, AreMergedWhereTheyAreTheSame) {
  const auto gathers = [](const std::string& second) {
    return partitioned(2,
                       "ENTRY e { x = f32[9000] parameter(0)\n y = f32[9000] negate(x)\n"
                       " a = f32[18000] all-gather(x), channel_id=4, replica_groups={{0,1}}, "
                       "dimensions={0}, use_global_device_ids=true\n b = f32[18000] all-gather(" +
                           second + "\n ROOT r = f32[18000] subtract(a, b)\n}\n");
  };
  const std::string same = "replica_groups={{0,1}}, dimensions={0}, use_global_device_ids=true";
  EXPECT_EQ(evaluated_steps(gathers("x), channel_id=4, " + same)), 1);
  EXPECT_EQ(evaluated_steps(gathers("y), channel_id=4, " + same)), 2);
  EXPECT_EQ(evaluated_steps(gathers("x), channel_id=5, " + same)), 2);
}

// Each costs the threads that devices are a hand-over.
TEST(Collectives, AreJoinedWhereTheyAreSmall) {
  const auto reductions = [](int64_t size) {
    const std::string add =
        ", channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, "
        "to_apply=add\n";
    return partitioned(
        2, fmt::format("add {{ p = f32[] parameter(0)\n q = f32[] parameter(1)\n"
                       " ROOT s = f32[] add(p, q) }}\n"
                       "ENTRY e {{ x = f32[{0}] parameter(0)\n y = f32[{0}] parameter(1)\n"
                       " a = f32[{0}] all-reduce(x){1} n = f32[{0}] negate(a)\n"
                       " b = f32[{0}] all-reduce(y){1} ROOT r = f32[{0}] subtract(n, b)\n}}\n",
                       size, add));
  };
  EXPECT_EQ(evaluated_steps(reductions(3)), 1);
  EXPECT_EQ(evaluated_steps(reductions(90000)), 2);
}

}  // namespace
}  // namespace hilo::test
