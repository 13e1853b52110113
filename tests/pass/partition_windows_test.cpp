// Single ops that slide windows, move rows or regroup dimensions, partitioned at random.
#include <gtest/gtest.h>

#include "partition_judge.h"
#include "random_windows.h"

namespace hilo::test {
namespace {

class PartitionWindows : public testing::TestWithParam<std::tuple<WindowedOp, int>> {};

TEST_P(PartitionWindows, DevicesHaveTheirTiles) {
  const auto [kind, seed] = GetParam();
  RandomSharding random(static_cast<uint64_t>(seed));
  Dice dice(static_cast<uint64_t>(seed));
  int checked = 0;
  for (int round = 0; round < 25; ++round) {
    const SharedMesh mesh = random.mesh(Dims{2, 2, 3, 4, 5, 6, 8}, 2, true);
    if (mesh_size(*mesh) > 8) continue;
    const std::string text = random_window_text(kind, dice);
    if (!parse(text) || !verify(parsed(text)).empty()) continue;
    const Sharded program = sharded(text, mesh, random);
    SCOPED_TRACE(print(program.module));
    ASSERT_NO_FATAL_FAILURE(check_partitioned(program, dice));
    if (HasFailure()) return;
    ++checked;
  }
  EXPECT_GT(checked, 2);
}

INSTANTIATE_TEST_SUITE_P(Ops, PartitionWindows,
                         testing::Combine(testing::ValuesIn(all_windowed_ops),
                                          testing::Range(0, 6)));

// Rows and the holes behind them are two factors of the result's dimension.
TEST(PartitionPads, HolesAreNoTilesOfTheirOwn) {
  const auto x = std::make_shared<const Mesh>(Mesh{{{"x", 4}}, {}, {}});
  AxisSharding rows = replicated_sharding(x, 2), all = rows;
  rows.dims[0].axes = {{0, 1, 2}};
  all.dims[0].axes = {{0, 1, 4}};
  Sharded program{parsed(R"(HloModule m, num_partitions=4
ENTRY e {
  a = f32[2,8] parameter(0), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
  z = f32[] constant(1)
  ROOT p = f32[4,8] pad(a, z), padding=0_1_1x0_0, sharding={devices=[4,1]<=[4]}
}
)"),
                  {rows},
                  {all}};
  Dice dice(1);
  check_partitioned(program, dice);
}

}  // namespace
}  // namespace hilo::test
