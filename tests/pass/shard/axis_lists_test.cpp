#include "pass/shard/axis_lists.h"

#include <gtest/gtest.h>

namespace hilo {
namespace {

// All lists of up to two sub-axes of a mesh of two axes, one of them of 8.
std::vector<SubAxes> all_lists() {
  SubAxes axes = {{0, 1, 1}, {0, 1, 2}};
  for (int64_t before = 1; before <= 8; before *= 2)
    for (int64_t size = 1; before * size <= 8; size *= 2) axes.push_back({1, before, size});
  std::vector<SubAxes> out = {{}};
  for (const SubAxis& first : axes) {
    out.push_back({first});
    for (const SubAxis& second : axes) out.push_back({first, second});
  }
  return out;
}

TEST(AxisLists, APrefixIsWhatBothShare) {
  size_t prefixes = 0;
  for (const SubAxes& a : all_lists())
    for (const SubAxes& b : all_lists()) {
      EXPECT_EQ(is_prefix(a, b), shared_prefix(a, b) == a);
      prefixes += is_prefix(a, b);
    }
  EXPECT_GT(prefixes, 3 * all_lists().size());
}

TEST(AxisLists, MergesInPlaceAsElsewhere) {
  size_t changed = 0;
  for (const SubAxes& list : all_lists()) {
    SubAxes merged = list;
    merge_in_place(merged);
    EXPECT_EQ(merged, merge_axes(list));
    changed += merged != list;
  }
  EXPECT_GT(changed, 0u);
}

}  // namespace
}  // namespace hilo
