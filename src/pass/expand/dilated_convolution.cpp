// Convolutions of a dilated input to few features as convolutions of the input as it is, to more.
// In a dimension whose input is dilated by s and whose window has s*T places, the result's places
// y = s*q + p - c of one phase p < s all see the same places of the window, one of every s:
//
//   y[s*q + p - c, f] = Σ_t x[q + t - m] w[s*t + s - 1 - p, f],   c = (s - 1 - low) mod s,
//                                                                  m = (low + c - (s - 1)) / s
//
//   convolution(x, w), lhs_dilate=s  =>  slice(reshape(transpose(reshape(convolution(x, v)))))
//   v[t, p f] = w[s*t + s - 1 - p, f]
//
// So no product is one with the zeros between the elements, and the phases lie beside the features,
// which alone would leave most lanes of a vector empty. Long sums over the input's features are
// lanes of their own, and stay. In a window of another size the phases see different numbers of
// places, and those that some lack cannot be zeros, which make NaN of an infinity: each phase is a
// convolution of its own then, where it has few products, and they are joined.
// Assumes nothing. Before convolutions get their form.
#include <algorithm>

#include "pass/expand/formula.h"
#include "pass/loop_limits.h"

namespace hilo {
namespace {

constexpr int64_t long_sum = 256;
constexpr int64_t max_computed_ratio = 2;  // for each place of the result: phases beyond its ends
// Of phases that are apart.
constexpr int64_t max_separate_phases = 8;

struct Phases {
  size_t spatial;                      // number of the dimension among the spatial ones
  int64_t count, size, skipped, made;  // s, places of the window, c, places q
  bool are_even() const { return size % count == 0; }
  // T, of a phase where they are not even: places s*t + s - 1 - phase of the window, from t = 0 on.
  int64_t taps(int64_t phase = 0) const { return (size + phase) / count; }
};

int64_t floor_rest(int64_t a, int64_t b) {
  const int64_t rest = a % b;
  return rest < 0 ? rest + b : rest;
}

bool has_phases(const WindowDim& dim) {
  return dim.stride == 1 && dim.window_dilation == 1 && dim.size >= dim.base_dilation;
}

class DilatedConvolution {
 public:
  explicit DilatedConvolution(Formula& f)
      : f_(f),
        a_(f.module().attributes<ConvolutionAttributes>(f.root())),
        result_(f.module().shape(f.root())) {}

  Term expand() {
    if (!is_covered() || !find_phases()) return {};
    if (!std::ranges::all_of(phases_, &Phases::are_even))
      return can_be_apart() ? join_phases(phases_apart()) : Term{};
    const Term kernel = split_kernel(f_.operand(1));
    for (const Phases& p : phases_) {
      WindowDim& dim = a_.window.dims[p.spatial];
      make_dense(p, p.taps(), dim);
      dim.reversal = false;  // the kernel is reversed
    }
    return join_phases(convolution(kernel, a_));
  }

 private:
  bool is_covered() const {
    const ConvolutionLabels& labels = a_.dim_labels;
    return a_.feature_group_count == 1 && a_.batch_group_count == 1 &&
           labels.input_unknown.empty() && labels.kernel_unknown.empty() &&
           a_.sparsity_config.text.empty() && a_.convolution_kind == ConvolutionKind::Unset &&
           element_count(result_.dims) > 0 && element_count(f_.operand(0).shape().dims) > 0 &&
           result_.dims[labels.output_feature] < LoopLimits::min_lane_features && !sums_inputs();
  }

  // Long sums over whole vectors of the input's features are lanes themselves, and nothing is made
  // besides; one feature would add up its lanes for each place. Elements of bf16 would be converted
  // once for each place that sees them.
  bool sums_inputs() const {
    const Shape& input = f_.operand(0).shape();
    const int64_t features = input.dims[a_.dim_labels.input_feature];
    int64_t products = features;  // of an element of the result
    for (const WindowDim& dim : a_.window.dims) products *= dim.size / dim.base_dilation;
    return features % LoopLimits::whole_features == 0 && products >= long_sum &&
           result_.dims[a_.dim_labels.output_feature] > 1 && input.type != ElementType::BF16;
  }

  // Of all dilated dimensions. False when there are none, or when too much would be made besides.
  bool find_phases() {
    int64_t asked = 1, made = 1;
    for (size_t d = 0; d < a_.window.dims.size(); ++d) {
      const WindowDim& dim = a_.window.dims[d];
      if (dim.base_dilation == 1) continue;
      if (!has_phases(dim)) return false;
      const int64_t size = result_.dims[a_.dim_labels.output_spatial[d]], s = dim.base_dilation,
                    skipped = floor_rest(s - 1 - dim.padding_low, s);
      phases_.push_back({d, s, dim.size, skipped, (size + skipped + s - 1) / s});
      asked *= size, made *= phases_.back().made * s;
    }
    return !phases_.empty() && made <= max_computed_ratio * asked;
  }

  // The window of a phase that sees so many places of the input.
  void make_dense(const Phases& p, int64_t taps, WindowDim& dim) const {
    const int64_t size = f_.operand(0).shape().dims[a_.dim_labels.input_spatial[p.spatial]],
                  low = (dim.padding_low + p.skipped - (p.count - 1)) / p.count;
    dim = {.size = taps,
           .padding_low = low,
           .padding_high = p.made + taps - 1 - size - low,
           .reversal = dim.reversal};
  }

  Term convolution(Term kernel, const ConvolutionAttributes& attributes) {
    const Term made = f_.term(f_.editor().add_inferred(
        f_.root(), Op::Convolution, std::array{f_.operand(0).value, kernel.value}, attributes));
    f_.editor().set_shape(made.value, Shape::array(result_.type, Dims(made.shape().dims)));
    return made;
  }

