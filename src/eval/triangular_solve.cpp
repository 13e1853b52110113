// triangular-solve: op(A) X = B or X op(A) = B by substitution. The other triangle of A is not
// read. Floats narrower than f32 are computed in f32.
#include "eval/triangular_solve.h"

#include "eval/call.h"
#include "eval/matrix_pack.h"
#include "eval/routine.h"

namespace hilo {
namespace {

template <class T>
struct Systems {
  TriangularSystem<T> one;
  int64_t batches;

  Systems(const TriangularSolveAttributes& a, const Shape& shape)
      : one{shape.dims[shape.dims.size() - 2], shape.dims.back()} {
    one.on_left = a.left_side, one.is_lower = a.lower, one.has_units = a.unit_diagonal;
    one.is_conjugated = a.transpose_a == TransposeKind::Adjoint;
    one.is_transposed = one.is_conjugated || a.transpose_a == TransposeKind::Transpose;
    const int64_t size = one.rows * one.columns;
    batches = size ? element_count(shape) / size : 0;
  }
  // x is B and becomes X.
  void solve(const T* a, T* x, const Parallel& parallel) const {
    const int64_t of_a = one.order() * one.order(), of_x = one.rows * one.columns;
    const auto solve_all = [&](int64_t begin, int64_t end, MaybeParallel inside) {
      for (int64_t i = begin; i < end; ++i) one.solve(a + i * of_a, x + i * of_x, inside);
    };
    if (is_alone(batches, one.work())) return solve_all(0, batches, &parallel);
    parallel(batches, std::max<int64_t>(1, 32768 / (one.work() + 1)),
             [&](int64_t begin, int64_t end) { solve_all(begin, end, nullptr); });
  }
};

template <class T>
Routine routine_of(const RoutineCall& call) {
  const Systems<T> systems(call.attributes<TriangularSolveAttributes>(), call.result());
  return [systems, shape = call.result(), of_a = call.operand(0)](auto operands, auto results,
                                                                  const Parallel& parallel) {
    if (element_type<T> != shape.type) {
      const std::vector<T> a = values_of<T>(seen(of_a, operands[0]));
      std::vector<T> x = values_of<T>(seen(shape, operands[1]));
      systems.solve(a.data(), x.data(), parallel);
      Literal out = seen(shape, results[0]);
      return store_values<T>(x, out);
    }
    T* x = reinterpret_cast<T*>(results[0]);
    if (operands[1] != results[0])
      std::copy_n(reinterpret_cast<const T*>(operands[1]), element_count(shape), x);
    systems.solve(reinterpret_cast<const T*>(operands[0]), x, parallel);
  };
}

template <class T>
Literal solve(Call& call) {
  const std::vector<T> a = values_of<T>(call.operands[0]);
  std::vector<T> x = values_of<T>(call.operands[1]);
  const Systems<T> systems(call.attributes<TriangularSolveAttributes>(), call.operands[1].shape());
  systems.solve(a.data(), x.data(), call.in_chunks());
  Literal out = call.make();
  store_values<T>(x, out);
  return out;
}

}  // namespace

Routine routine_TriangularSolve(const RoutineCall& call) {
  Routine out;
  visit_matrix_type(call.result().type,
                    [&]<class T>(std::type_identity<T>) { out = routine_of<T>(call); });
  return out;
}

Result<Literal> evaluate_TriangularSolve(Call& call) {
  Literal out;
  visit_matrix_type(call.operands[0].type(),
                    [&]<class T>(std::type_identity<T>) { out = solve<T>(call); });
  return out;
}

}  // namespace hilo
