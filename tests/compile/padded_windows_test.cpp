// Arrays that are padded for a window are not made: convolutions and reductions of windows see the
// padding themselves.
#include "both.h"

namespace hilo::test {
namespace {

constexpr int64_t padded = 2 * 40 * 40 * 16 * 4;  // bytes

struct Row {
  const char* name;
  bool is_made;  // the padded array
  const char* body;
};

constexpr Row rows[] = {
    {"a convolution", false, R"(
  p = f32[2,40,40,16] pad(x, z), padding=0_0x3_5x8_0x0_0
  k = f32[3,3,16,8] parameter(1)
  ROOT r = f32[2,38,38,8] convolution(p, k), window={size=3x3}, dim_labels=b01f_01io->b01f)"},
    {"a strided and dilated one that is padded itself", false, R"(
  p = f32[2,40,40,16] pad(x, z), padding=0_0x3_5x8_0x0_0
  k = f32[3,3,16,8] parameter(1)
  ROOT r = f32[2,20,20,8] convolution(p, k), window={size=3x3 stride=2x2 pad=2_1x1_2 rhs_dilate=2x2},
    dim_labels=b01f_01io->b01f)"},
    {"one of each feature", false, R"(
  p = f32[2,40,40,16] pad(x, z), padding=0_0x3_5x8_0x0_0
  k = f32[3,3,1,16] parameter(1)
  ROOT r = f32[2,38,38,16] convolution(p, k), window={size=3x3}, dim_labels=b01f_01io->b01f,
    feature_group_count=16)"},
    {"sums of windows", false, R"(
  p = f32[2,40,40,16] pad(x, z), padding=0_0x3_5x8_0x0_0
  ROOT r = f32[2,19,19,16] reduce-window(p, z), window={size=1x3x3x1 stride=1x2x2x1}, to_apply=sum)"},
    {"products of windows that are padded with another number", true, R"(
  o = f32[] constant(1.5)
  p = f32[2,40,40,16] pad(x, o), padding=0_0x3_5x8_0x0_0
  k = f32[3,3,16,8] parameter(1)
  ROOT r = f32[2,38,38,8] convolution(p, k), window={size=3x3}, dim_labels=b01f_01io->b01f)"},
};

std::string module_of(const char* body) {
  return std::string(R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[2,32,32,16] parameter(0)
  z = f32[] constant(0))") +
         body + "\n}\n";
}

TEST(PaddedWindows, NeedNoPaddedArray) {
  for (const Row& row : rows) {
    const std::string text = module_of(row.body);
    const auto both = run_both(text);
    expect_native(both, text, 1e-5);
    ASSERT_TRUE(both) << row.name;
    EXPECT_EQ(both->report.temp_bytes >= padded, row.is_made) << row.name;
  }
}

// Batches that are padded, what is cut off and what is spread.
TEST(PaddedWindows, OtherPadding) {
  struct Form {
    const char *padding, *padded, *result;
  };
  constexpr Form forms[] = {{"0_0x0_0x0_0x0_2", "2,8,8,6", "2,6,6,3"},
                            {"1_0x0_0x0_0x0_0", "3,8,8,4", "3,6,6,3"},
                            {"0_0x-1_0x0_2x0_0", "2,7,10,4", "2,5,8,3"},
                            {"0_0x0_0_1x1_0x0_0", "2,15,9,4", "2,13,7,3"}};
  for (const Form& form : forms) {
    const std::string text = fmt::format(
        R"(HloModule m
ENTRY e {{
  x = f32[2,8,8,4] parameter(0)
  z = f32[] constant(0)
  p = f32[{1}] pad(x, z), padding={0}
  k = f32[3,3,{3},3] parameter(1)
  ROOT r = f32[{2}] convolution(p, k), window={{size=3x3}}, dim_labels=b01f_01io->b01f }}
)",
        form.padding, form.padded, form.result, form.padded[std::string(form.padded).size() - 1]);
    expect_native(text, 1e-5);
  }
}

// An element of the padding of an array counts, one of a window's does not: they are the same where
// the number changes no result that it is in already.
TEST(PaddedWindows, WhatWindowsBeginWith) {
  for (const std::string_view type : {"s32", "f32"})
    for (const auto& [op, begin] :
         std::initializer_list<std::pair<std::string_view, int>>{{"add", 0},
                                                                 {"add", 3},
                                                                 {"multiply", 1},
                                                                 {"multiply", 2},
                                                                 {"maximum", 2},
                                                                 {"minimum", 1},
                                                                 {"xor", 0},
                                                                 {"xor", 3},
                                                                 {"and", 5},
                                                                 {"or", 2}}) {
      if (type == "f32" && (op == "xor" || op == "and" || op == "or")) continue;
      const std::string text = fmt::format(R"(HloModule m
reducer {{ a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  ROOT r = {0}[] {1}(a, b) }}
ENTRY e {{
  x = {0}[9,3] parameter(0)
  c = {0}[] constant({2})
  p = {0}[14,3] pad(x, c), padding=2_3x0_0
  ROOT r = {0}[14,3] reduce-window(p, c), window={{size=4x1 pad=3_0x0_0}}, to_apply=reducer }}
)",
                                           type, op, begin);
      expect_native(text, 1e-6);
    }
}

}  // namespace
}  // namespace hilo::test
