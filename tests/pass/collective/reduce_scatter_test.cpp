// All-reduces of which each device takes a slice.
#include "devices.h"

namespace hilo::test {
namespace {

constexpr std::string_view passes = "(device-slice-hoister, reduce-scatter-creator, dce)*";
constexpr std::string_view over_4 =
    "channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=add";

// x[16,6] over four devices, reduced; `lines` make `start`, at which 4 rows are taken.
std::string sliced(const std::string& lines, std::string_view attributes = over_4) {
  return module_text(4, fmt::format("  x = f32[16,6] parameter(0)\n"
                                    "  r = f32[16,6] all-reduce(x), {}\n"
                                    "  zero = s32[] constant(0)\n  id = u32[] partition-id()\n{}"
                                    "  ROOT d = f32[4,6] dynamic-slice(r, start, zero), "
                                    "dynamic_slice_sizes={{4,6}}\n",
                                    attributes, lines));
}

void expect_half(const std::string& text, int64_t devices = 4) {
  const Rewritten one = rewritten(text, passes, devices);
  EXPECT_EQ(count_op(one.after, Op::AllReduce), 0) << print(one.after);
  EXPECT_EQ(count_op(one.after, Op::ReduceScatter), 1);
  EXPECT_EQ(one.bytes_after * 2, one.bytes_before);
}

TEST(ReduceScatter, TableByPartition) {
  expect_half(
      sliced("  t = s32[4] constant({0, 4, 8, 12})\n"
             "  p = s32[1] dynamic-slice(t, id), dynamic_slice_sizes={1}\n"
             "  start = s32[] reshape(p)\n"));
}

TEST(ReduceScatter, Arithmetic) {
  expect_half(
      sliced("  i = s32[] convert(id)\n  four = s32[] constant(4)\n  two = s32[] constant(2)\n"
             "  h = s32[] divide(i, two)\n  l = s32[] remainder(i, two)\n"
             "  hh = s32[] multiply(h, two)\n  n = s32[] add(hh, l)\n"
             "  start = s32[] multiply(n, four)\n"));
}

TEST(ReduceScatter, TableOfTable) {
  expect_half(
      sliced("  t = s32[4] constant({0, 4, 8, 12})\n  u = u32[4] constant({0, 1, 2, 3})\n"
             "  a = u32[1] dynamic-slice(u, id), dynamic_slice_sizes={1}\n  b = u32[] reshape(a)\n"
             "  p = s32[1] dynamic-slice(t, b), dynamic_slice_sizes={1}\n"
             "  start = s32[] reshape(p)\n"));
}

TEST(ReduceScatter, ClampedStart) {  // the last device's start is clamped to 12
  expect_half(
      sliced("  t = s32[4] constant({-3, 4, 8, 99})\n"
             "  p = s32[1] dynamic-slice(t, id), dynamic_slice_sizes={1}\n"
             "  start = s32[] reshape(p)\n"));
}

TEST(ReduceScatter, OtherOrderOfDevices) {
  const Rewritten one =
      rewritten(sliced("  t = s32[4] constant({8, 0, 12, 4})\n"
                       "  p = s32[1] dynamic-slice(t, id), dynamic_slice_sizes={1}\n"
                       "  start = s32[] reshape(p)\n"),
                passes, 4);
  EXPECT_EQ(count_op(one.after, Op::ReduceScatter), 1);
  EXPECT_EQ(one.bytes_after * 2, one.bytes_before);
}

TEST(ReduceScatter, OtherOrderChangesBits) {
  PipelineOptions options;
  options.pass.rewrite.keeps = Keeps::Bits;
  const Rewritten one =
      rewritten(sliced("  t = s32[4] constant({8, 0, 12, 4})\n"
                       "  p = s32[1] dynamic-slice(t, id), dynamic_slice_sizes={1}\n"
                       "  start = s32[] reshape(p)\n"),
                passes, 4, options);
  EXPECT_EQ(count_op(one.after, Op::ReduceScatter), 0);
}

TEST(ReduceScatter, SameOrderKeepsBits) {
  PipelineOptions options;
  options.pass.rewrite.keeps = Keeps::Bits;
  const Rewritten one =
      rewritten(sliced("  t = s32[4] constant({0, 4, 8, 12})\n"
                       "  p = s32[1] dynamic-slice(t, id), dynamic_slice_sizes={1}\n"
                       "  start = s32[] reshape(p)\n"),
                passes, 4, options);
  EXPECT_EQ(count_op(one.after, Op::ReduceScatter), 1);
}

TEST(ReduceScatter, DataDecide) {
  const Rewritten one = rewritten(
      module_text(4, fmt::format("  x = f32[16,6] parameter(0)\n  start = s32[] parameter(1)\n"
                                 "  r = f32[16,6] all-reduce(x), {}\n  zero = s32[] constant(0)\n"
                                 "  ROOT d = f32[4,6] dynamic-slice(r, start, zero), "
                                 "dynamic_slice_sizes={{4,6}}\n",
                                 over_4)),
      passes, 4);
  EXPECT_EQ(count_op(one.after, Op::ReduceScatter), 0);
}

// All-reduce over 8, of which each takes a quarter: a reduce-scatter over 4, all-reduce over 2.
TEST(ReduceScatter, SomeMembersTakeTheSame) {
  const Rewritten one = rewritten(
      module_text(8,
                  "  x = s32[16,6] parameter(0)\n"
                  "  r = s32[16,6] all-reduce(x), channel_id=1, replica_groups=[1,8]<=[8], "
                  "use_global_device_ids=true, to_apply=addi\n"
                  "  zero = s32[] constant(0)\n  id = u32[] partition-id()\n"
                  "  i = s32[] convert(id)\n  two = s32[] constant(2)\n  four = s32[] constant(4)\n"
                  "  h = s32[] divide(i, two)\n  start = s32[] multiply(h, four)\n"
                  "  ROOT d = s32[4,6] dynamic-slice(r, start, zero), "
                  "dynamic_slice_sizes={4,6}\n"),
      passes, 8);
  EXPECT_EQ(count_op(one.after, Op::ReduceScatter), 1);
  EXPECT_EQ(count_op(one.after, Op::AllReduce), 1);
  EXPECT_EQ(one.bytes_before, 2 * 384 * 7.0 / 8);
  EXPECT_EQ(one.bytes_after, 384 * 3.0 / 4 + 96);
}

// All members of a group take the same: less is reduced.
TEST(ReduceScatter, GroupTakesTheSame) {
  const Rewritten one =
      rewritten(sliced("  t = s32[4] constant({0, 0, 4, 4})\n"
                       "  p = s32[1] dynamic-slice(t, id), dynamic_slice_sizes={1}\n"
                       "  start = s32[] reshape(p)\n",
                       "channel_id=1, replica_groups={{0,1},{2,3}}, use_global_device_ids=true, "
                       "to_apply=add"),
                passes, 4);
  EXPECT_EQ(one.bytes_after * 4, one.bytes_before);
}

// Groups of two take eight rows together, of which each takes four.
TEST(ReduceScatter, GroupTakesSomeRows) {
  for (const char* table : {"{0, 4, 8, 12}", "{0, 8, 4, 12}", "{12, 3, 0, 7}"}) {
    const Rewritten one = rewritten(
        sliced(fmt::format("  t = s32[4] constant({})\n"
                           "  p = s32[1] dynamic-slice(t, id), dynamic_slice_sizes={{1}}\n"
                           "  start = s32[] reshape(p)\n",
                           table),
               "channel_id=1, replica_groups={{0,1},{2,3}}, use_global_device_ids=true, "
               "to_apply=add"),
        passes, 4);
    EXPECT_EQ(count_op(one.after, Op::ReduceScatter), 1) << table;
    EXPECT_EQ(one.bytes_after * 4, one.bytes_before) << table;
  }
}

TEST(ReduceScatter, TwoDimensions) {
  const Rewritten one = rewritten(
      module_text(4,
                  "  x = f32[16,6] parameter(0)\n"
                  "  r = f32[16,6] all-reduce(x), channel_id=1, replica_groups={{0,1,2,3}}, "
                  "use_global_device_ids=true, to_apply=add\n"
                  "  id = u32[] partition-id()\n"
                  "  t = s32[4] constant({0, 0, 8, 8})\n  u = s32[4] constant({0, 3, 0, 3})\n"
                  "  p = s32[1] dynamic-slice(t, id), dynamic_slice_sizes={1}\n"
                  "  q = s32[1] dynamic-slice(u, id), dynamic_slice_sizes={1}\n"
                  "  a = s32[] reshape(p)\n  b = s32[] reshape(q)\n"
                  "  ROOT d = f32[8,3] dynamic-slice(r, a, b), dynamic_slice_sizes={8,3}\n"),
      passes, 4);
  EXPECT_EQ(count_op(one.after, Op::AllReduce), 0);
  EXPECT_EQ(one.bytes_after * 2, one.bytes_before);
}

TEST(ReduceScatter, UnevenTiles) {  // ten rows in tiles of three, the last one clamped
  const Rewritten one = rewritten(
      module_text(4,
                  "  x = f32[10] parameter(0)\n"
                  "  r = f32[10] all-reduce(x), channel_id=1, replica_groups={{0,1,2,3}}, "
                  "use_global_device_ids=true, to_apply=add\n  id = u32[] partition-id()\n"
                  "  i = s32[] convert(id)\n  three = s32[] constant(3)\n"
                  "  start = s32[] multiply(i, three)\n"
                  "  ROOT d = f32[3] dynamic-slice(r, start), dynamic_slice_sizes={3}\n"),
      passes, 4);
  EXPECT_EQ(one.bytes_before, 60);
  EXPECT_EQ(one.bytes_after, 36);
}

// The slice goes through what stands between, and what else goes in is sliced too.
TEST(ReduceScatter, ThroughOtherOps) {
  expect_half(
      module_text(4, fmt::format("  x = f32[16,6] parameter(0)\n  y = f32[6,16] parameter(1)\n"
                                 "  r = f32[16,6] all-reduce(x), {}\n"
                                 "  t = f32[6,16] transpose(r), dimensions={{1,0}}\n"
                                 "  e = f32[6,16] exponential(t)\n"
                                 "  m = f32[6,16] multiply(e, y)\n"
                                 "  s = f32[3,2,16] reshape(m)\n"
                                 "  zero = s32[] constant(0)\n  id = u32[] partition-id()\n"
                                 "  i = s32[] convert(id)\n  four = s32[] constant(4)\n"
                                 "  start = s32[] multiply(i, four)\n"
                                 "  ROOT d = f32[3,2,4] dynamic-slice(s, zero, zero, start), "
                                 "dynamic_slice_sizes={{3,2,4}}\n",
                                 over_4)));
}

TEST(ReduceScatter, ThroughReshapesThatSplitAndJoin) {
  for (const char* shape : {"f32[16,3,2]", "f32[8,2,6]", "f32[96]", "f32[2,8,6]"}) {
    const Module probe =
        parsed(fmt::format("HloModule p\nENTRY e {{ ROOT p = {} parameter(0) }}\n", shape));
    Dims dims = probe.shape(probe[probe.entry].root).dims;
    const int64_t part = dims[0] / 4;
    if (part == 0) continue;  // two rows over four devices
    std::string sizes = std::to_string(part), zeros;
    for (size_t i = 1; i < dims.size(); ++i)
      sizes += "," + std::to_string(dims[i]), zeros += ", zero";
    expect_half(module_text(
        4, fmt::format("  x = f32[16,6] parameter(0)\n  r = f32[16,6] all-reduce(x), {}\n"
                       "  s = {} reshape(r)\n"
                       "  zero = s32[] constant(0)\n  id = u32[] partition-id()\n"
                       "  i = s32[] convert(id)\n  n = s32[] constant({})\n"
                       "  start = s32[] multiply(i, n)\n"
                       "  ROOT d = f32[{}] dynamic-slice(s, start{}), dynamic_slice_sizes={{{}}}\n",
                       over_4, shape, part, sizes, zeros, sizes)));
  }
}

TEST(ReduceScatter, InLoopsWithStartsFromOutside) {
  const std::string loop =
      "body {\n  s = (s32[], f32[16,6], s32[]) parameter(0)\n"
      "  i = s32[] get-tuple-element(s), index=0\n"
      "  x = f32[16,6] get-tuple-element(s), index=1\n"
      "  start = s32[] get-tuple-element(s), index=2\n  one = s32[] constant(1)\n"
      "  n = s32[] add(i, one)\n  zero = s32[] constant(0)\n"
      "  r = f32[16,6] all-reduce(x), channel_id=1, replica_groups={{0,1,2,3}}, "
      "use_global_device_ids=true, to_apply=add\n"
      "  d = f32[4,6] dynamic-slice(r, start, zero), dynamic_slice_sizes={4,6}\n"
      "  u = f32[16,6] dynamic-update-slice(x, d, start, zero)\n"
      "  ROOT t = (s32[], f32[16,6], s32[]) tuple(n, u, start)\n}\n"
      "cond {\n  s = (s32[], f32[16,6], s32[]) parameter(0)\n"
      "  i = s32[] get-tuple-element(s), index=0\n  three = s32[] constant(3)\n"
      "  ROOT c = pred[] compare(i, three), direction=LT\n}\n";
  expect_half(module_text(4,
                          "  x = f32[16,6] parameter(0)\n  zero = s32[] constant(0)\n"
                          "  id = u32[] partition-id()\n  i = s32[] convert(id)\n"
                          "  four = s32[] constant(4)\n  start = s32[] multiply(i, four)\n"
                          "  t = (s32[], f32[16,6], s32[]) tuple(zero, x, start)\n"
                          "  w = (s32[], f32[16,6], s32[]) while(t), condition=cond, body=body\n"
                          "  ROOT d = f32[16,6] get-tuple-element(w), index=1\n",
                          loop));
}

TEST(ReduceScatter, NotWhereTheWholeIsUsed) {
  const Rewritten one = rewritten(
      module_text(4, fmt::format("  x = f32[16,6] parameter(0)\n"
                                 "  r = f32[16,6] all-reduce(x), {}\n  zero = s32[] constant(0)\n"
                                 "  id = u32[] partition-id()\n  i = s32[] convert(id)\n"
                                 "  four = s32[] constant(4)\n  start = s32[] multiply(i, four)\n"
                                 "  d = f32[4,6] dynamic-slice(r, start, zero), "
                                 "dynamic_slice_sizes={{4,6}}\n"
                                 "  ROOT t = (f32[16,6], f32[4,6]) tuple(r, d)\n",
                                 over_4)),
      passes, 4);
  EXPECT_EQ(one.bytes_after, one.bytes_before);
}

}  // namespace
}  // namespace hilo::test
