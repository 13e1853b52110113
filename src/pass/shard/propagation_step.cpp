#include "pass/shard/propagation_step.h"

#include <algorithm>
#include <numeric>

namespace hilo {
namespace {

Direction way_from(const StepArray& array) {
  return array.is_result ? Direction::Backward : Direction::Forward;
}
Direction way_to(const StepArray& array) {
  return array.is_result ? Direction::Forward : Direction::Backward;
}

}  // namespace

StepOutcome Stepper::run(const Step& step) {
  step_ = &step;
  read_arrays();
  for (bool changed = true; changed;) {
    changed = false;
    find_offers();
    for (size_t offer : order_) changed |= take(offers_[offer]);
  }
  StepOutcome out;
  out.shardings.resize(step.arrays.size());
  for (size_t a = 0; a < step.arrays.size(); ++a)
    if (is_extended_[a]) out.shardings[a] = written(a);
  out.moves.assign(moves_.begin(), moves_.end());
  return out;
}

void Stepper::read_arrays() {
  const size_t count = step_->arrays.size();
  if (arrays_.size() < count) arrays_.resize(count);
  is_extended_.assign(count, false);
  moves_.clear();
  for (size_t a = 0; a < count; ++a) {
    const StepArray& array = step_->arrays[a];
    if (array.sharding)
      axes_of_factors(step_->factors, *array.dims, *array.sharding, array.prefix, step_->priority,
                      arrays_[a]);
    else arrays_[a].clear(step_->factors.factors.size());
  }
}

// Who comes first gets an axis that several factors want: what the largest array offers; in
// elementwise ops what is sharded most; the first array; the first factor.
bool Stepper::comes_before(const Offer& a, const Offer& b) const {
  const int64_t of_a = step_->arrays[a.source].elements, of_b = step_->arrays[b.source].elements;
  if (of_a != of_b) return of_a > of_b;
  const int64_t size_a = axes_size(a.axes), size_b = axes_size(b.axes);
  if (step_->is_elementwise && size_a != size_b) return size_a > size_b;
  return a.source < b.source;
}

void Stepper::find_offers() {
  order_.clear();
  const auto comes_before = [&](size_t a, size_t b) {
    return this->comes_before(offers_[a], offers_[b]);
  };
  for (size_t factor = 0; factor < step_->factors.factors.size(); ++factor) {
    const size_t next = order_.size();
    if (next == offers_.size()) offers_.emplace_back();
    if (find_offer(factor, offers_[next]))
      order_.insert(std::upper_bound(order_.begin(), order_.end(), next, comes_before), next);
  }
}

// The longest list that begins with what each array has, or is what it begins with; where arrays
// contradict each other, what they have in common, or what the largest has.
bool Stepper::find_offer(size_t factor, Offer& out) const {
  out.factor = factor;
  out.axes.clear();
  out.source = 0;
  if (step_->directions[factor] == Direction::None) return false;
  bool agree = true;
  for (size_t a = 0; a < step_->arrays.size(); ++a) {
    const FactorAxes& here = arrays_[a].factors[factor];
    if (here.axes.empty() || here.axes == out.axes) continue;
    SubAxes both = shared_prefix(out.axes, here.axes);
    if (both == here.axes) continue;
    if (both != out.axes && step_->settles_conflicts) {
      if (step_->arrays[a].elements <= step_->arrays[out.source].elements) continue;
      out.axes = here.axes;
      out.source = a;
    } else if (both != out.axes) {
      out.axes = std::move(both);
      agree = false;
    } else if (agree && allows(step_->directions[factor], way_from(step_->arrays[a]))) {
      out.axes = here.axes;
      out.source = a;
    }
  }
  return !out.axes.empty();
}

bool Stepper::take(const Offer& offer) {
  bool changed = false;
  std::span<const SubAxis> to_operands = offer.axes;
  SubAxes shared;  // with the results
  for (bool results : {true, false})
    for (size_t a = 0; a < step_->arrays.size(); ++a) {
      if (step_->arrays[a].is_result != results || !arrays_[a].factors[offer.factor].is_here)
        continue;
      if (allows(step_->directions[offer.factor], way_to(step_->arrays[a])))
        changed |= extend(a, offer, results ? offer.axes : to_operands);
      if (!results || !step_->is_elementwise) continue;
      shared = shared_prefix(to_operands, arrays_[a].factors[offer.factor].axes);
      to_operands = shared;
    }
  return changed;
}

bool Stepper::extend(size_t a, const Offer& offer, std::span<const SubAxis> wanted) {
  const size_t factor = offer.factor;
  FactorAxes& here = arrays_[a].factors[factor];
  if (here.is_closed || std::ranges::equal(here.axes, wanted) || !is_prefix(here.axes, wanted))
    return false;
  const auto& of_dim = (*step_->arrays[a].dims)[here.dim];
  if (!is_reached(step_->factors, of_dim, factor, arrays_[a])) return false;
  const int64_t size = step_->factors.factors[factor].size;
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

bool Stepper::is_taken(size_t a, size_t factor, const SubAxis& axis) const {
  if (overlaps_any(axis, arrays_[a].blocked)) return true;
  for (size_t other = 0; other < arrays_[a].factors.size(); ++other)
    if (other != factor && overlaps_any(axis, arrays_[a].factors[other].axes)) return true;
  return false;
}

std::optional<AxisSharding> Stepper::written(size_t a) const {
  const StepArray& array = step_->arrays[a];
  if (!array.sharding) return std::nullopt;
  std::optional<AxisSharding> out;
  for (size_t d = 0; d < array.dims->size(); ++d) {
    const AxisSharding::Dim& dim = array.sharding->dims[d];
    if (!dim.is_open || dim.priority > step_->priority) continue;
    SubAxes axes = axes_of_dimension(step_->factors, (*array.dims)[d], arrays_[a]);
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

}  // namespace hilo
