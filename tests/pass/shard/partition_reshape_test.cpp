// Reshapes of tiles: dimensions of one element stand anywhere, sizes are divided unevenly, and axes
// cut dimensions that the reshape leaves apart.
#include "partition_judge.h"

namespace hilo::test {
namespace {

// How axes of a mesh of 3 and 5 can cut an array of that rank.
std::vector<std::string> shardings(size_t rank) {
  std::vector<std::string> out;
  for (size_t a = 0; a <= rank; ++a)
    for (size_t b = 0; b <= rank; ++b) {
      std::string dims;
      for (size_t dim = 0; dim < rank; ++dim) {
        const std::string_view axes = dim == a && dim == b ? "'a', 'b'"
                                      : dim == a           ? "'a'"
                                      : dim == b           ? "'b'"
                                                           : "";
        dims += fmt::format("{}{{{}}}", dim == 0 ? "" : ", ", axes);
      }
      out.push_back("{mesh['a'=3,'b'=5], [" + dims + "]}");
    }
  return out;
}

void expect_right(const Dims& from, const Dims& to) {
  const std::string operand = to_string_without_layout(Shape::array(ElementType::U16, from));
  const std::string result = to_string_without_layout(Shape::array(ElementType::U16, to));
  for (const std::string& before : shardings(from.size()))
    for (const std::string& behind : shardings(to.size())) {
      const Module module = parsed(fmt::format(
          "HloModule m, num_partitions=15\nENTRY e {{\n  p = {} parameter(0), sharding={}\n"
          "  ROOT r = {} reshape(p), sharding={}\n}}\n",
          operand, before, result, behind));
      ASSERT_EQ(fault_of(module, 1, "sharding-propagation, spmd-partitioner"), "") << print(module);
    }
}

TEST(PartitionReshape, UnevenTilesOfTwoDimensionsThatStayApart) {
  expect_right({5, 5, 5}, {25, 1, 5});
  expect_right({4, 1, 5}, {4, 5});
  expect_right({4, 5}, {1, 4, 1, 5});
}

TEST(PartitionReshape, UnevenTilesOfDimensionsThatAreSplitAndMerged) {
  expect_right({4, 5}, {20});
  expect_right({20}, {4, 5});
  expect_right({4, 6}, {8, 3});
  expect_right({5, 4, 2}, {10, 4});
  expect_right({7, 1}, {1, 7});
}

}  // namespace
}  // namespace hilo::test
