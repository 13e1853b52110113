// What devices send where data choose elements: parts of slices and rows, never tables.
#include "partition_judge.h"

namespace hilo::test {
namespace {

struct SentCase {
  std::string_view name, entry;
  double bytes;  // of one device
  std::string_view callee = "";
};

constexpr std::string_view add =
    "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n";
constexpr std::string_view greatest =
    "best {\n  a = f32[] parameter(0)\n  i = s32[] parameter(1)\n  b = f32[] parameter(2)\n"
    "  j = s32[] parameter(3)\n  g = pred[] compare(a, b), direction=GT\n"
    "  v = f32[] select(g, a, b)\n  w = s32[] select(g, i, j)\n"
    "  ROOT t = (f32[], s32[]) tuple(v, w)\n}\n";

const SentCase cases[] = {
    {"an update is written where it lies",
     "  p = f32[64,8] parameter(0), sharding={devices=[4,1]<=[4]}\n"
     "  u = f32[24,8] parameter(1), sharding={replicated}\n"
     "  i = s32[] parameter(2), sharding={replicated}\n  z = s32[] constant(0)\n"
     "  ROOT r = f32[64,8] dynamic-update-slice(p, u, i, z), sharding={devices=[4,1]<=[4]}\n",
     0},
    {"of a slice the parts are added up",
     "  p = f32[8,16,16] parameter(0), sharding={devices=[4,1,1]<=[4]}\n"
     "  i = s32[] parameter(1), sharding={replicated}\n  z = s32[] constant(0)\n"
     "  ROOT r = f32[1,16,16] dynamic-slice(p, i, z, z), dynamic_slice_sizes={1,16,16}, "
     "sharding={replicated}\n",
     2 * 1024 * 3 / 4},
    {"a device keeps its part of the sum of gathered rows",
     "  p = f32[512,32] parameter(0), sharding={devices=[4,1]<=[4]}\n"
     "  i = s32[16] parameter(1), sharding={replicated}\n"
     "  ROOT r = f32[16,32] gather(p, i), offset_dims={1}, collapsed_slice_dims={0}, "
     "start_index_map={0}, index_vector_dim=1, slice_sizes={1,32}, "
     "sharding={devices=[4,1]<=[4]}\n",
     16 * 32 * 4 * 3 / 4},
    {"a small table is gathered instead",
     "  p = f32[8,32] parameter(0), sharding={devices=[4,1]<=[4]}\n"
     "  i = s32[64] parameter(1), sharding={replicated}\n"
     "  ROOT r = f32[64,32] gather(p, i), offset_dims={1}, collapsed_slice_dims={0}, "
     "start_index_map={0}, index_vector_dim=1, slice_sizes={1,32}, sharding={replicated}\n",
     8 * 32 * 4 * 3 / 4},
    {"indices that count along a dimension stay with its tiles",
     "  p = f32[8,64] parameter(0), sharding={devices=[4,1]<=[4]}\n"
     "  k = s32[8,5,1] parameter(1), sharding={devices=[4,1,1]<=[4]}\n"
     "  n = s32[8] iota(), iota_dimension=0\n"
     "  b = s32[8,5,1] broadcast(n), dimensions={0}, sharding={devices=[4,1,1]<=[4]}\n"
     "  i = s32[8,5,2] concatenate(b, k), dimensions={2}, sharding={devices=[4,1,1]<=[4]}\n"
     "  ROOT r = f32[8,5] gather(p, i), offset_dims={}, collapsed_slice_dims={0,1}, "
     "start_index_map={0,1}, index_vector_dim=2, slice_sizes={1,1}, "
     "sharding={devices=[4,1]<=[4]}\n",
     0},
    {"updates of other tiles are dropped",
     "  p = f32[64,8] parameter(0), sharding={devices=[4,1]<=[4]}\n"
     "  i = s32[16,1] parameter(1), sharding={replicated}\n"
     "  u = f32[16,8] parameter(2), sharding={replicated}\n"
     "  ROOT r = f32[64,8] scatter(p, i, u), update_window_dims={1}, inserted_window_dims={0}, "
     "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add, "
     "sharding={devices=[4,1]<=[4]}\n",
     0, add},
    {"of sharded updates each device keeps its part of the sum",
     "  p = f32[8,8] parameter(0), sharding={devices=[4,1]<=[4]}\n"
     "  i = s32[128,1] parameter(1), sharding={devices=[4,1]<=[4]}\n"
     "  u = f32[128,8] parameter(2), sharding={devices=[4,1]<=[4]}\n"
     "  ROOT r = f32[8,8] scatter(p, i, u), update_window_dims={1}, inserted_window_dims={0}, "
     "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add, "
     "sharding={devices=[4,1]<=[4]}\n",
     8 * 8 * 4 * 3 / 4, add},
    {"topk sends what each device found",
     "  p = f32[2,64] parameter(0), sharding={devices=[1,4]<=[4]}\n"
     "  ROOT r = (f32[2,3], s32[2,3]) topk(p), k=3, largest=true, "
     "sharding={{replicated}, {replicated}}\n",
     2 * 3 * (4 + 4) * 3},
    {"parts of any reduction are reduced again",
     "  p = f32[4,64] parameter(0), sharding={devices=[1,4]<=[4]}\n"
     "  i = s32[4,64] iota(), iota_dimension=1, sharding={devices=[1,4]<=[4]}\n"
     "  low = f32[] constant(-inf)\n  none = s32[] constant(0)\n"
     "  ROOT r = (f32[4], s32[4]) reduce(p, i, low, none), dimensions={1}, to_apply=best, "
     "sharding={{replicated}, {replicated}}\n",
     4 * (4 + 4) * 3, greatest},
    {"tiles move between transformed dimensions",
     "  p = c64[16,16] parameter(0), sharding={devices=[4,1]<=[4]}\n"
     "  ROOT r = c64[16,16] fft(p), fft_type=FFT, fft_length={16,16}, "
     "sharding={devices=[1,4]<=[4]}\n",
     16 * 16 / 4 * 8 * 3 / 4},
    {"one transformed dimension goes around three times",
     "  p = c64[1024] parameter(0), sharding={devices=[8]<=[8]}\n"
     "  ROOT r = c64[1024] fft(p), fft_type=FFT, fft_length={1024}, sharding={devices=[8]<=[8]}\n",
     3.0 * 1024 / 8 * 8 * 7 / 8},
    {"what nobody reads stays where it is",
     "  p = f32[8,64] parameter(0), sharding={devices=[1,4]<=[4]}\n"
     "  q = s32[8,64] iota(), iota_dimension=1, sharding={devices=[4,1]<=[4]}\n"
     "  t = (f32[8,64], s32[8,64]) sort(p, q), dimensions={1}, is_stable=true, to_apply=before, "
     "sharding={{devices=[1,4]<=[4]}, {devices=[1,4]<=[4]}}\n"
     "  ROOT r = f32[8,64] get-tuple-element(t), index=0, sharding={devices=[1,4]<=[4]}\n",
     2 * 8 * 16 * 4 * 3 / 4,
     "before {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  i = s32[] parameter(2)\n"
     "  j = s32[] parameter(3)\n  ROOT c = pred[] compare(a, b), direction=LT\n}\n"},
};

TEST(IndexedBytes, PartsNotTables) {
  for (const SentCase& one : cases) {
    const bool is_eight = one.entry.find("[8]<=[8]") != std::string_view::npos;
    auto module = parse(fmt::format("HloModule m, num_partitions={}\n{}ENTRY main {{\n{}}}\n",
                                    is_eight ? 8 : 4, one.callee, one.entry));
    ASSERT_TRUE(module) << one.name << to_string(module.error());
    const auto pipeline = parse_pipeline("spmd-partitioner", all_passes(), all_pipelines());
    const auto ran = run_pipeline(*module, *pipeline, {});
    ASSERT_TRUE(ran) << one.name << to_string(ran.error());
    EXPECT_EQ(count_collectives(*module).bytes, one.bytes) << one.name << print(*module);
  }
}

// What a called computation brings an array to is there for others too, once the call is inlined.
TEST(SharedReshardings, OneInsideOfACall) {
  auto module = parse(R"(HloModule m, num_partitions=4
where {
  c = pred[16,8] parameter(0)
  x = f32[16,8] parameter(1)
  z = f32[] constant(0)
  b = f32[16,8] broadcast(z), dimensions={}
  ROOT s = f32[16,8] select(c, x, b)
}
ENTRY main {
  p = f32[16,8] parameter(0), sharding={devices=[2,2]<=[2,2]T(1,0)}
  o = f32[] constant(1)
  b = f32[16,8] broadcast(o), dimensions={}
  c = pred[16,8] compare(p, b), direction=GT
  w = f32[16,8] call(c, p), to_apply=where
  ROOT r = f32[16,8] copy(w), sharding={devices=[1,4]<=[4]}
})");
  ASSERT_TRUE(module) << to_string(module.error());
  const auto pipeline = parse_pipeline("spmd", all_passes(), all_pipelines());
  const auto ran = run_pipeline(*module, *pipeline, {});
  ASSERT_TRUE(ran) << to_string(ran.error());
  EXPECT_EQ(count_collectives(*module).bytes, 16 * 2 * 4 / 2) << print(*module);
}

}  // namespace
}  // namespace hilo::test
