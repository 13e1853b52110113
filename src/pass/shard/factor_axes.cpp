#include "pass/shard/factor_axes.h"

#include <algorithm>
#include <numeric>

namespace hilo {
namespace {

int64_t rounded_up(int64_t size, int64_t parts) { return (size + parts - 1) / parts; }

// Takes from the front of `rest`, which is in reverse, what a factor has.
void take_axes(int64_t size, bool is_minor, SubAxes& rest, SubAxes& out) {
  for (int64_t left = size; left > 1 && !rest.empty();) {
    SubAxis& next = rest.back();
    if (left % next.size == 0 || is_minor) {
      left = rounded_up(left, next.size);
      out.push_back(next);
      rest.pop_back();
      continue;
    }
    const int64_t part = std::gcd(left, next.size);
    if (part > 1) out.push_back({next.axis, next.pre_size, part});
    next.pre_size *= part;
    next.size /= part;
    break;  // what is left of the factor and of the axis have nothing in common
  }
  merge_in_place(out);
}

}  // namespace

void ArrayFactors::clear(size_t count) {
  blocked.clear();
  factors.resize(count);
  for (FactorAxes& factor : factors) {
    factor.axes.clear();
    factor.is_here = factor.is_closed = factor.is_minor = false;
    factor.dim = 0;
  }
}

void axes_of_factors(const ShardingFactors& factors, const DimensionFactors& dims,
                     const AxisSharding& sharding, const std::vector<SubAxes>* prefix,
                     int64_t priority, ArrayFactors& out) {
  out.clear(factors.factors.size());
  const auto block = [&](const SubAxes& axes) {
    if (!axes.empty()) out.blocked.insert(out.blocked.end(), axes.begin(), axes.end());
  };
  block(sharding.replicated), block(sharding.unreduced), block(sharding.manual);
  SubAxes rest;
  for (size_t d = 0; d < dims.size(); ++d) {
    const AxisSharding::Dim& dim = sharding.dims[d];
    const bool is_later = dim.priority > priority;
    rest.clear();
    if (prefix) rest = (*prefix)[d];
    if (is_later) block(dim.axes);
    else if (!dim.axes.empty()) rest.insert(rest.end(), dim.axes.begin(), dim.axes.end());
    std::ranges::reverse(rest);
    bool is_full = true;  // the factor before takes no more
    for (size_t i = 0; i < dims[d].size(); ++i) {
      const int64_t size = factors.factors[dims[d][i]].size;
      FactorAxes& factor = out.factors[dims[d][i]];
      if (factor.is_here) break;  // a diagonal
      factor.dim = d;
      factor.is_here = true;
      factor.is_closed = !dim.is_open || is_later;
      factor.is_minor = i + 1 == dims[d].size();
      if (is_full && !rest.empty()) take_axes(size, factor.is_minor, rest, factor.axes);
      is_full = is_full && axes_size(factor.axes) == size;
    }
    if (rest.empty()) continue;
    block(rest);  // they would be lost behind more axes
    for (size_t factor : dims[d]) out.factors[factor].is_closed = true;
  }
}

SubAxes axes_of_dimension(const ShardingFactors& factors, std::span<const size_t> of_dim,
                          const ArrayFactors& array) {
  SubAxes out;
  for (size_t factor : of_dim) {
    const SubAxes& axes = array.factors[factor].axes;
    out.insert(out.end(), axes.begin(), axes.end());
    if (axes_size(axes) != factors.factors[factor].size) break;
  }
  merge_in_place(out);
  return out;
}

bool is_reached(const ShardingFactors& factors, std::span<const size_t> of_dim, size_t factor,
                const ArrayFactors& array) {
  for (size_t before : of_dim) {
    if (before == factor) return true;
    if (axes_size(array.factors[before].axes) != factors.factors[before].size) return false;
  }
  return false;
}

}  // namespace hilo
