// Asynchronous forms become what they do at their start.
#include "judge.h"

namespace hilo {
namespace {

using test::after_passes;
using test::count_op;
using test::parsed;

constexpr const char* computations = R"(HloModule m
f { a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  n = f32[4] negate(b)
  ROOT s = f32[4] subtract(a, n)
}, execution_thread="other"
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
)";

void expect_synchronous(const std::string& entry, Op work) {
  const Module before = parsed(std::string(computations) + "ENTRY e {\n" + entry + "}\n");
  ASSERT_TRUE(verify(before).empty()) << to_string(verify(before)[0]) << entry;
  const Module after = after_passes(before, "async-to-sync");
  EXPECT_EQ(test::difference_in_values(before, after, Keeps::Bits), "") << print(after);
  for (Op op : {Op::AsyncStart, Op::AsyncUpdate, Op::AsyncDone, Op::CopyStart, Op::CopyDone,
                Op::AllReduceStart, Op::AllReduceDone, Op::AllGatherStart, Op::AllGatherDone,
                Op::CollectivePermuteStart, Op::CollectivePermuteDone})
    EXPECT_EQ(count_op(after, op), 0) << text_of(op) << print(after);
  EXPECT_EQ(count_op(after, work), 1) << print(after);
}

TEST(AsyncToSync, Computations) {
  expect_synchronous(R"(x = f32[4] parameter(0)
  s = ((f32[4], f32[4]), f32[4], s32[]) async-start(x, x), calls=f, async_execution_thread="other"
  u = ((f32[4], f32[4]), f32[4], s32[]) async-update(s)
  ROOT d = f32[4] async-done(u)
)",
                     Op::Call);
}

TEST(AsyncToSync, OperandsThatAnUpdateBrings) {
  expect_synchronous(R"(x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  s = ((f32[4]), f32[4], s32[]) async-start(x), calls=f, async_execution_thread="other"
  u = ((f32[4], f32[4]), f32[4], s32[]) async-update(s, y)
  ROOT d = f32[4] async-done(u)
)",
                     Op::Call);
}

TEST(AsyncToSync, ResultsThatAnUpdateBrings) {
  expect_synchronous(R"(x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  s = ((), (), (s32[8], s32[3])) async-start(), calls=f, async_execution_thread="other"
  u = ((f32[4], f32[4]), f32[4], (s32[8])) async-update(s, x, y)
  v = ((f32[4], f32[4]), f32[4], ()) async-update(u)
  ROOT d = f32[4] async-done(v)
)",
                     Op::Call);
}

TEST(AsyncToSync, Copies) {
  expect_synchronous(R"(x = f32[4] parameter(0)
  s = (f32[4]{0:S(1)}, f32[4]{0}, u32[]{:S(2)}) copy-start(x)
  d = f32[4]{0:S(1)} copy-done(s)
  ROOT n = f32[4] negate(d)
)",
                     Op::Copy);
}

TEST(AsyncToSync, Collectives) {
  expect_synchronous(R"(x = f32[4] parameter(0)
  s = f32[4] all-reduce-start(x), replica_groups={}, to_apply=add
  ROOT d = f32[4] all-reduce-done(s)
)",
                     Op::AllReduce);
  expect_synchronous(R"(x = f32[4] parameter(0)
  s = (f32[4], f32[4]) all-gather-start(x), replica_groups={{0}}, dimensions={0}
  ROOT d = f32[4] all-gather-done(s)
)",
                     Op::AllGather);
  expect_synchronous(R"(x = f32[4] parameter(0)
  s = (f32[4], f32[4], u32[], u32[]) collective-permute-start(x), source_target_pairs={{0,0}}
  ROOT d = f32[4] collective-permute-done(s)
)",
                     Op::CollectivePermute);
}

}  // namespace
}  // namespace hilo
