// Long reductions to few results: cut in two, with the same values.
#include "random_module.h"

namespace hilo {
namespace {

using test::after_passes;
using test::count_op;
using test::parsed;

std::string reduction(std::string_view from, std::string_view to, std::string_view dims,
                      std::string_view op = "add", std::string_view init = "0") {
  const std::string_view type = from.substr(0, from.find('['));
  return fmt::format(R"(HloModule m
f {{ a = {4}[] parameter(0)
 b = {4}[] parameter(1)
 ROOT s = {4}[] {3}(a, b) }}
ENTRY e {{ x = {0} parameter(0)
 z = {4}[] constant({5})
 ROOT r = {1} reduce(x, z), dimensions={{{2}}}, to_apply=f }}
)",
                     from, to, dims, op, type, init);
}

int64_t reduces_after(const std::string& text) {
  const Module before = parsed(text), after = after_passes(before, "reduction-splitter");
  EXPECT_EQ(test::difference_in_values(before, after, Keeps::Reals), "") << text << print(after);
  return count_op(after, Op::Reduce);
}

TEST(ReductionSplitter, CutsWhatIsLong) {
  EXPECT_EQ(reduces_after(reduction("s32[131072]", "s32[]", "0")), 2);
  EXPECT_EQ(reduces_after(reduction("s32[131101]", "s32[]", "0", "add", "7")), 3);  // and a rest
  EXPECT_EQ(reduces_after(reduction("f32[3,70000]", "f32[3]", "1", "maximum", "1")), 2);
  EXPECT_EQ(reduces_after(reduction("s32[9000,2,20]", "s32[20]", "0,1", "multiply", "3")), 2);
}

// The elements of a part lie together: the outermost dimensions number the parts, and the one that
// makes them enough is cut.
TEST(ReductionSplitter, CutsTheOutermostDimensions) {
  const auto cut = [](std::string_view from, std::string_view to, std::string_view dims) {
    return print(after_passes(parsed(reduction(from, to, dims)), "reduction-splitter"));
  };
  EXPECT_NE(cut("f32[256,512]", "f32[]", "0,1").find("f32[256]"), std::string::npos);
  EXPECT_NE(cut("f32[1024,512]", "f32[]", "0,1").find("f32[64,16,512]"), std::string::npos);
  EXPECT_NE(cut("f32[3,65536]", "f32[]", "0,1").find("f32[3,32,2048]"), std::string::npos);
  EXPECT_NE(cut("f32[3,3,48,758]", "f32[]", "0,1,2,3").find("f32[3,3,48]"), std::string::npos);
  EXPECT_NE(cut("f32[10,4,100000]", "f32[4]", "0,2").find("f32[10,4,2]"), std::string::npos);
}

TEST(ReductionSplitter, PartsInSeveralDimensions) {
  EXPECT_EQ(reduces_after(reduction("s32[3,3,48,358]", "s32[]", "0,1,2,3", "add", "5")), 2);
  EXPECT_EQ(reduces_after(reduction("s32[6,2,7,3200]", "s32[2]", "0,2,3", "multiply", "3")), 2);
  EXPECT_EQ(reduces_after(reduction("f32[5,3,4099,3]", "f32[3]", "0,1,2", "maximum", "1")), 2);
  EXPECT_EQ(reduces_after(reduction("s32[3,2,31013]", "s32[]", "0,1,2", "add", "7")), 3);
  EXPECT_EQ(reduces_after(reduction("s32[40,20,256]", "s32[256]", "0,1", "add", "7")), 2);
  EXPECT_EQ(reduces_after(reduction("s32[733,240]", "s32[240]", "0", "add", "7")), 3);
}

TEST(ReductionSplitter, LeavesOthersWhole) {
  EXPECT_EQ(reduces_after(reduction("f32[60000]", "f32[]", "0")), 1);
  EXPECT_EQ(reduces_after(reduction("f32[500,200]", "f32[200]", "0")), 1);  // one thread is enough
  EXPECT_EQ(reduces_after(reduction("f32[500,800]", "f32[800]", "0")), 1);  // two loops are
  EXPECT_EQ(reduces_after(reduction("f32[577,256]", "f32[256]", "0")), 1);
  EXPECT_GT(reduces_after(reduction("s32[1500,800]", "s32[800]", "0")), 1);
  EXPECT_EQ(reduces_after(reduction("f32[20,70000]", "f32[20]", "1")), 1);
  EXPECT_EQ(reduces_after(reduction("bf16[131072]", "bf16[]", "0")), 1);  // would round too often
  EXPECT_EQ(reduces_after(reduction("s32[131072]", "s32[]", "0", "subtract")), 1);
}

// Two loops are enough where elements take no longer to compute than to add.
TEST(ReductionSplitter, LooksAtWhatComputesTheElements) {
  const auto sums = [](std::string_view computed) {
    return reduces_after(fmt::format(R"(HloModule m
f {{ a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] maximum(a, b) }}
ENTRY e {{ x = f32[600,256] parameter(0)
 z = f32[] constant(0)
 y = f32[600,256] {}
 ROOT r = f32[256] reduce(y, z), dimensions={{0}}, to_apply=f }}
)",
                                     computed));
  };
  EXPECT_EQ(sums("multiply(x, x)"), 1);
  EXPECT_GT(sums("exponential(x)"), 1);
}

}  // namespace
}  // namespace hilo
