// pad, reverse.
#include <algorithm>

#include "pass/simplify/simplify.h"

namespace hilo {
namespace {

using namespace rule_types;
using enum Keeps;

const std::vector<PaddingDim>& padding_of(const Match& match) {
  return match.attributes<PadAttributes>().padding.dims;
}

bool pads_nothing(const Match& match) {
  return std::ranges::all_of(padding_of(match), [](const PaddingDim& dim) {
    return dim.low == 0 && dim.high == 0 && dim.interior == 0;
  });
}

InstructionId pad_of_empty(Editor& editor, const Match& match) {
  if (element_count(match.shape('x')) > 0 || !all_plain(match, "")) return {};
  return make_broadcast(editor, match, match['y'], {});
}

InstructionId pad_of_padding(Editor& editor, const Match& match) {
  return all_plain(match, "") ? make_broadcast(editor, match, match['y'], {}) : InstructionId{};
}

InstructionId pad_once(Editor& editor, const Match& match) {
  if (!all_plain(match, "xp")) return {};
  std::vector<PaddingDim> padding = padding_of(match);
  const auto& inner = match.attributes<PadAttributes>('p').padding.dims;
  for (size_t i = 0; i < padding.size(); ++i) {
    if (padding[i].interior != 0 || inner[i].interior != 0 || padding[i].low < 0 ||
        padding[i].high < 0 || inner[i].low < 0 || inner[i].high < 0)
      return {};
    padding[i].low += inner[i].low, padding[i].high += inner[i].high;
  }
  return editor.add(match.root(), Op::Pad, match.shape(), std::array{match['x'], match['y']},
                    PadAttributes{{std::move(padding)}});
}

InstructionId pad_to_slice(Editor& editor, const Match& match) {
  if (!all_plain(match, "x")) return {};
  std::vector<SliceDim> slice;
  for (size_t i = 0; i < padding_of(match).size(); ++i) {
    const PaddingDim& dim = padding_of(match)[i];
    const int64_t size = match.shape('x').dims[i];
    if (dim.low > 0 || dim.high > 0 || dim.interior != 0 || -dim.low > size + dim.high) return {};
    slice.push_back({-dim.low, size + dim.high, 1});
  }
  return editor.add(match.root(), Op::Slice, match.shape(), std::array{match['x']},
                    SliceAttributes{{std::move(slice)}});
}

bool reverses_nothing(const Match& match) {
  return std::ranges::all_of(dimensions_of(match),
                             [&](int64_t dim) { return match.shape().dims[dim] <= 1; });
}

bool reverses_back(const Match& match) {
  Dims outer = dimensions_of(match), inner = dimensions_of(match, 'r');
  std::ranges::sort(outer), std::ranges::sort(inner);
  return outer == inner;
}

InstructionId reverse_once(Editor& editor, const Match& match) {
  Dims dims;
  for (int64_t dim : dimensions_of(match))
    if (!contains_dim(dimensions_of(match, 'r'), dim)) dims.push_back(dim);
  for (int64_t dim : dimensions_of(match, 'r'))
    if (!contains_dim(dimensions_of(match), dim)) dims.push_back(dim);
  std::ranges::sort(dims);
  return editor.add(match.root(), Op::Reverse, match.shape(), std::array{match['x']},
                    DimensionsAttributes{std::move(dims)});
}

bool reverses_copies(const Match& match) {
  return std::ranges::none_of(dimensions_of(match), [&](int64_t dim) {
    return contains_dim(dimensions_of(match, 'b'), dim);
  });
}

constexpr RewriteRule rules[] = {
    {"pad-nothing", Any, Bits, "pad(x, y)", "x", pads_nothing},
    {"pad-of-empty", Any, Bits, "pad(x, y)", pad_of_empty},
    {"pad-of-padding", Any, Bits, "pad(broadcast(y), y)", pad_of_padding},
    {"pad-pad", Any, Bits, "pad(p:pad(x, y), y)", pad_once},
    {"pad-to-slice", Any, Bits, "pad(x, y)", pad_to_slice},
    {"reverse-nothing", Any, Bits, "reverse(x)", "x", reverses_nothing},
    {"reverse-back", Any, Bits, "reverse(r:reverse(x))", "x", reverses_back},
    {"reverse-reverse", Any, Bits, "reverse(r:reverse(x))", reverse_once},
    {"reverse-of-broadcast", Any, Bits, "reverse(b:broadcast(x))", "b", reverses_copies},
};

}  // namespace

RuleTable pad_rules() { return rules; }

}  // namespace hilo
