#include "pass/shard/propagation_step.h"

#include <algorithm>
#include <numeric>

namespace hilo {
namespace {

// The axes that a factor has where it has most of them.
struct Offer {
  size_t factor = 0;
  SubAxes axes;
  size_t source = 0;  // the first array that has them all
};

class Stepper {
 public:
  explicit Stepper(const Step& step) : step_(step), is_extended_(step.arrays.size()) {
    arrays_.reserve(step.arrays.size());
    for (const StepArray& array : step.arrays)
      arrays_.push_back(
          array.sharding ? axes_of_factors(step.factors, *array.dims, *array.sharding, array.prefix,
                                           step.priority)
                         : ArrayFactors{std::vector<FactorAxes>(step.factors.factors.size()), {}});
  }

  StepOutcome run() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const Offer& offer : offers()) changed |= take(offer);
    }
    StepOutcome out;
    out.shardings.resize(arrays_.size());
    for (size_t a = 0; a < arrays_.size(); ++a)
      if (is_extended_[a]) out.shardings[a] = written(a);
    out.moves = std::move(moves_);
    return out;
  }

 private:
  static Direction way_from(const StepArray& array) {
    return array.is_result ? Direction::Backward : Direction::Forward;
  }
  static Direction way_to(const StepArray& array) {
    return array.is_result ? Direction::Forward : Direction::Backward;
  }

  // Who comes first gets an axis that several factors want: what the largest array offers; in
  // elementwise ops what is sharded most; the first array; the first factor.
  std::vector<Offer> offers() const {
    std::vector<Offer> out;
    for (size_t factor = 0; factor < step_.factors.factors.size(); ++factor)
      if (auto offer = offer_of(factor)) out.push_back(std::move(*offer));
    if (out.size() > 1)
      std::ranges::stable_sort(out, [&](const Offer& a, const Offer& b) {
        const int64_t of_a = step_.arrays[a.source].elements,
                      of_b = step_.arrays[b.source].elements;
        if (of_a != of_b) return of_a > of_b;
        const int64_t size_a = axes_size(a.axes), size_b = axes_size(b.axes);
        if (step_.is_elementwise && size_a != size_b) return size_a > size_b;
        return a.source < b.source;
      });
    return out;
  }

  // The longest list that begins with what each array has, or is what it begins with; where
  // arrays contradict each other, what they have in common, or what the largest has.
  std::optional<Offer> offer_of(size_t factor) const {
    if (step_.directions[factor] == Direction::None) return std::nullopt;
    Offer out{factor, {}, 0};
    bool agree = true;
    for (size_t a = 0; a < arrays_.size(); ++a) {
      const FactorAxes& here = arrays_[a].factors[factor];
      if (here.axes.empty() || here.axes == out.axes) continue;
      SubAxes both = shared_prefix(out.axes, here.axes);
      if (both == here.axes) continue;
      if (both != out.axes && step_.settles_conflicts) {
        if (step_.arrays[a].elements <= step_.arrays[out.source].elements) continue;
        out.axes = here.axes;
        out.source = a;
      } else if (both != out.axes) {
        out.axes = std::move(both);
        agree = false;
      } else if (agree && allows(step_.directions[factor], way_from(step_.arrays[a]))) {
        out.axes = here.axes;
        out.source = a;
      }
    }
    return out.axes.empty() ? std::nullopt : std::optional(std::move(out));
  }

  bool take(const Offer& offer) {
    bool changed = false;
    std::span<const SubAxis> to_operands = offer.axes;
    SubAxes shared;  // with the results
    for (bool results : {true, false})
      for (size_t a = 0; a < arrays_.size(); ++a) {
        if (step_.arrays[a].is_result != results || !arrays_[a].factors[offer.factor].is_here)
          continue;
        if (allows(step_.directions[offer.factor], way_to(step_.arrays[a])))
          changed |= extend(a, offer, results ? offer.axes : to_operands);
        if (!results || !step_.is_elementwise) continue;
        shared = shared_prefix(to_operands, arrays_[a].factors[offer.factor].axes);
        to_operands = shared;
      }
    return changed;
  }

  bool extend(size_t a, const Offer& offer, std::span<const SubAxis> wanted) {
    const size_t factor = offer.factor;
    FactorAxes& here = arrays_[a].factors[factor];
    if (here.is_closed || std::ranges::equal(here.axes, wanted) || !is_prefix(here.axes, wanted))
      return false;
    const auto& of_dim = (*step_.arrays[a].dims)[here.dim];
    if (!is_reached(step_.factors, of_dim, factor, arrays_[a])) return false;
    const int64_t size = step_.factors.factors[factor].size;
    SubAxes taken = here.axes;
    for (const SubAxis& axis : behind_prefix(wanted, here.axes)) {
      if (is_taken(a, factor, axis)) break;
      const int64_t before = axes_size(taken);
      const int64_t left = here.is_minor ? (size + before - 1) / before : size / before;
      const bool fits = here.is_minor ? left > 1 : left % axis.size == 0;
      const int64_t part = fits ? axis.size : std::gcd(left, axis.size);
      if (part > 1) taken.push_back({axis.axis, axis.pre_size, part});
      if (part != axis.size) break;
    }
    merge_in_place(taken);
    if (taken == here.axes) return false;
    here.axes = std::move(taken);
    is_extended_[a] = true;
    moves_.push_back({a, here.dim, offer.source, arrays_[offer.source].factors[factor].dim});
    return true;
  }

  bool is_taken(size_t a, size_t factor, const SubAxis& axis) const {
    if (overlaps_any(axis, arrays_[a].blocked)) return true;
    for (size_t other = 0; other < arrays_[a].factors.size(); ++other)
      if (other != factor && overlaps_any(axis, arrays_[a].factors[other].axes)) return true;
    return false;
  }

  std::optional<AxisSharding> written(size_t a) const {
    const StepArray& array = step_.arrays[a];
    if (!array.sharding) return std::nullopt;
    std::optional<AxisSharding> out;
    for (size_t d = 0; d < array.dims->size(); ++d) {
      const AxisSharding::Dim& dim = array.sharding->dims[d];
      if (!dim.is_open || dim.priority > step_.priority) continue;
      SubAxes axes = axes_of_dimension(step_.factors, (*array.dims)[d], arrays_[a]);
      if (array.prefix) {  // which factors may not have as it is
        if (!is_prefix((*array.prefix)[d], axes)) continue;
        axes = behind_prefix(axes, (*array.prefix)[d]);
      }
      merge_in_place(axes);
      if (axes_size(axes) <= axes_size(dim.axes)) continue;
      if (!out) out = *array.sharding;
      out->dims[d].axes = std::move(axes);
    }
    return out;
  }

  const Step& step_;
  std::vector<ArrayFactors> arrays_;
  std::vector<bool> is_extended_;  // by array: some factor took axes
  std::vector<StepMove> moves_;
};

}  // namespace

StepOutcome propagate_step(const Step& step) { return Stepper(step).run(); }

}  // namespace hilo
