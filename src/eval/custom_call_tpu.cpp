// Custom calls of TPU modules, of placement and of sharding, and Cholesky factors.
#include "eval/backend_config.h"
#include "eval/custom_call_pairs.h"
#include "eval/storage.h"

namespace hilo {
namespace {

Shape matrix_batch(const Shape& shape) { return with_dims(shape, shape.dims); }

// Solves a x = identity.
Result<Literal> invert_triangular(Call& call, bool lower) {
  Steps steps(call);
  StepValue a = steps.operand(0);
  const Shape shape = matrix_batch(a.shape);
  const int64_t rank = shape.rank();
  if (rank < 2) return call.error(ErrorKind::Shape, "expected matrices");
  const Shape indices = with_type(shape, ElementType::S32);
  StepValue row = steps.op(Op::Iota, indices, {}, IotaAttributes{rank - 2});
  StepValue column = steps.op(Op::Iota, indices, {}, IotaAttributes{rank - 1});
  StepValue equal = steps.op(Op::Compare, with_type(shape, ElementType::Pred),
                             {std::move(row), std::move(column)}, CompareAttributes{});
  StepValue identity = steps.convert(std::move(equal), shape.type);
  return steps.finish(
      {steps.op(Op::TriangularSolve, shape, {std::move(a), std::move(identity)},
                TriangularSolveAttributes{true, lower, false, TransposeKind::NoTranspose})});
}

}  // namespace

Result<Literal> call_invert_lower_triangular(Call& call) {
  HILO_DO(need_matrices(call));
  if (call.operands.size() == 1) return invert_triangular(call, true);
  return call_on_pairs(call, ElementType::C64, "InvertDiagBlocksLowerTriangular", 1);
}
Result<Literal> call_invert_upper_triangular(Call& call) {
  HILO_DO(need_matrices(call));
  if (call.operands.size() == 1) return invert_triangular(call, false);
  return call_on_pairs(call, ElementType::C64, "InvertDiagBlocksUpperTriangular", 1);
}

Result<Literal> call_allocate_buffer(Call& call) {
  return make_zeros(call, call.held(call.shape()));
}

Result<Literal> call_nothing(Call&) { return Literal::tuple({}); }

Result<Literal> call_identity(Call& call) {
  if (call.operands.empty()) return call.error(ErrorKind::Shape, "has no operand");
  if (!call.operands[0].shape().is_array()) return std::move(call.operands[0]);
  return Steps(call).finish({Steps(call).operand(0)});
}

// (operand of the collective, its value, flags...)
Result<Literal> call_async_collective_start(Call& call) {
  const Shape& stated = call.shape();
  if (call.operands.empty()) return call.error(ErrorKind::Shape, "has no operand");
  auto& started = call.device.traffic.started;
  auto found = started.find(call.module.operand(call.id, 0).value);
  if (found == started.end() || found->second.size() != 1 || !stated.is_tuple() ||
      stated.elements.size() < 2)
    return call.error(ErrorKind::Unsupported, "operand 0 is not a collective of one operand");
  StepValue source{std::move(found->second[0]), stated.elements[0]};
  started.erase(found);
  Steps steps(call);
  return steps.finish({std::move(source), steps.operand(0)});
}

Result<Literal> call_async_collective_done(Call& call) {
  if (call.operands.size() < 3)
    return call.error(ErrorKind::Shape, "expected (operand, buffer, collective, flags...)");
  Steps steps(call);
  return steps.finish({steps.operand(2)});
}

Result<Literal> call_cholesky(Call& call) {
  HILO_DO(need_matrices(call));
  if (call.operands.size() == 2) return call_on_pairs(call, ElementType::C64, "Cholesky", 1);
  Steps steps(call);
  StepValue a = steps.operand(0);
  const Shape shape = a.shape;
  return steps.finish({steps.op(Op::Cholesky, shape, {std::move(a)}, CholeskyAttributes{true})});
}

// (factor in its triangle, workspace, info): the other triangle is not read after it.
Result<Literal> call_cusolver_cholesky(Call& call) {
  HILO_TRY(BackendConfig config, BackendConfig::parse(call));
  Steps steps(call);
  StepValue a = steps.operand(0);
  const Shape shape = a.shape;
  const bool lower = config.inside("cholesky_options").flag("lower", true);
  return steps.finish({steps.op(Op::Cholesky, shape, {std::move(a)}, CholeskyAttributes{lower})});
}

}  // namespace hilo
