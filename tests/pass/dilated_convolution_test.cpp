// Convolutions of dilated inputs, of random forms, without the zeros between.
#include <fmt/ranges.h>

#include <algorithm>

#include "judge.h"

namespace hilo {
namespace {

using test::Dice;

// A dimension of an array by its label.
struct Labelled {
  char label;
  int64_t size;
};

struct Array {
  std::string labels;
  Dims dims;
};
Array shuffled(Dice& dice, std::vector<Labelled> of) {
  Array out;
  while (!of.empty()) {
    const auto next = of.begin() + dice.below(std::ssize(of));
    out.labels += next->label, out.dims.push_back(next->size);
    of.erase(next);
  }
  return out;
}

// The text of a convolution with at least one dilated dimension.
std::string random_convolution(Dice& dice) {
  const int64_t spatial = 1 + dice.below(3), made = 1 + dice.below(7), features = 1 + dice.below(3),
                batch = 1 + dice.below(2), dilated = dice.below(spatial);
  std::vector<Labelled> input{{'b', batch}, {'f', features}}, kernel{{'i', features}, {'o', made}},
      result{{'b', batch}, {'f', made}};
  std::vector<std::string> sizes, pads, dilations, reversals;
  for (int64_t d = 0; d < spatial; ++d) {
    const int64_t n = 1 + dice.below(5), s = d == dilated ? 2 + dice.below(3) : 1 + dice.below(3),
                  window = s > 1 && dice.below(2) ? s * (1 + dice.below(2))
                                                  : s - (s > 1) + dice.below(4);
    int64_t low = 0, high = 0, size = 0;
    while (size < 1) {
      low = dice.below(9) - 3, high = dice.below(9) - 3;
      size = (n - 1) * s + 1 + low + high - window + 1;
    }
    const char label = static_cast<char>('0' + d);
    input.push_back({label, n}), kernel.push_back({label, window}), result.push_back({label, size});
    sizes.push_back(fmt::format("{}", window)), pads.push_back(fmt::format("{}_{}", low, high));
    dilations.push_back(fmt::format("{}", s)), reversals.push_back(dice.below(2) ? "1" : "0");
  }
  const Array x = shuffled(dice, input), w = shuffled(dice, kernel), y = shuffled(dice, result);
  return fmt::format(R"(HloModule m
ENTRY e {{
  x = f32[{}] parameter(0)
  w = f32[{}] parameter(1)
  ROOT y = f32[{}] convolution(x, w), window={{size={} pad={} lhs_dilate={} rhs_reversal={}}}, dim_labels={}_{}->{}
}})",
                     fmt::join(x.dims, ","), fmt::join(w.dims, ","), fmt::join(y.dims, ","),
                     fmt::join(sizes, "x"), fmt::join(pads, "x"), fmt::join(dilations, "x"),
                     fmt::join(reversals, "x"), x.labels, w.labels, y.labels);
}

bool is_dilated(const Module& module) {
  return std::ranges::any_of(module[module.entry].instructions, [&](InstructionId id) {
    return module[id].op == Op::Convolution &&
           std::ranges::any_of(module.attributes<ConvolutionAttributes>(id).window.dims,
                               [](const WindowDim& dim) { return dim.base_dilation > 1; });
  });
}

TEST(DilatedConvolution, RandomFormsComputeTheSame) {
  int64_t dense = 0;
  constexpr int64_t tries = 400;
  for (int64_t i = 0; i < tries; ++i) {
    Dice dice(static_cast<uint64_t>(i));
    const std::string text = random_convolution(dice);
    const Module before = test::parsed(text),
                 after = test::after_passes(before, "dilated-convolution-expander");
    dense += !is_dilated(after);
    EXPECT_EQ(test::difference_in_values(before, after, Keeps::Reals, 1, 1), "")
        << text << print(after);
  }
  EXPECT_GT(dense, tries / 4);
}

TEST(DilatedConvolution, LeavesWhatHasNoPhases) {
  for (const char* window : {"size=1 pad=1_1 lhs_dilate=2", "size=4 stride=2 lhs_dilate=2",
                             "size=2 rhs_dilate=2 lhs_dilate=2"}) {
    const bool strided = std::string_view(window).contains("stride");
    const Module before = test::parsed(fmt::format(
        "HloModule m\nENTRY e {{ x = f32[1,5,2] parameter(0)\n w = f32[{},2,3] parameter(1)\n ROOT "
        "y = f32[1,{},3] convolution(x, w), window={{{}}}, dim_labels=b0f_0io->b0f }}",
        window[5],
        strided                                    ? 3
        : std::string_view(window).contains("rhs") ? 7
                                                   : 11,
        window));
    for (const Error& error : verify(before)) ADD_FAILURE() << to_string(error);
    EXPECT_EQ(difference(before, test::after_passes(before, "dilated-convolution-expander")), "");
  }
}

// Sums over many features of the input fill lanes by themselves, and need no array of phases.
TEST(DilatedConvolution, LeavesLongSums) {
  for (const auto& [features, made, type, stays] :
       {std::tuple{64, 3, "f32", true}, std::tuple{63, 3, "f32", false},
        std::tuple{48, 3, "f32", false}, std::tuple{64, 3, "bf16", false},
        std::tuple{64, 7, "f64", true}, std::tuple{64, 1, "f32", false}}) {
    const Module before = test::parsed(fmt::format(
        "HloModule m\nENTRY e {{ x = {1}[1,4,4,{0}] parameter(0)\n w = {1}[4,4,{0},{2}] "
        "parameter(1)\n "
        "ROOT y = {1}[1,8,8,{2}] convolution(x, w), window={{size=4x4 pad=2_2x2_2 "
        "lhs_dilate=2x2}}, "
        "dim_labels=b01f_01io->b01f }}",
        features, type, made));
    EXPECT_EQ(is_dilated(test::after_passes(before, "dilated-convolution-expander")), stays)
        << features << type << made;
  }
}

}  // namespace
}  // namespace hilo
