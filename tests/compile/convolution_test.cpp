// Convolutions of all forms against the evaluator.
#include "both.h"

namespace hilo::test {
namespace {

struct Case {
  std::string_view input, kernel, result, window, labels;
  int groups = 1, batch_groups = 1;
};
constexpr Case cases[] = {
    {"2,9,11,5", "3,3,5,40", "2,9,11,40", "size=3x3 pad=1_1x1_1", "b01f_01io->b01f"},
    {"2,9,11,5", "3,3,5,33", "2,5,6,33", "size=3x3 stride=2x2 pad=1_1x1_1", "b01f_01io->b01f"},
    {"1,6,7,3", "4,4,3,8", "1,12,14,8", "size=4x4 pad=2_2x2_2 lhs_dilate=2x2", "b01f_01io->b01f"},
    {"1,6,8,3", "4,4,3,8", "1,12,17,8", "size=4x4 pad=2_2x3_2 lhs_dilate=2x2", "b01f_01io->b01f"},
    {"2,5,7,3", "3,6,3,9", "2,11,21,9", "size=3x6 pad=3_1x4_3 lhs_dilate=2x3", "b01f_01io->b01f"},
    {"2,5,6,3", "3,3,3,9", "2,10,12,9", "size=3x3 pad=1_2x1_2 lhs_dilate=2x2", "b01f_01io->b01f"},
    {"2,5,6,3", "3,5,3,9", "2,11,15,9", "size=3x5 pad=2_2x2_1 lhs_dilate=2x3", "b01f_01io->b01f"},
    {"3,9,6", "5,6,8", "3,24,8", "size=5 pad=1_2 lhs_dilate=3 rhs_reversal=1", "b0f_0io->b0f"},
    {"1,5,6,3", "2,6,3,9", "1,5,18,9", "size=2x6 pad=1_0x7_0 lhs_dilate=1x3", "b01f_01io->b01f"},
    {"1,9,9,4", "3,3,4,16", "1,5,5,16", "size=3x3 rhs_dilate=2x2", "b01f_01io->b01f"},
    {"2,9,11,12", "3,3,4,36", "2,9,11,36", "size=3x3 pad=1_1x1_1", "b01f_01io->b01f", 3},
    {"1,9,11,70", "3,3,1,70", "1,9,11,70", "size=3x3 pad=1_1x1_1", "b01f_01io->b01f", 70},
    {"2,9,11,3", "3,2,1,3", "2,4,5,3", "size=3x2 stride=2x2", "b01f_01io->b01f", 3},
    {"1,4,4,6", "4,4,1,6", "1,8,8,6", "size=4x4 pad=2_2x2_2 lhs_dilate=2x2", "b01f_01io->b01f", 6},
    {"1,9,11,6", "3,3,1,12", "1,9,11,12", "size=3x3 pad=1_1x1_1", "b01f_01io->b01f", 6},
    {"1,9,9,4", "3,3,4,16", "1,7,7,16", "size=3x3 rhs_reversal=1x1", "b01f_01io->b01f"},
    {"3,20,6", "5,6,8", "3,16,8", "size=5", "b0f_0io->b0f"},
    {"2,4,5,6,3", "2,2,2,3,9", "2,3,4,5,9", "size=2x2x2", "b012f_012io->b012f"},
    {"9,11,5,2", "3,5,3,12", "9,11,2,12", "size=3x3 pad=1_1x1_1", "01fb_0i1o->01bf"},
    {"2,5,9,11", "12,5,3,3", "2,12,9,11", "size=3x3 pad=1_1x1_1", "bf01_oi01->bf01"},
    {"2,12,9,11", "36,4,3,3", "2,36,9,11", "size=3x3 pad=1_1x1_1", "bf01_oi01->bf01", 3},
    {"5,6", "6,9", "5,9", "", "bf_io->bf"},
    {"6,5", "9,6", "9,5", "", "fb_oi->fb"},
    {"3,20,6", "9,6,1", "3,20,9", "size=1", "0bf_oi0->0bf"},
    {"3,20,6", "6,2,1", "20,2,3", "size=1", "0bf_io0->bf0"},
    {"2,6,5,7", "1,9,6,1", "9,7,2,5", "size=1x1 rhs_reversal=1x0", "bf01_0oi1->f1b0"},
    {"2,5,7,6", "1,1,6,9", "2,3,4,9", "size=1x1 stride=2x2", "b01f_01io->b01f"},
    {"2,5,7,6", "1,1,6,9", "2,7,8,9", "size=1x1 pad=1_1x0_1", "b01f_01io->b01f"},
    {"4,6,5,8", "1,1,4,16", "4,6,5,16", "size=1x1", "b01f_01io->b01f", 2},
    {"1,8,8,4", "3,3,4,2", "1,6,6,2", "size=3x3", "b01f_01io->b01f"},
    {"7,65,1", "9,1,1", "7,65,1", "size=9 pad=4_4", "b0f_0io->b0f"},
    {"7,1,65", "2,1,9", "7,2,33", "size=9 stride=2 pad=4_4 rhs_reversal=1", "bf0_oi0->bf0"},
    {"3,33,4", "4,2,6", "3,27,6", "size=4 rhs_dilate=2", "b0f_0io->b0f", 2},
    {"1,17,19,1", "3,5,1,2", "1,19,10,2", "size=3x5 stride=1x2 pad=2_2x2_2", "b01f_01io->b01f"},
    {"1,17,19,3", "5,5,3,2", "1,17,19,2", "size=5x5 pad=2_2x2_2", "b01f_01io->b01f"},
    {"4,20,40", "4,21,40", "4,1,40", "size=21 pad=2_2", "f0b_i0o->0bf", 1, 40},
    {"5,7,6,3", "3,3,3,5", "1,5,4,5", "size=3x3", "b01f_01io->b01f", 1, 5},
    {"6,7,5", "3,5,16", "3,5,16", "size=3", "b0f_0io->b0f", 1, 2},
    {"2,14,13,8", "4,4,8,6", "2,28,26,6", "size=4x4 pad=2_2x2_2 lhs_dilate=2x2", "b01f_01io->b01f"},
    {"2,8,9,7", "8,3,4,6", "2,3,16,17", "size=4x6 pad=1_1x3_0 lhs_dilate=2x3 rhs_reversal=1x1",
     "bf01_io01->bf01"},
    {"3,40,5", "8,5,1", "3,158,1", "size=8 pad=5_3 lhs_dilate=4", "b0f_0io->b0f"},
    {"6,7,5", "3,5,6", "3,5,6", "size=3", "b0f_0io->b0f", 1, 2},
    {"1,6,8,3", "3,3,3,8", "1,11,15,8", "size=3x3 pad=1_1x1_1 lhs_dilate=2x2", "b01f_01io->b01f"},
    {"2,5,7,3", "3,4,3,9", "2,11,20,9", "size=3x4 pad=3_1x2_2 lhs_dilate=2x3", "b01f_01io->b01f"},
    {"2,9,11,12", "3,3,12,3", "2,9,11,3", "size=3x3 pad=1_1x1_1", "b01f_01io->b01f"},
    {"2,5,7,37", "3,3,37,1", "2,3,4,1", "size=3x3 stride=2x2 pad=1_1x1_1", "b01f_01io->b01f"},
    {"2,20,5,9", "3,20,3,3", "2,3,5,9", "size=3x3 pad=1_1x1_1", "bf01_oi01->bf01"},
    {"1,6,7,16", "4,4,16,7", "1,12,14,7", "size=4x4 pad=2_2x2_2 lhs_dilate=2x2", "b01f_01io->b01f"},
    {"2,7,9,5", "3,3,5,24", "2,5,7,24", "size=3x3", "b01f_01io->b01f"},
    {"1,7,9,5", "3,3,5,63", "1,5,7,63", "size=3x3", "b01f_01io->b01f"},
    {"1,7,9,27", "3,3,1,27", "1,5,7,27", "size=3x3", "b01f_01io->b01f", 27},
    {"2,6,5,7", "9,6,1,1", "2,9,5,7", "size=1x1", "bf01_oi01->bf01"},
    {"2,6,35", "6,9,1", "2,9,35", "size=1", "bf0_io0->bf0"},
    {"2,7,11,1", "5,5,1,3", "2,7,11,3", "size=5x5 pad=2_2x2_2", "b01f_01io->b01f"},
    {"2,7,11,6", "3,3,6,1", "2,7,11,1", "size=3x3 pad=1_1x1_1", "b01f_01io->b01f"},
    {"2,9,13,1", "7,7,1,1", "2,9,13,1", "size=7x7 pad=3_3x3_3", "b01f_01io->b01f"},
    {"2,7,9,32", "1,1,32,3", "2,4,5,3", "size=1x1 stride=2x2", "b01f_01io->b01f"},
    {"2,1,9,11", "2,1,5,5", "2,2,9,11", "size=5x5 pad=2_2x2_2", "bf01_oi01->bf01"},
    {"1,7,33,19", "3,3,1,19", "1,7,33,19", "size=3x3 pad=1_1x1_1", "b01f_01io->b01f", 19},
};

std::string module_of(const Case& c, std::string_view type) {
  return fmt::format(
      "HloModule m\nENTRY e {{\n  x = {0}[{1}] parameter(0)\n  w = {0}[{2}] parameter(1)\n  ROOT r "
      "= "
      "{0}[{3}] convolution(x, w), window={{{4}}}, dim_labels={5}, feature_group_count={6}, "
      "batch_group_count={7}\n}}\n",
      type, c.input, c.kernel, c.result, c.window, c.labels, c.groups, c.batch_groups);
}

TEST(Convolution, AllFormsAgreeWithTheEvaluator) {
  for (const Case& c : cases)
    for (const auto& [type, tolerance] :
         {std::pair{"f32", 1e-5}, {"f64", 1e-13}, {"bf16", 0.01}, {"f16", 0.002}}) {
      const std::string text = module_of(c, type);
      const auto both = run_both(text, 1, 2);
      ASSERT_TRUE(both) << to_string(both.error()) << text;
      EXPECT_LE(largest_difference(both->compiled, both->evaluated), tolerance) << text;
      EXPECT_TRUE(both->report.evaluated.empty()) << text;
    }
}

// Kernels that do not stay in a cache.
TEST(Convolution, LargeKernels) {
  for (const Case& c :
       {Case{"1,9,11,160", "3,3,160,192", "1,9,11,192", "size=3x3 pad=1_1x1_1", "b01f_01io->b01f"},
        Case{"2,15,17,100", "3,3,50,600", "2,8,9,600", "size=3x3 stride=2x2 pad=1_1x1_1",
             "b01f_01io->b01f", 2},
        Case{"2,15,17,100", "5,3,100,200", "2,13,17,200", "size=5x3 pad=1_1x1_1 rhs_reversal=1x1",
             "b01f_01io->b01f"},
        Case{"1,7,8,160", "3,3,160,192", "1,13,16,192", "size=3x3 pad=1_1x1_2 lhs_dilate=2x2",
             "b01f_01io->b01f"},
        Case{"1,5,5,160", "3,3,160,200", "1,5,5,200", "size=3x3 pad=1_1x1_1", "b01f_01io->b01f"},
        // Gradients of kernels.
        Case{"24,15,17,16", "24,15,17,48", "5,3,16,48", "size=15x17 pad=2_2x1_1",
             "f01b_i01o->01bf"},
        Case{"24,16,15,17", "24,48,15,17", "48,16,5,3", "size=15x17 pad=2_2x1_1",
             "fb01_io01->fb01"}}) {
    const std::string text = module_of(c, "f32");
    const auto one = run_both(text, 1, 1), seven = run_both(text, 1, 7);
    ASSERT_TRUE(one && seven) << text;
    EXPECT_LE(largest_difference(one->compiled, one->evaluated), 1e-5) << text;
    EXPECT_EQ(largest_difference(one->compiled, seven->compiled), 0) << text;
    EXPECT_TRUE(one->report.evaluated.empty()) << text;
  }
}

// Blocks inside of the input, at its borders and over both, whose window's places are added
// together where they stand one after the other.
TEST(Convolution, PlacesOfTheWindowSideBySide) {
  for (const Case& c : {
           Case{"1,5,31,3", "3,7,3,24", "1,5,16,24", "size=3x7 stride=1x2 pad=1_1x3_3",
                "b01f_01io->b01f"},
           Case{"2,5,40,1", "3,5,1,16", "2,3,36,16", "size=3x5", "b01f_01io->b01f"},
           Case{"1,4,29,2", "2,4,2,9", "1,3,30,9", "size=2x4 pad=0_0x0_4", "b01f_01io->b01f"},
           Case{"1,4,29,2", "2,4,2,9", "1,3,28,9", "size=2x4 pad=0_0x4_-2", "b01f_01io->b01f"},
           Case{"1,4,29,2", "2,4,2,9", "1,3,22,9", "size=2x4 pad=0_0x-2_-2", "b01f_01io->b01f"},
           Case{"1,4,29,2", "2,4,2,9", "1,3,33,9", "size=2x4 pad=0_0x4_3 rhs_reversal=1x0",
                "b01f_01io->b01f"},
           Case{"1,4,29,2", "2,4,2,9", "1,3,33,9", "size=2x4 pad=0_0x4_3 rhs_reversal=0x1",
                "b01f_01io->b01f"},
           Case{"2,7,30,3", "3,4,3,17", "2,13,31,17", "size=3x4 pad=1_1x2_2 lhs_dilate=2x1",
                "b01f_01io->b01f"},
           Case{"3,40,2", "9,2,12", "3,40,12", "size=9 pad=4_4", "b0f_0io->b0f"},
           Case{"3,4,2", "9,2,12", "3,4,12", "size=9 pad=4_4", "b0f_0io->b0f"},
       })
    for (const std::string_view type : {"f32", "f64", "bf16"})
      for (const std::string& processor : processors()) {
        const std::string text = module_of(c, type);
        const auto one = run_both(text, 1, 1, processor);
        const auto seven = run_both(text, 1, 7, processor);
        expect_native(one, text, type == "f32" ? 1e-5 : type == "f64" ? 1e-13 : 0.01);
        ASSERT_TRUE(one && seven) << text;
        EXPECT_TRUE(same_bits(one->compiled, seven->compiled)) << text;
      }
}

// However a line of places is cut into blocks, full ones and a last one.
TEST(Convolution, LinesOfAnyLength) {
  for (int places = 1; places <= 20; ++places) {
    const std::string input = fmt::format("2,3,{},5", places),
                      result = fmt::format("2,3,{},19", places);
    const std::string text =
        module_of({input, "3,3,5,19", result, "size=3x3 pad=1_1x1_1", "b01f_01io->b01f"}, "f32");
    const auto one = run_both(text, 1, 1), seven = run_both(text, 1, 7);
    expect_native(one, text, 1e-5);
    ASSERT_TRUE(one && seven) << text;
    EXPECT_TRUE(same_bits(one->compiled, seven->compiled)) << text;
  }
}

// Few features are one strip, whatever a register holds.
TEST(Convolution, FewWideFeaturesOfManyInputs) {
  for (const std::string& processor : processors())
    for (int features = 1; features < 8; ++features) {
      const std::string text = fmt::format(R"(HloModule m
ENTRY e {{
  x = f64[2,3,130] parameter(0)
  k = f64[2,130,{0}] parameter(1)
  ROOT c = f64[2,3,{0}] convolution(x, k), window={{size=2 pad=0_1}}, dim_labels=b0f_0io->b0f
}}
)",
                                           features);
      expect_native(run_both(text, 1, 1, processor), text, 1e-12);
    }
}

// Half of a register of features of AVX-512; less than a whole one of others.
TEST(Convolution, EightFeaturesOfManyInputs) {
  for (const std::string_view type : {"f32", "bf16", "f64"})
    for (const std::string& processor : processors())
      for (int inputs : {64, 128, 130}) {
        const std::string text = fmt::format(R"(HloModule m
ENTRY e {{
  x = {0}[2,7,11,{1}] parameter(0)
  k = {0}[5,3,{1},8] parameter(1)
  ROOT c = {0}[2,4,11,8] convolution(x, k), window={{size=5x3 stride=2x1 pad=2_2x1_1}}, dim_labels=b01f_01io->b01f
}}
)",
                                             type, inputs);
        expect_native(run_both(text, 1, 2, processor), text, type == "bf16" ? 0.02 : 1e-4);
      }
}

