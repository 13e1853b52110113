// All-gathers of which a device takes a part.
#include "devices.h"

namespace hilo::test {
namespace {

constexpr std::string_view passes = "(device-slice-hoister, all-gather-slicer, dce)*";

// f32[4,6] gathered to [16,6] over four devices; `start`s by a table for each of two dimensions.
std::string sliced(const char* rows, const char* columns, const char* sizes) {
  return module_text(
      4, fmt::format("  x = f32[4,6] parameter(0)\n"
                     "  g = f32[16,6] all-gather(x), channel_id=1, replica_groups={{{{0,1,2,3}}}}, "
                     "dimensions={{0}}, use_global_device_ids=true\n  id = u32[] partition-id()\n"
                     "  t = s32[4] constant({})\n  u = s32[4] constant({})\n"
                     "  p = s32[1] dynamic-slice(t, id), dynamic_slice_sizes={{1}}\n"
                     "  q = s32[1] dynamic-slice(u, id), dynamic_slice_sizes={{1}}\n"
                     "  a = s32[] reshape(p)\n  b = s32[] reshape(q)\n"
                     "  ROOT d = f32[{}] dynamic-slice(g, a, b), dynamic_slice_sizes={{{}}}\n",
                     rows, columns, sizes, sizes));
}

struct Case {
  const char *rows, *columns, *sizes;
  double bytes;
};

TEST(SliceGathers, BytesOfWhatIsTaken) {
  const Case cases[] = {
      {"{0, 4, 8, 12}", "{0, 0, 0, 0}", "4,6", 0},     // its own
      {"{1, 5, 9, 13}", "{0, 1, 2, 3}", "2,2", 0},     // a part of its own
      {"{4, 8, 12, 0}", "{0, 0, 0, 0}", "4,6", 96},    // its neighbour's
      {"{5, 8, 14, 0}", "{0, 0, 0, 0}", "2,6", 48},    // a part of its neighbour's
      {"{0, 0, 8, 8}", "{0, 0, 0, 0}", "8,6", 96},     // those of two
      {"{0, 0, 0, 0}", "{2, 2, 2, 2}", "16,3", 144},   // columns that are the same for all
      {"{0, 0, 0, 0}", "{0, 0, 2, 2}", "16,3", 288},   // columns that differ: as it was
      {"{0, 4, 4, 12}", "{0, 0, 0, 0}", "4,6", 288}};  // two need one device's
  for (const Case& one : cases) {
    const Rewritten done = rewritten(sliced(one.rows, one.columns, one.sizes), passes, 4);
    EXPECT_EQ(done.bytes_before, 288);
    EXPECT_EQ(done.bytes_after, one.bytes) << one.rows << one.columns << print(done.after);
  }
}

TEST(SliceGathers, AnotherDimensionByPosition) {
  for (const int dim : {0, 1, 2}) {
    for (const int other : {0, 1, 2}) {
      if (dim == other) continue;
      Dims local = {4, 4, 4}, whole = local, part;
      whole[static_cast<size_t>(dim)] *= 4;
      part = whole;
      part[static_cast<size_t>(other)] = 1;
      std::string starts;
      for (int d = 0; d < 3; ++d) starts += d == other ? ", i" : ", zero";
      const auto list = [](const Dims& dims) { return fmt::format("{}", fmt::join(dims, ",")); };
      const Rewritten done = rewritten(
          module_text(
              4, fmt::format("  x = s32[{}] parameter(0)\n"
                             "  g = s32[{}] all-gather(x), channel_id=1, "
                             "replica_groups={{{{3,1,2,0}}}}, dimensions={{{}}}, "
                             "use_global_device_ids=true\n  id = u32[] partition-id()\n"
                             "  zero = s32[] constant(0)\n  t = s32[4] constant({{3, 1, 2, 0}})\n"
                             "  p = s32[1] dynamic-slice(t, id), dynamic_slice_sizes={{1}}\n"
                             "  i = s32[] reshape(p)\n"
                             "  ROOT d = s32[{}] dynamic-slice(g{}), dynamic_slice_sizes={{{}}}\n",
                             list(local), list(whole), dim, list(part), starts, list(part))),
          passes, 4);
      EXPECT_EQ(count_op(done.after, Op::AllToAll), 1);
      EXPECT_EQ(done.bytes_after * 4, done.bytes_before);
    }
  }
}

TEST(SliceGathers, OwnPartWhereOthersNeedAll) {
  const Rewritten done = rewritten(
      module_text(4,
                  "  x = f32[4,6] parameter(0)\n"
                  "  g = f32[16,6] all-gather(x), channel_id=1, replica_groups={{0,1,2,3}}, "
                  "dimensions={0}, use_global_device_ids=true\n  id = u32[] partition-id()\n"
                  "  i = s32[] convert(id)\n  four = s32[] constant(4)\n"
                  "  a = s32[] multiply(i, four)\n  zero = s32[] constant(0)\n"
                  "  d = f32[4,6] dynamic-slice(g, a, zero), dynamic_slice_sizes={4,6}\n"
                  "  ROOT t = (f32[16,6], f32[4,6]) tuple(g, d)\n"),
      passes, 4);
  EXPECT_EQ(count_op(done.after, Op::DynamicSlice), 0);
  EXPECT_EQ(count_op(done.after, Op::AllGather), 1);
}

// The slice goes through what keeps the sliced dimension: only rows of its own are multiplied.
TEST(SliceGathers, ThroughProductsSortsAndTransforms) {
  const char* ops[] = {
      "  w = f32[6,3] parameter(1)\n  f = f32[16,3] dot(g, w), lhs_contracting_dims={1}, "
      "rhs_contracting_dims={0}\n",
      "  f = f32[16,3] slice(g), slice={[0:16], [1:4]}\n",
      "  n = (f32[16,3], s32[16,3]) topk(g), k=3, largest=true\n"
      "  f = f32[16,3] get-tuple-element(n), index=0\n",
      "  n = c64[16,4] fft(g), fft_type=RFFT, fft_length={6}\n  r = f32[16,4] real(n)\n"
      "  f = f32[16,3] slice(r), slice={[0:16], [0:3]}\n"};
  for (const char* op : ops) {
    const Rewritten done = rewritten(
        module_text(4, fmt::format("  x = f32[4,6] parameter(0)\n"
                                   "  g = f32[16,6] all-gather(x), channel_id=1, "
                                   "replica_groups={{{{0,1,2,3}}}}, dimensions={{0}}, "
                                   "use_global_device_ids=true\n{}  id = u32[] partition-id()\n"
                                   "  i = s32[] convert(id)\n  four = s32[] constant(4)\n"
                                   "  a = s32[] multiply(i, four)\n  zero = s32[] constant(0)\n"
                                   "  ROOT d = f32[4,3] dynamic-slice(f, a, zero), "
                                   "dynamic_slice_sizes={{4,3}}\n",
                                   op)),
        passes, 4);
    EXPECT_EQ(done.bytes_after, 0) << print(done.after);
  }
}

}  // namespace
}  // namespace hilo::test
