// What hides collectives in an order, and what does not.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "analysis/analysis.h"
#include "text/text.h"

namespace hilo {
namespace {

const Machine& v5e() { return *find_machine("v5e"); }

Module parsed(const std::string& text) {
  auto module = parse(text);
  EXPECT_TRUE(module) << to_string(module.error());
  return *std::move(module);
}

const std::string head = "HloModule m, is_scheduled=true, num_partitions=4\n";
const std::string over_all =
    "replica_groups={{0,1,2,3}}, dimensions={0}, use_global_device_ids=true\n";

const CollectiveTime* find_time(const Module& module, const std::vector<CollectiveTime>& all,
                                std::string_view name) {
  for (const CollectiveTime& one : all)
    if (module[one.id].name == name) return &one;
  return nullptr;
}

TEST(StepTimes, AProductHidesWhatGoesOnBesideIt) {
  const Module module = parsed(
      head +
      "ENTRY e {\n  x = bf16[8192,8192] parameter(0)\n  w = bf16[256,8192] parameter(1)\n"
      "  first = bf16[1024,8192] all-gather(w), channel_id=1, " +
      over_all + "  begin = (bf16[256,8192], bf16[1024,8192]) all-gather-start(w), channel_id=2, " +
      over_all +
      "  y = bf16[8192,8192] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "  end = bf16[1024,8192] all-gather-done(begin)\n"
      "  ROOT z = (bf16[1024,8192], bf16[8192,8192], bf16[1024,8192]) tuple(end, y, first)\n}\n");
  const StepTimes times(module, v5e());
  const auto all = times.collectives();
  ASSERT_EQ(all.size(), 2U);
  const CollectiveTime *first = find_time(module, all, "first"),
                       *begun = find_time(module, all, "begin");
  ASSERT_TRUE(first && begun);
  EXPECT_DOUBLE_EQ(first->exposed, first->seconds);
  EXPECT_TRUE(first->behind.empty());
  EXPECT_EQ(begun->exposed, 0);
  ASSERT_EQ(begun->behind.size(), 1U);
  EXPECT_EQ(module[begun->behind[0].first].name, "y");
  EXPECT_NEAR(begun->behind[0].second, begun->seconds, 1e-12);
  const Timeline step = times.along(module.entry);
  EXPECT_NEAR(step.exposed(), first->seconds, 1e-12);
  EXPECT_NEAR(step.communication, first->seconds + begun->seconds, 1e-12);
}

// Over one axis one waits for the other; over two they go on beside each other.
TEST(StepTimes, AxesHaveLinksOfTheirOwn) {
  const auto exposed = [](const char* groups) {
    const std::string rest = ", replica_groups={{" + std::string(groups) +
                             "}}, dimensions={0}, use_global_device_ids=true\n";
    const Module module =
        parsed(head +
               "ENTRY e {\n  w = f32[1024,1024] parameter(0)\n"
               "  a = (f32[1024,1024], f32[2048,1024]) all-gather-start(w), channel_id=1, "
               "replica_groups={{0,1},{2,3}}, dimensions={0}, use_global_device_ids=true\n"
               "  b = (f32[1024,1024], f32[2048,1024]) all-gather-start(w), channel_id=2" +
               rest +
               "  c = f32[2048,1024] all-gather-done(a)\n  d = f32[2048,1024] all-gather-done(b)\n"
               "  ROOT t = (f32[2048,1024], f32[2048,1024]) tuple(c, d)\n}\n");
    const StepTimes times(module, v5e());
    return times.along(module.entry).exposed() / times.collectives()[0].seconds;
  };
  EXPECT_NEAR(exposed("0,1},{2,3"), 2, 1e-9);
  EXPECT_NEAR(exposed("0,2},{1,3"), 1, 1e-9);
}

// The exposed times of all collectives are what the step takes beside computation.
TEST(StepTimes, ExposedTimesAddUp) {
  const Module module =
      parsed(head +
             "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }\n"
             "body { s = (s32[], f32[256,1024]) parameter(0)\n"
             "  i = s32[] get-tuple-element(s), index=0\n"
             "  x = f32[256,1024] get-tuple-element(s), index=1\n  one = s32[] constant(1)\n"
             "  next = s32[] add(i, one)\n"
             "  r = f32[256,1024] all-reduce(x), channel_id=1, replica_groups={{0,1,2,3}}, "
             "use_global_device_ids=true, to_apply=add\n"
             "  ROOT t = (s32[], f32[256,1024]) tuple(next, r)\n}\n"
             "condition { s = (s32[], f32[256,1024]) parameter(0)\n"
             "  i = s32[] get-tuple-element(s), index=0\n  n = s32[] constant(5)\n"
             "  ROOT less = pred[] compare(i, n), direction=LT\n}\n"
             "body2 { s = (s32[], f32[256,1024]) parameter(0)\n"
             "  i = s32[] get-tuple-element(s), index=0\n"
             "  x = f32[256,1024] get-tuple-element(s), index=1\n  one = s32[] constant(1)\n"
             "  next = s32[] add(i, one)\n"
             "  ROOT t = (s32[], f32[256,1024]) tuple(next, x)\n}\n"
             "addi { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT c = s32[] add(a, b) }\n"
             "asks { s = (s32[], f32[256,1024]) parameter(0)\n"
             "  i = s32[] get-tuple-element(s), index=0\n  n = s32[] constant(5)\n"
             "  all = s32[] all-reduce(i), channel_id=2, replica_groups={{0,1,2,3}}, "
             "use_global_device_ids=true, to_apply=addi\n"
             "  ROOT less = pred[] compare(all, n), direction=LT\n}\n"
             "ENTRY e {\n  x = f32[256,1024] parameter(0)\n  zero = s32[] constant(0)\n"
             "  s = (s32[], f32[256,1024]) tuple(zero, x)\n"
             "  loop = (s32[], f32[256,1024]) while(s), condition=condition, body=body\n"
             "  y = f32[256,1024] get-tuple-element(loop), index=1\n"
             "  s2 = (s32[], f32[256,1024]) tuple(zero, y)\n"
             "  other = (s32[], f32[256,1024]) while(s2), condition=asks, body=body2\n"
             "  ROOT y2 = f32[256,1024] get-tuple-element(other), index=1\n}\n");
  const std::vector<Cost> costs = count_cost(module);
  const StepTimes times(module, v5e());
  const auto all = times.collectives();
  ASSERT_EQ(all.size(), 2U);
  double sum = 0;
  for (const CollectiveTime& one : all) sum += one.exposed * costs[one.id.value].runs;
  EXPECT_NEAR(times.along(module.entry).exposed(), sum, 1e-12);
}

// What an async-start wraps is a collective once, and hides as others do.
TEST(StepTimes, AWrappedCollectiveCountsWhereItIsStarted) {
  const Module module =
      parsed(head +
             "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }\n"
             "wrapped { p = f32[1024,1024] parameter(0)\n"
             "  ROOT r = f32[256,1024] reduce-scatter(p), channel_id=1, "
             "replica_groups={{0,1,2,3}}, dimensions={0}, use_global_device_ids=true, "
             "to_apply=add\n}\n"
             "ENTRY e {\n  x = bf16[8192,8192] parameter(0)\n  w = f32[1024,1024] parameter(1)\n"
             "  begin = ((f32[1024,1024]), f32[256,1024], u32[]) async-start(w), calls=wrapped\n"
             "  y = bf16[8192,8192] dot(x, x), lhs_contracting_dims={1}, "
             "rhs_contracting_dims={0}\n"
             "  end = f32[256,1024] async-done(begin), calls=wrapped\n"
             "  ROOT z = (bf16[8192,8192], f32[256,1024]) tuple(y, end)\n}\n");
  const StepTimes times(module, v5e());
  const auto all = times.collectives();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(module[all[0].id].name, "begin");
  EXPECT_EQ(all[0].exposed, 0);
  EXPECT_EQ(times.along(module.entry).exposed(), 0);
}

// A TPU module whose gathers go on inside products: the first is exposed, the others are not.
TEST(StepTimes, ReadsGathersInsideProducts) {
  std::ifstream file(HILO_SHARED "/seeds/002_915eaf8d7a870eb5.txt");
  if (!file) GTEST_SKIP() << "no seeds";
  std::stringstream text;
  text << file.rdbuf();
  const Module module = parsed(text.str());
  const StepTimes times(module, *find_machine("v5p"));
  const auto all = times.collectives();
  ASSERT_EQ(all.size(), 3U);
  const CollectiveTime* first = find_time(module, all, "all-gather.30");
  ASSERT_TRUE(first);
  EXPECT_DOUBLE_EQ(first->exposed, first->seconds);
  for (const char* name : {"async-collective-start", "async-collective-start.1"}) {
    const CollectiveTime* one = find_time(module, all, name);
    ASSERT_TRUE(one) << name;
    EXPECT_EQ(one->exposed, 0) << name;
    EXPECT_GT(one->seconds, 0) << name;
    ASSERT_FALSE(one->behind.empty()) << name;
    EXPECT_TRUE(module[one->behind[0].first].name.starts_with("fusion.1")) << name;
  }
}

}  // namespace
}  // namespace hilo
