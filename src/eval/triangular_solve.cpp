// triangular-solve: op(A) X = B or X op(A) = B by substitution. The other triangle of A is not
// read.
#include "eval/reference/reference.h"
#include "eval/routine.h"

namespace hilo {
namespace {

TriangularSystem system_of(const TriangularSolveAttributes& a, const Shape& of_x) {
  TriangularSystem out{of_x.dims[of_x.dims.size() - 2], of_x.dims.back()};
  out.on_left = a.left_side, out.is_lower = a.lower, out.has_units = a.unit_diagonal;
  out.is_conjugated = a.transpose_a == TransposeKind::Adjoint;
  out.is_transposed = out.is_conjugated || a.transpose_a == TransposeKind::Transpose;
  return out;
}

}  // namespace

Routine routine_TriangularSolve(const RoutineCall& call) {
  const TriangularSystem system =
      system_of(call.attributes<TriangularSolveAttributes>(), call.result());
  return [system, of_a = call.operand(0), of_x = call.result()](auto operands, auto results,
                                                                const Parallel& parallel) {
    solve_triangular(system, of_a, of_x, operands[0], operands[1], results[0], parallel);
  };
}

Result<Literal> evaluate_TriangularSolve(Call& call) {
  Literal out = call.make();
  const TriangularSystem system =
      system_of(call.attributes<TriangularSolveAttributes>(), out.shape());
  const Literal &a = call.operands[0], &b = call.operands[1];
  if (call.is_reference()) reference::triangular_solve(a, b, system, out);
  else
    solve_triangular(system, a.shape(), out.shape(), a.raw().data(), b.raw().data(),
                     out.mutable_raw().data(), call.in_chunks());
  return out;
}

}  // namespace hilo
