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

// The elements of a part lie together: the outermost dimension that has enough of them is cut.
TEST(ReductionSplitter, CutsTheOutermostDimension) {
  const auto cut = [](std::string_view from) {
    const Module after =
        after_passes(parsed(reduction(from, "f32[]", "0,1")), "reduction-splitter");
    return print(after);
  };
  EXPECT_NE(cut("f32[256,512]").find("f32[64,4,512]"), std::string::npos);
  EXPECT_NE(cut("f32[512,1024]").find("f32[64,8,1024]"), std::string::npos);
  EXPECT_NE(cut("f32[3,65536]").find("f32[3,64,1024]"), std::string::npos);
}

TEST(ReductionSplitter, LeavesOthersWhole) {
  EXPECT_EQ(reduces_after(reduction("f32[60000]", "f32[]", "0")), 1);
  EXPECT_EQ(reduces_after(reduction("f32[20,70000]", "f32[20]", "1")), 1);
  EXPECT_EQ(reduces_after(reduction("bf16[131072]", "bf16[]", "0")), 1);  // would round too often
  EXPECT_EQ(reduces_after(reduction("s32[131072]", "s32[]", "0", "subtract")), 1);
}

}  // namespace
}  // namespace hilo
