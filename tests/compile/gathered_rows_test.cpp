// Rows whose place an array says, of arrays that were joined, padded or rolled: what is read only
// where there is an element stands beside what is read for every element of a row.
#include "both.h"

namespace hilo::test {
namespace {

void expect_same(const std::string& text, uint64_t number) {
  const auto both = run_both(text, number, 2, processor_of(number));
  ASSERT_TRUE(both) << to_string(both.error()) << text;
  EXPECT_TRUE(same_bits(both->compiled, both->evaluated)) << processor_of(number) << "\n" << text;
  EXPECT_TRUE(both->report.evaluated.empty()) << text;
}

constexpr std::string_view types[] = {"f32", "f64", "bf16", "s8", "s32", "s64", "pred", "c64"};

// Starts beyond both ends are moved inside.
TEST(GatheredRows, OfRolledRows) {
  uint64_t number = 0;
  for (std::string_view type : types)
    for (int64_t width : {2, 3, 8, 9, 20, 33})
      for (int64_t shift : {int64_t{1}, width / 2})
        expect_same(fmt::format(R"(HloModule m
ENTRY e {{ x = {0}[41,{1}] parameter(0)
  i = s32[70,1] parameter(1)
  last = {0}[41,{2}] slice(x), slice={{[0:41], [{3}:{1}]}}
  first = {0}[41,{3}] slice(x), slice={{[0:41], [0:{3}]}}
  rolled = {0}[41,{1}] concatenate(last, first), dimensions={{1}}
  ROOT r = {0}[70,{1}] gather(rolled, i), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,{1}}} }}
)",
                                type, width, shift, width - shift),
                    ++number);
}

TEST(GatheredRows, RolledAfterwards) {
  uint64_t number = 0;
  for (std::string_view type : types)
    for (int64_t width : {2, 3, 8, 9, 20, 33})
      expect_same(fmt::format(R"(HloModule m
ENTRY e {{ x = {0}[41,{1}] parameter(0)
  i = s64[70,1] parameter(1)
  g = {0}[70,{1}] gather(x, i), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,{1}}}
  last = {0}[70,1] slice(g), slice={{[0:70], [{2}:{1}]}}
  first = {0}[70,{2}] slice(g), slice={{[0:70], [0:{2}]}}
  ROOT r = {0}[70,{1}] concatenate(last, first), dimensions={{1}} }}
)",
                              type, width, width - 1),
                  ++number);
}

// The places themselves are padded: where there is none, nothing may be read through it.
TEST(GatheredRows, OfPaddedPlaces) {
  uint64_t number = 0;
  for (std::string_view type : types)
    for (int64_t width : {3, 8, 20})
      expect_same(fmt::format(R"(HloModule m
ENTRY e {{ x = {0}[41,{1}] parameter(0)
  i = s32[40] parameter(1)
  z = s32[] constant(7)
  places = s32[70] pad(i, z), padding=13_17
  column = s32[70,1] reshape(places)
  g = {0}[70,{1}] gather(x, column), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,{1}}}
  s = {0}[] parameter(2)
  ROOT r = {0}[80,{2}] pad(g, s), padding=4_6x2_1 }}
)",
                              type, width, width + 3),
                  ++number);
}

}  // namespace
}  // namespace hilo::test
