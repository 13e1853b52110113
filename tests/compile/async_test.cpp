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

TEST(Collectives, AreMergedWhereTheyAreTheSame) {
  const auto gathers = [](const std::string& second) {
    return partitioned(2,
                       "ENTRY e { x = f32[3] parameter(0)\n y = f32[3] negate(x)\n"
                       " a = f32[6] all-gather(x), channel_id=4, replica_groups={{0,1}}, "
                       "dimensions={0}, use_global_device_ids=true\n b = f32[6] all-gather(" +
                           second + "\n ROOT r = f32[6] subtract(a, b)\n}\n");
  };
  const std::string same = "replica_groups={{0,1}}, dimensions={0}, use_global_device_ids=true";
  EXPECT_EQ(evaluated_steps(gathers("x), channel_id=4, " + same)), 1);
  EXPECT_EQ(evaluated_steps(gathers("y), channel_id=4, " + same)), 2);
  EXPECT_EQ(evaluated_steps(gathers("x), channel_id=5, " + same)), 2);
}

}  // namespace
}  // namespace hilo::test
