// Reversed arrays, whose rows are lanes, vectors or loops; what is looked up at places that iota
// says.
#include "both.h"

namespace hilo::test {
namespace {

void expect_same(const std::string& text, uint64_t number) {
  const auto both = run_both(text, number, 3, processor_of(number));
  ASSERT_TRUE(both) << to_string(both.error()) << text;
  EXPECT_TRUE(same_bits(both->compiled, both->evaluated)) << processor_of(number) << "\n" << text;
  EXPECT_TRUE(both->report.evaluated.empty()) << text;
}

constexpr std::string_view types[] = {"f32", "f64", "bf16", "s8", "s4", "pred", "c64", "c128"};

TEST(Reverse, RowsOfAllSizes) {
  constexpr std::string_view dims[] = {"0,1", "2", "0,2", "1"};
  uint64_t number = 0;
  for (std::string_view type : types)
    for (int64_t width : {1, 5, 9, 12, 16, 20, 32, 33, 70}) {
      expect_same(fmt::format("HloModule m\nENTRY e {{\n  x = {0}[7,3,{1}] parameter(0)\n  "
                              "ROOT r = {0}[7,3,{1}] reverse(x), dimensions={{{2}}}\n}}\n",
                              type, width, dims[number % 4]),
                  number);
      ++number;
    }
}

// Also places that are no places of the array, and counts that need all bits.
TEST(Iota, SaysPlaces) {
  uint64_t number = 0;
  for (std::string_view type : {"s32", "s64", "u32", "s16", "u8"})
    for (int64_t size : {1, 2, 65, 128})
      for (std::string_view op : {"divide", "remainder", "multiply", "subtract", "add"})
        expect_same(fmt::format(R"(HloModule m
ENTRY e {{ x = f32[50] parameter(0)
  i = {0}[{1}] iota(), iota_dimension=0
  c = {0}[] constant(3)
  k = {0}[{1}] broadcast(c), dimensions={{}}
  q = {0}[{1}] {2}(i, k)
  p = s64[{1}] convert(q)
  column = s64[{1},1] reshape(p)
  g = f32[{1}] gather(x, column), offset_dims={{}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1}}
  ROOT r = (f32[{1}], {0}[{1}]) tuple(g, q) }}
)",
                                type, size, op),
                    ++number);
}

}  // namespace
}  // namespace hilo::test
