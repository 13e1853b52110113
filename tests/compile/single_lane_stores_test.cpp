// Rows that are a vector and one element, stored into an array whose other elements stay.
#include "both.h"

namespace hilo::test {
namespace {

// Rows go to their places, and one place has none.
std::string updated_rows(std::string_view type, int64_t columns) {
  return fmt::format(R"(HloModule m
f {{ a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  ROOT s = {0}[] add(a, b) }}
ENTRY e {{
  x = {0}[5,{1}] parameter(0)
  u = {0}[4,{1}] parameter(1)
  i = s32[4] constant({{3,0,2,9}})
  ROOT s = {0}[5,{1}] scatter(x, i, u), update_window_dims={{1}}, inserted_window_dims={{0}},
    scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=f }}
)",
                     type, columns);
}

TEST(SingleLaneStores, LeaveWhatIsBehindThem) {
  for (std::string_view type : {"bf16", "f16", "s8", "u8", "s16", "f32", "f64"})
    for (const int64_t columns : {9, 17, 33, 65, 129}) {
      const std::string text = updated_rows(type, columns);
      const auto both = run_both(text, 1, 3);
      ASSERT_TRUE(both) << to_string(both.error());
      EXPECT_EQ(largest_difference(both->compiled, both->evaluated), 0) << text;
    }
}

}  // namespace
}  // namespace hilo::test
