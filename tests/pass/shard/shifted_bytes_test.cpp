// What devices send where rows are moved along a dimension, and what they do not do beside.
#include "partition_judge.h"

namespace hilo::test {
namespace {

struct ShiftCase {
  std::string_view name, text;
  double bytes;           // of one device
  std::string_view none;  // an op that the local program does not have
};

const ShiftCase cases[] = {
    {"a roll is one exchange of the rows that pass a border",
     "  p = f32[16,8] parameter(0), sharding={devices=[1,2,2]<=[4] last_tile_dim_replicate}\n"
     "  s = f32[16,3] slice(p), slice={[0:16], [5:8]}, sharding={devices=[1,2,2]<=[4] "
     "last_tile_dim_replicate}\n"
     "  t = f32[16,5] slice(p), slice={[0:16], [0:5]}, sharding={devices=[1,2,2]<=[4] "
     "last_tile_dim_replicate}\n"
     "  ROOT r = f32[16,8] concatenate(s, t), dimensions={1}, sharding={devices=[1,2,2]<=[4] "
     "last_tile_dim_replicate}\n",
     16 * 3 * 4, "all-gather"},
    {"a roll by nothing along a whole dimension",
     "  p = f32[16,8] parameter(0), sharding={devices=[4,1]<=[4]}\n"
     "  s = f32[16,0] slice(p), slice={[0:16], [8:8]}\n"
     "  t = f32[16,8] slice(p), slice={[0:16], [0:8]}\n"
     "  ROOT r = f32[16,8] concatenate(s, t), dimensions={1}, sharding={devices=[4,1]<=[4]}\n",
     0, "all-gather"},
    {"a roll by nothing along the dimension that is cut",
     "  p = f32[16,8] parameter(0), sharding={devices=[4,1]<=[4]}\n"
     "  s = f32[0,8] slice(p), slice={[16:16], [0:8]}\n"
     "  t = f32[16,8] slice(p), slice={[0:16], [0:8]}\n"
     "  c = f32[16,8] concatenate(s, t), dimensions={0}\n"
     "  ROOT r = f32[16,8] negate(c), sharding={devices=[4,1]<=[4]}\n",
     0, "all-gather"},
    {"where a reversed array is wanted whole it is gathered, and reversed then",
     "  p = f32[16,8] parameter(0), sharding={devices=[1,4]<=[4]}\n"
     "  q = f32[16,8] reverse(p), dimensions={0,1}\n"
     "  ROOT r = f32[16,8] copy(q), sharding={replicated}\n",
     16 * 8 * 4 * 3 / 4, "collective-permute"},
    {"windows that end with the tile",
     "  p = f32[4,16,8] parameter(0), sharding={devices=[1,4,1]<=[4]}\n"
     "  q = f32[4,8,4] parameter(1), sharding={devices=[1,4,1]<=[4]}\n  z = f32[] constant(0)\n"
     "  ROOT r = f32[4,16,8] select-and-scatter(p, q, z), window={size=1x2x2 stride=1x2x2}, "
     "select=ge, scatter=add, sharding={devices=[1,4,1]<=[4]}\n",
     0, "dynamic-slice"},
};

constexpr std::string_view callees =
    "ge {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
    "  ROOT c = pred[] compare(a, b), direction=GE\n}\n"
    "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n";

Module partitioned(std::string_view entry) {
  auto module =
      parse(fmt::format("HloModule m, num_partitions=4\n{}ENTRY main {{\n{}}}\n", callees, entry));
  EXPECT_TRUE(module) << to_string(module.error());
  const auto pipeline =
      parse_pipeline("sharding-propagation,spmd-partitioner", all_passes(), all_pipelines());
  const auto ran = run_pipeline(*module, *pipeline, {});
  EXPECT_TRUE(ran) << to_string(ran.error());
  return *std::move(module);
}

TEST(ShiftedBytes, RowsThatPassABorder) {
  for (const ShiftCase& one : cases) {
    const Module module = partitioned(one.text);
    EXPECT_EQ(count_collectives(module).bytes, one.bytes) << one.name << print(module);
    EXPECT_EQ(print(module).find(fmt::format(" {}(", one.none)), std::string::npos)
        << one.name << print(module);
  }
}

TEST(ShiftedBytes, SlicesOfSlicesAreOne) {
  const Module module = partitioned(
      "  p = f32[16,8] parameter(0), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}\n"
      "  ROOT r = f32[8,3] slice(p), slice={[0:16:2], [1:8:3]}, sharding={devices=[2,1,2]<=[4] "
      "last_tile_dim_replicate}\n");
  const std::string text = print(module);
  EXPECT_NE(text.find("slice={[0:7:2], [1:8:3]}"), std::string::npos) << text;
}

}  // namespace
}  // namespace hilo::test
