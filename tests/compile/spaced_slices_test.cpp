// Many slices that begin one element behind each other, as windows of a signal; and many arrays
// beside each other of which something is computed.
#include <fmt/ranges.h>

#include "both.h"

namespace hilo::test {
namespace {

struct Windows {
  Dims array;
  size_t dim, joined;  // in which slices differ, and which they are joined along
  int64_t start, number, count, stride, step = 1;
};

// The slices, each with a dimension of one element more, beside each other; and their double.
std::string windows(const Windows& w, std::string_view type) {
  const auto of = [&](const Dims& dims) {
    return fmt::format("{}[{}]", type, fmt::join(dims, ","));
  };
  std::string text = fmt::format("HloModule m\nENTRY e {{\n  x = {} parameter(0)\n", of(w.array));
  std::vector<std::string> names;
  Dims slice = w.array;
  slice[w.dim] = w.count;
  Dims part = slice;
  part.insert(part.begin() + static_cast<int64_t>(w.joined), 1);
  for (int64_t i = 0; i < w.number; ++i) {
    std::vector<std::string> ranges;
    for (size_t d = 0; d < w.array.size(); ++d)
      ranges.push_back(d == w.dim ? fmt::format("[{}:{}:{}]", w.start + i * w.step,
                                                w.start + i * w.step + (w.count - 1) * w.stride + 1,
                                                w.stride)
                                  : fmt::format("[0:{}]", w.array[d]));
    text += fmt::format("  s{0} = {1} slice(x), slice={{{2}}}\n  p{0} = {3} reshape(s{0})\n", i,
                        of(slice), fmt::join(ranges, ","), of(part));
    names.push_back(fmt::format("p{}", i));
  }
  part[w.joined] = w.number;
  return text +
         fmt::format(
             "  y = {0} concatenate({1}), dimensions={{{2}}}\n  ROOT r = {0} add(y, y)\n}}\n",
             of(part), fmt::join(names, ", "), w.joined);
}

TEST(SpacedSlices, AreWindows) {
  for (const Windows& w :
       {Windows{{700}, 0, 1, 3, 40, 25, 16}, Windows{{100}, 0, 0, 0, 40, 61, 1},
        Windows{{3, 200}, 1, 2, 5, 20, 15, 12}, Windows{{3, 200}, 1, 1, 0, 20, 150, 1},
        Windows{{90, 4}, 0, 0, 2, 30, 50, 1}, Windows{{90, 4}, 0, 1, 2, 30, 50, 1},
        Windows{{300}, 0, 0, 0, 20, 10, 16}, Windows{{300}, 0, 1, 0, 20, 100, 1, 2},
        Windows{{300}, 0, 1, 1, 8, 280, 1}, Windows{{90, 4}, 0, 2, 0, 30, 60, 1}})
    for (const std::string_view type : {"f32", "f64", "s8", "c64"}) {
      const std::string text = windows(w, type);
      for (const int threads : {1, 3})
        for (const std::string processor : {"native", "x86-64"})
          expect_native(run_both(text, 1, threads, processor), text);
    }
}

// By one loop that stores none of the slices.
TEST(SpacedSlices, AreNotStored) {
  const std::string text = windows({{40, 16000}, 1, 2, 0, 64, 98, 160}, "f32");
  const auto both = run_both(text);
  expect_native(both, text);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->report.temp_bytes, 0);
}

// Of many arrays that are joined no loop looks for each of its elements.
TEST(JoinedArrays, AreStoredWhereManyAreRead) {
  std::string text = "HloModule m\nENTRY e {\n  x = f32[40,50,6] parameter(0)\n";
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) {
    text += fmt::format(
        "  s{0} = f32[1,50,6] slice(x), slice={{[{1}:{2}],[0:50],[0:6]}}\n"
        "  p{0} = f32[50,6,1] reshape(s{0})\n",
        i, 39 - i, 40 - i);
    names.push_back(fmt::format("p{}", i));
  }
  text += fmt::format(
      "  y = f32[50,6,40] concatenate({}), dimensions={{2}}\n  z = f32[50,6,40] exponential(y)\n"
      "  ROOT r = (f32[50,6,40], f32[50,6,40]) tuple(y, z)\n}}\n",
      fmt::join(names, ", "));
  expect_native_on_threads(text, 1e-6);
}

}  // namespace
}  // namespace hilo::test