// Small kernels of few features are turned where they are read, others in memory.
TEST(Convolution, SmallKernelsAreTurnedInTheFrame) {
  for (const auto& [inputs, features, turned] :
       {std::tuple{48, 1, false}, std::tuple{48, 2, false}, std::tuple{64, 3, false},
        std::tuple{32, 5, false}, std::tuple{48, 7, false}, std::tuple{32, 8, false},
        std::tuple{48, 8, false}, std::tuple{128, 5, true}, std::tuple{40, 6, true}})
    for (const std::string_view type : {"f32", "f64"})
      for (const std::string& processor : processors()) {
        const std::string text = fmt::format(R"(HloModule m
ENTRY e {{
  x = {2}[2,5,9,{0}] parameter(0)
  k = {2}[3,3,{0},{1}] parameter(1)
  ROOT c = {2}[2,11,9,{1}] convolution(x, k), window={{size=3x3 pad=2_2x1_1 lhs_dilate=2x1 rhs_reversal=1x0}}, dim_labels=b01f_01io->b01f
}}
)",
                                             inputs, features, type);
        const auto one = run_both(text, 1, 1, processor);
        const auto seven = run_both(text, 1, 7, processor);
        expect_native(one, text, 1e-5);
        ASSERT_TRUE(one && seven) << text;
        EXPECT_TRUE(same_bits(one->compiled, seven->compiled)) << text;
        EXPECT_EQ(one->report.temp_bytes > 0, turned) << text;
      }
}

}  // namespace
}  // namespace hilo::test
