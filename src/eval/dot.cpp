#include "eval/dot.h"

#include <algorithm>

#include "eval/reference/reference.h"
#include "eval/routine.h"

namespace hilo {
namespace {

void set_result_sizes(const Literal& operand, const Dims& dims, size_t& next, Literal& out) {
  for (int64_t dim : dims) out.set_size(next++, operand.size(dim));
}

}  // namespace

void dot(const Literal& lhs, const Literal& rhs, const DotDims& dims, Literal& out,
         MatmulPrecision precision, const Call& call) {
  Dims contracted;
  for (size_t i = 0; i < dims.lhs_contracting.size(); ++i)
    contracted.push_back(
        std::min(lhs.size(dims.lhs_contracting[i]), rhs.size(dims.rhs_contracting[i])));
  if (call.is_reference()) {
    reference::dot(lhs, rhs, dims, contracted, precision, out);
  } else {
    Matmul product = dot_product(lhs.shape(), rhs.shape(), out.type(), dims, contracted, precision);
    product.lhs.data = lhs.raw().data(), product.rhs.data = rhs.raw().data();
    product.out.data = out.mutable_raw().data();
    matmul(product, call.in_chunks());
  }
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
      dot_product(lhs, rhs, call.result().type, dot_dims(a), pick(lhs.dims, a.lhs_contracting_dims),
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
