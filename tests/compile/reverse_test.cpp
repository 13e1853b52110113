// Arrays that are turned around: runs of elements behind the last such dimension are in vectors.
#include "both.h"

namespace hilo::test {
namespace {

TEST(Reverse, RunsOfElements) {
  for (const std::string_view type : {"s8", "pred", "bf16", "f32", "f64", "c64", "c128"})
    for (const auto& [dims, turned] :
         std::initializer_list<std::array<std::string_view, 2>>{{"5,4,6,7", "2"},
                                                                {"5,4,6,7", "0,2"},
                                                                {"5,4,6,7", "1"},
                                                                {"3,200,8", "1"},
                                                                {"3,201,3", "1,0"},
                                                                {"33,2", "0"},
                                                                {"2,9,1,4", "2,1"},
                                                                {"40,5", "1"},
                                                                {"40,5", "0,1"},
                                                                {"3,2,100", "1"},
                                                                {"0,3,4", "1"}}) {
      const std::string text = fmt::format(R"(HloModule m
ENTRY e {{
  x = {0}[{1}] parameter(0)
  ROOT r = {0}[{1}] reverse(x), dimensions={{{2}}} }}
)",
                                           type, dims, turned);
      for (const int threads : {1, 3})
        for (const std::string& processor : processors())
          expect_native(run_both(text, 1, threads, processor), text);
    }
}

}  // namespace
}  // namespace hilo::test
