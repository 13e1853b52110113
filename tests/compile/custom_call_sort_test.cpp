// The custom call TopK is a routine, as the op is.
#include "both.h"

namespace hilo::test {
namespace {

TEST(CustomCallTopK, IsNativeAndWhatTheOpGives) {
  for (const char* type : {"f32", "bf16", "s32"})
    for (const char* direction : {"GT", "LT"}) {
      const std::string text = fmt::format(R"(HloModule m
order {{
  a = {0}[] parameter(0)
  c = {0}[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT r = pred[] compare(a, c), direction={1}
}}
ENTRY e {{
  x = {0}[3,200] parameter(0)
  t = ({0}[3,5], s32[3,5]) custom-call(x), custom_call_target="TopK", called_computations={{order}}
  o = ({0}[3,5], s32[3,5]) topk(x), k=5, largest={2}
  tv = {0}[3,5] get-tuple-element(t), index=0
  ti = s32[3,5] get-tuple-element(t), index=1
  ov = {0}[3,5] get-tuple-element(o), index=0
  oi = s32[3,5] get-tuple-element(o), index=1
  ROOT r = ({0}[3,5], s32[3,5], {0}[3,5], s32[3,5]) tuple(tv, ti, ov, oi)
}}
)",
                                           type, direction, direction[0] == 'G');
      const auto both = run_both(text);
      expect_native(both, text);
      ASSERT_TRUE(both);
      for (size_t i = 0; i < 2; ++i)
        EXPECT_EQ(
            largest_difference(both->compiled.elements()[i], both->compiled.elements()[i + 2]), 0)
            << text;
    }
}

}  // namespace
}  // namespace hilo::test
