// Batch norms and products of ragged and scaled operands, partitioned at random.
#include <gtest/gtest.h>

#include "partition_judge.h"

namespace hilo::test {
namespace {

void check_rounds(int seed, double tolerance, const std::function<std::string(Dice&)>& text) {
  RandomSharding random(static_cast<uint64_t>(seed));
  Dice dice(static_cast<uint64_t>(seed));
  int checked = 0;
  for (int round = 0; round < 20; ++round) {
    const SharedMesh mesh = random.mesh(Dims{2, 2, 3, 4, 6, 8}, 2, true);
    if (mesh_size(*mesh) > 8) continue;
    const Sharded program = sharded(text(dice), mesh, random);
    SCOPED_TRACE(print(program.module));
    ASSERT_NO_FATAL_FAILURE(check_partitioned(program, dice, tolerance));
    if (testing::Test::HasFailure()) return;
    ++checked;
  }
  EXPECT_GT(checked, 2);
}

std::string module_text(const std::string& entry) {
  return "HloModule m\nENTRY main {\n" + entry + "}\n";
}

class PartitionNorms : public testing::TestWithParam<int> {};

TEST_P(PartitionNorms, TrainingSumsOverTheDevices) {
  check_rounds(GetParam(), 1e-5, [](Dice& dice) {
    const int64_t n = 2 + dice.below(9), h = 1 + dice.below(6), c = 1 + dice.below(6);
    return module_text(fmt::format(
        " x = f32[{0},{1},{2}] parameter(0)\n s = f32[{2}] parameter(1)\n o = f32[{2}] "
        "parameter(2)\n ROOT b = (f32[{0},{1},{2}], f32[{2}], f32[{2}]) batch-norm-training(x, s, "
        "o), epsilon=0.125, feature_index=2\n",
        n, h, c));
  });
}

TEST_P(PartitionNorms, GradientSumsOverTheDevices) {
  check_rounds(GetParam(), 1e-5, [](Dice& dice) {
    const int64_t n = 2 + dice.below(9), h = 1 + dice.below(6), c = 1 + dice.below(6);
    return module_text(fmt::format(
        " x = f32[{0},{2},{1}] parameter(0)\n s = f32[{2}] parameter(1)\n m = f32[{2}] "
        "parameter(2)\n p = f32[{2}] parameter(3)\n v = f32[{2}] multiply(p, p)\n d = "
        "f32[{0},{2},{1}] parameter(4)\n ROOT b = (f32[{0},{2},{1}], f32[{2}], f32[{2}]) "
        "batch-norm-grad(x, s, m, v, d), epsilon=0.125, feature_index=1\n",
        n, h, c));
  });
}

TEST_P(PartitionNorms, RaggedRowsKeepTheirGroups) {
  check_rounds(GetParam(), 0, [](Dice& dice) {
    const int64_t m = 1 + dice.below(9), k = 1 + dice.below(9), n = 1 + dice.below(9),
                  g = 1 + dice.below(4);
    if (dice.below(2))
      return module_text(fmt::format(
          " a = f32[{0},{1}] parameter(0)\n b = f32[{3},{1},{2}] parameter(1)\n s = s32[{3}] "
          "parameter(2)\n ROOT d = f32[{0},{2}] ragged-dot(a, b, s), lhs_contracting_dims={{1}}, "
          "rhs_contracting_dims={{1}}, lhs_ragged_dims={{0}}, rhs_group_dims={{0}}\n",
          m, k, n, g));
    return module_text(fmt::format(
        " a = f32[{0},{1}] parameter(0)\n b = f32[{1},{2}] parameter(1)\n s = s32[{3}] "
        "parameter(2)\n ROOT d = f32[{3},{0},{2}] ragged-dot(a, b, s), "
        "lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, lhs_ragged_dims={{1}}\n",
        m, k, n, g));
  });
}

TEST_P(PartitionNorms, BlocksKeepTheirScales) {
  check_rounds(GetParam(), 0, [](Dice& dice) {
    const int64_t m = 1 + dice.below(9), k = 1 + dice.below(4), n = 1 + dice.below(9),
                  block = 1 + dice.below(3);
    return module_text(fmt::format(
        " a = f32[{0},{1}] parameter(0)\n b = f32[{1},{2}] parameter(1)\n x = f32[{0},{3}] "
        "parameter(2)\n y = f32[{3},{2}] parameter(3)\n ROOT d = f32[{0},{2}] scaled-dot(a, b, x, "
        "y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n",
        m, k * block, n, k));
  });
}

INSTANTIATE_TEST_SUITE_P(Seeds, PartitionNorms, testing::Range(0, 5));

}  // namespace
}  // namespace hilo::test
