// Batches of triangular systems.
#include "kernels/gemm/matrix_pack.h"
#include "kernels/sharing.h"

namespace hilo {
namespace {

// x is B and becomes X, of each system.
template <class T>
void solve_all(const TriangularSystem& one, int64_t batches, const T* a, T* x,
               const Parallel& parallel) {
  const int64_t of_a = one.order() * one.order(), of_x = one.rows * one.columns;
  const auto solve = [&](int64_t begin, int64_t end, MaybeParallel inside) {
    for (int64_t i = begin; i < end; ++i) one.solve(a + i * of_a, x + i * of_x, inside);
  };
  if (is_alone(batches, one.work())) return solve(0, batches, &parallel);
  const Cores& here = find_cpu("native").cores;
  const PiecesOfWork all = work_of_multiplications(batches, one.work(), here);
  parallel(batches, grain_of(all, parallel.threads(), here),
           [&](int64_t begin, int64_t end) { solve(begin, end, nullptr); });
}

}  // namespace

void solve_triangular(const TriangularSystem& system, const Shape& of_a, const Shape& of_x,
                      const std::byte* a, const std::byte* b, std::byte* x,
                      const Parallel& parallel) {
  const int64_t size = system.rows * system.columns, count = element_count(of_x);
  const int64_t batches = size ? count / size : 0;
  visit_matrix_type(of_x.type, [&]<class T>(std::type_identity<T>) {
    if (element_type<T> == of_x.type && of_a.type == of_x.type) {
      T* const values = reinterpret_cast<T*>(x);
      if (b != x) std::copy_n(reinterpret_cast<const T*>(b), count, values);
      return solve_all(system, batches, reinterpret_cast<const T*>(a), values, parallel);
    }
    const std::vector<T> matrices = values_of<T>(of_a.type, a, element_count(of_a));
    std::vector<T> values = values_of<T>(of_x.type, b, count);
    solve_all(system, batches, matrices.data(), values.data(), parallel);
    store_values<T>(values, of_x.type, x);
  });
}

}  // namespace hilo
