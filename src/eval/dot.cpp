#include "eval/dot.h"

#include <algorithm>
#include <numeric>

#include "eval/matmul.h"
#include "eval/positions.h"
#include "eval/routine.h"

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

// Without data.
Matmul product_of(const Shape& lhs, const Shape& rhs, ElementType out, const DotDims& dims,
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

void set_result_sizes(const Literal& operand, const Dims& dims, size_t& next, Literal& out) {
  for (int64_t dim : dims) out.set_size(next++, operand.size(dim));
}

}  // namespace

Dims free_dims(int64_t rank, std::span<const int64_t> batch, std::span<const int64_t> contracting) {
  Dims out;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (std::ranges::count(batch, dim) + std::ranges::count(contracting, dim) == 0)
      out.push_back(dim);
  return out;
}

void dot(const Literal& lhs, const Literal& rhs, const DotDims& dims, Literal& out,
         MatmulPrecision precision, const Call& call) {
  Dims contracted;
  for (size_t i = 0; i < dims.lhs_contracting.size(); ++i)
    contracted.push_back(
        std::min(lhs.size(dims.lhs_contracting[i]), rhs.size(dims.rhs_contracting[i])));
  Matmul product = product_of(lhs.shape(), rhs.shape(), out.type(), dims, contracted, precision);
  product.lhs.data = lhs.raw().data(), product.rhs.data = rhs.raw().data();
  product.out.data = out.mutable_raw().data();
  matmul(product, call);
  size_t next = 0;
  set_result_sizes(lhs, dims.lhs_batch, next, out);
  set_result_sizes(lhs, free_dims(lhs.shape().rank(), dims.lhs_batch, dims.lhs_contracting), next,
                   out);
  set_result_sizes(rhs, free_dims(rhs.shape().rank(), dims.rhs_batch, dims.rhs_contracting), next,
                   out);
}

Routine routine_Dot(const RoutineCall& call) {
  const auto& a = call.attributes<DotAttributes>();
  if (!a.sparsity.text.empty()) return {};
  const Shape &lhs = call.operand(0), &rhs = call.operand(1);
  Matmul product =
      product_of(lhs, rhs, call.result().type, dot_dims(a), pick(lhs.dims, a.lhs_contracting_dims),
                 call.options.matmul_precision);
  product.may_split = true;
  const auto over = [product](auto operands, auto results) {
    Matmul now = product;
    now.lhs.data = operands[0], now.rhs.data = operands[1], now.out.data = results[0];
    return now;
  };
  Routine out = [over](auto operands, auto results, const Parallel& parallel) {
    matmul(over(operands, results), parallel);
  };
  out.run_in_parts = [over](auto operands, auto results, const Parallel& parallel, int64_t width,
                            const TakePart& take) {
    Matmul now = over(operands, results);
    if (!tells_parts(now, width)) return false;
    now.take = &take, now.width = width;
    matmul(now, parallel);
    return true;
  };
  return out;
}

Result<Literal> evaluate_Dot(Call& call) {
  const auto& attributes = call.attributes<DotAttributes>();
  if (!attributes.sparsity.text.empty())
    return call.error(ErrorKind::Unsupported, "dot with structured sparsity");
  Literal out = call.make();
  dot(call.operands[0], call.operands[1], dot_dims(attributes), out,
      call.options().matmul_precision, call);
  return out;
}

}  // namespace hilo