  // Of which the loops over elements have all products in one expression.
  bool can_be_apart() const {
    int64_t count = 1, products = f_.operand(0).shape().dims[a_.dim_labels.input_feature];
    for (const WindowDim& dim : a_.window.dims)
      products *= (dim.size + dim.base_dilation - 1) / dim.base_dilation;
    for (const Phases& p : phases_) count *= p.count;
    return count <= max_separate_phases && products <= LoopLimits::max_products;
  }

  // The phases beside the features, of the first dimension slowest.
  Term phases_apart() {
    std::vector<InstructionId> made;
    Dims phase(phases_.size(), 0);
    while (true) {
      made.push_back(one_phase(phase).value);
      size_t i = phases_.size();
      while (i > 0 && ++phase[i - 1] == phases_[i - 1].count) phase[--i] = 0;
      if (i == 0) break;
    }
    return f_.term(f_.editor().add_inferred(f_.root(), Op::Concatenate, made,
                                            DimensionsAttributes{{a_.dim_labels.output_feature}}));
  }

  // Of the kernel every s-th place.
  Term one_phase(const Dims& phase) {
    ConvolutionAttributes attributes = a_;
    const Term kernel = f_.operand(1);
    std::vector<SliceDim> seen;
    for (const int64_t size : kernel.shape().dims) seen.push_back({0, size, 1});
    for (size_t i = 0; i < phases_.size(); ++i) {
      const Phases& p = phases_[i];
      WindowDim& dim = attributes.window.dims[p.spatial];
      const int64_t first = p.count - 1 - phase[i], taps = p.taps(phase[i]),
                    length = (taps - 1) * p.count + 1,
                    start = dim.reversal ? p.size - first - length : first;
      seen[a_.dim_labels.kernel_spatial[p.spatial]] = {start, start + length, p.count};
      make_dense(p, taps, dim);
    }
    return convolution(f_.slice(kernel, std::move(seen)), attributes);
  }

  Term reversed(Term x, Dims dims) {
    if (dims.empty()) return x;
    return f_.term(f_.editor().add_inferred(f_.root(), Op::Reverse, std::array{x.value},
                                            DimensionsAttributes{std::move(dims)}));
  }

  // v of w: each of the window's dimensions in two, the second of which goes before the features.
  // Reversed windows are so on both.
  Term split_kernel(Term kernel) {
    const Dims whole = kernel.shape().dims;
    Dims apart, order, back, dims = whole, place(whole.size());
    std::vector<const Phases*> of(whole.size(), nullptr);
    for (const Phases& p : phases_) of[a_.dim_labels.kernel_spatial[p.spatial]] = &p;
    Dims phase_dims;
    for (size_t d = 0; d < whole.size(); ++d) {
      place[d] = std::ssize(apart);
      apart.push_back(of[d] ? of[d]->taps() : whole[d]);
      if (of[d]) apart.push_back(of[d]->count);
    }
    for (const Phases& p : phases_) {
      const int64_t taps = place[a_.dim_labels.kernel_spatial[p.spatial]];
      back.push_back(a_.window.dims[p.spatial].reversal ? taps : taps + 1);
      phase_dims.push_back(taps + 1);
      dims[a_.dim_labels.kernel_spatial[p.spatial]] = p.taps();
      dims[a_.dim_labels.kernel_output_feature] *= p.count;
    }
    std::ranges::sort(back);
    for (size_t d = 0; d < whole.size(); ++d) {
      if (static_cast<int64_t>(d) == a_.dim_labels.kernel_output_feature)
        order.insert(order.end(), phase_dims.begin(), phase_dims.end());
      order.push_back(place[d]);
    }
    return f_.reshape(f_.transpose(reversed(f_.reshape(kernel, apart), back), order), dims);
  }

  // The phases from beside the features to their places.
  Term join_phases(Term made) {
    const ConvolutionLabels& labels = a_.dim_labels;
    const Dims whole = made.shape().dims;
    Dims apart, order, dims = whole, place(whole.size());
    std::vector<SliceDim> kept;
    for (size_t d = 0; d < whole.size(); ++d) {
      const bool has_features = static_cast<int64_t>(d) == labels.output_feature;
      if (has_features)
        for (const Phases& p : phases_) apart.push_back(p.count);
      place[d] = std::ssize(apart);
      apart.push_back(has_features ? result_.dims[d] : whole[d]);
      kept.push_back({0, result_.dims[d], 1});
    }
    dims[labels.output_feature] = result_.dims[labels.output_feature];
    std::vector<int64_t> phase_of(whole.size(), -1);
    for (size_t i = 0; i < phases_.size(); ++i) {
      const int64_t d = labels.output_spatial[phases_[i].spatial];
      phase_of[d] = place[labels.output_feature] - std::ssize(phases_) + static_cast<int64_t>(i);
      dims[d] *= phases_[i].count;
      kept[d].start = phases_[i].skipped, kept[d].limit += phases_[i].skipped;
    }
    for (size_t d = 0; d < whole.size(); ++d) {
      order.push_back(place[d]);
      if (phase_of[d] >= 0) order.push_back(phase_of[d]);
    }
    const Term joined = f_.reshape(f_.transpose(f_.reshape(made, apart), order), dims);
    return dims == result_.dims ? joined : f_.slice(joined, std::move(kept));
  }

  Formula& f_;
  ConvolutionAttributes a_;
  const Shape result_;
  std::vector<Phases> phases_;
};

}  // namespace

Result<bool> expand_dilated_convolutions(Module& module, const PassOptions&) {
  Editor editor(module);
  return expand(editor, Op::Convolution, [](Formula& f) { return DilatedConvolution(f).expand(); });
}

}  // namespace hilo
