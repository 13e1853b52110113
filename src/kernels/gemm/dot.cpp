// Products of arrays over any dimensions.
#include <algorithm>
#include <numeric>

#include "kernels/kernels.h"

namespace hilo {
namespace {

struct Side {
  Dims batch, free, contracting;  // positions
};
Side side(const Dims& dims, const Dims& batch, const Dims& contracting,
          std::span<const int64_t> contracted_sizes) {
  const Dims strides = row_major_strides(dims);
  const Dims free = free_dims(dims.size(), batch, contracting);
  return {positions(pick(dims, batch), pick(strides, batch)),
          positions(pick(dims, free), pick(strides, free)),
          positions(contracted_sizes, pick(strides, contracting))};
}

// Whether elements that stand side by side in memory are summed.
bool ends_with(const Dims& dims, const Dims& contracting) {
  int64_t last = std::ssize(dims) - 1;
  while (last > 0 && dims[static_cast<size_t>(last)] == 1) --last;
  return std::ranges::count(contracting, last) > 0;
}

// The order in which contracted dimensions are walked. Where neighbours in memory are summed, they
// stay neighbours, those of the larger operand if there are two such: packing reads them in runs.
Dims contraction_order(const Shape& lhs, const Shape& rhs, const DotDims& dims) {
  Dims order(dims.lhs_contracting.size());
  std::iota(order.begin(), order.end(), 0);
  const bool by_lhs = ends_with(lhs.dims, dims.lhs_contracting),
             by_rhs = ends_with(rhs.dims, dims.rhs_contracting);
  if (!by_lhs && !by_rhs) return order;
  const bool is_larger = element_count(rhs) > element_count(lhs);
  const Dims& by = by_rhs && (!by_lhs || is_larger) ? dims.rhs_contracting : dims.lhs_contracting;
  std::ranges::sort(order, {}, [&](int64_t i) { return by[static_cast<size_t>(i)]; });
  return order;
}

}  // namespace

Matmul dot_product(const Shape& lhs, const Shape& rhs, ElementType out, const DotDims& dims,
                   std::span<const int64_t> contracted, MatmulPrecision precision) {
  const Dims order = contraction_order(lhs, rhs, dims), sizes = pick(contracted, order);
  const Side a = side(lhs.dims, dims.lhs_batch, pick(dims.lhs_contracting, order), sizes);
  const Side b = side(rhs.dims, dims.rhs_batch, pick(dims.rhs_contracting, order), sizes);
  const int64_t m = a.free.size(), n = b.free.size(), batches = a.batch.size();
  return {{nullptr, lhs.type, a.batch, a.free, a.contracting},
          {nullptr, rhs.type, b.batch, b.free, b.contracting},
          {nullptr, out, positions(Dims{batches}, Dims{m * n}), positions(Dims{m}, Dims{n}),
           positions(Dims{n}, Dims{1})},
          precision};
}

}  // namespace hilo
