// Operations of LAPACK's routines: LAPACK Working Note 41, appendix C; where a routine iterates,
// the usual numbers in Golub and Van Loan, Matrix Computations (4th edition), sections 7.5, 8.3
// and 8.6.
#include <algorithm>

#include "analysis/cost.h"

namespace hilo {
namespace {

// Sizes of operand 0: matrices of m rows and n columns.
struct Matrices {
  double m = 0, n = 0, count = 0;
  double least() const { return std::min(m, n); }
  double most() const { return std::max(m, n); }
};

Matrices matrices_of(const Counting& counting, const Instruction& i) {
  if (i.operand_count < 1) return {};
  const Shape& a = counting.operand_shape(i, 0);
  if (!a.is_array() || a.rank() < 2) return {};
  const double m = static_cast<double>(a.dims[a.dims.size() - 2]);
  const double n = static_cast<double>(a.dims.back());
  return {m, n, m > 0 && n > 0 ? elements_of(a) / (m * n) : 0};
}

template <class Formula>
Cost lapack(const Counting& counting, const Instruction& i, Formula formula) {
  const Matrices a = matrices_of(counting, i);
  return library_call(counting, i, a.count * formula(a));
}

double cube(double n) { return n * n * n; }

}  // namespace

Cost cost_lapack_getrf(const Counting& counting, const Instruction& i) {
  return lapack(counting, i, [](const Matrices& a) {
    const double k = a.least();
    return 2 * (a.m * a.n * k - (a.m + a.n) * k * k / 2 + cube(k) / 3);
  });
}
Cost cost_lapack_geqrf(const Counting& counting, const Instruction& i) {
  return lapack(counting, i, [](const Matrices& a) {
    return 2 * a.least() * a.least() * (a.most() - a.least() / 3);
  });
}
Cost cost_lapack_geqp3(const Counting& counting, const Instruction& i) {
  return cost_lapack_geqrf(counting, i);
}
Cost cost_lapack_orgqr(const Counting& counting, const Instruction& i) {
  return lapack(counting, i, [](const Matrices& a) {
    const double k = a.least();
    return 4 * a.m * a.n * k - 2 * (a.m + a.n) * k * k + 4 * cube(k) / 3;
  });
}
Cost cost_lapack_ormqr(const Counting& counting, const Instruction& i) {
  if (i.operand_count < 3) return library_call(counting, i, 0);
  const double vectors = elements_of(counting.operand_shape(i, 1));
  const double matrices = std::max(1.0, matrices_of(counting, i).count);
  return library_call(counting, i,
                      4 * elements_of(counting.operand_shape(i, 2)) * vectors / matrices);
}
Cost cost_cusolver_getrf(const Counting& counting, const Instruction& i) {
  return cost_lapack_getrf(counting, i);
}
Cost cost_cusolver_geqrf(const Counting& counting, const Instruction& i) {
  return cost_lapack_geqrf(counting, i);
}
Cost cost_lu_real_block(const Counting& counting, const Instruction& i) {
  return cost_lapack_getrf(counting, i);
}
Cost cost_lu_complex_block(const Counting& counting, const Instruction& i) {
  return cost_lapack_getrf(counting, i);
}
Cost cost_qr_block(const Counting& counting, const Instruction& i) {
  return cost_lapack_geqrf(counting, i);
}
Cost cost_cusolver_orgqr(const Counting& counting, const Instruction& i) {
  return cost_lapack_orgqr(counting, i);
}
// The matrices stand behind numbers; a cube of the largest order is near to what all routines take.
Cost cost_lapack_untyped(const Counting& counting, const Instruction& i) {
  double flops = 0;
  for (size_t k = 0; k < i.operand_count; ++k) {
    const Shape& a = counting.operand_shape(i, k);
    if (a.is_array() && a.rank() >= 2)
      flops = std::max(flops, 4 * elements_of(a) * static_cast<double>(a.dims.back()) / 3);
  }
  return library_call(counting, i, flops);
}
Cost cost_lapack_potrf(const Counting& counting, const Instruction& i) {
  return lapack(counting, i, [](const Matrices& a) { return cube(a.n) / 3; });
}
Cost cost_lapack_trsm(const Counting& counting, const Instruction& i) {
  const double right = i.operand_count > 1 ? elements_of(counting.operand_shape(i, 1)) : 0;
  const double order = matrices_of(counting, i).n;
  return library_call(counting, i, triangular_solve_flops(static_cast<int64_t>(order), right));
}
// For each row the elimination of one diagonal, and for each right side one step down and one up.
Cost cost_lapack_gtsv(const Counting& counting, const Instruction& i) {
  const double rows = i.operand_count > 1 ? elements_of(counting.operand_shape(i, 1)) : 0;
  const double right = i.operand_count > 3 ? elements_of(counting.operand_shape(i, 3)) : 0;
  return library_call(counting, i, 3 * rows + 5 * right);
}
Cost cost_lapack_syevd(const Counting& counting, const Instruction& i) {
  return lapack(counting, i, [](const Matrices& a) { return 9 * cube(a.n); });
}
Cost cost_cusolver_syevd(const Counting& counting, const Instruction& i) {
  return cost_lapack_syevd(counting, i);
}
Cost cost_eigh(const Counting& counting, const Instruction& i) {
  return cost_lapack_syevd(counting, i);
}
Cost cost_lapack_geev(const Counting& counting, const Instruction& i) {
  return lapack(counting, i, [](const Matrices& a) { return 25 * cube(a.n); });
}
Cost cost_lapack_gees(const Counting& counting, const Instruction& i) {
  return cost_lapack_geev(counting, i);
}
Cost cost_lapack_gehrd(const Counting& counting, const Instruction& i) {
  return lapack(counting, i, [](const Matrices& a) { return 10 * cube(a.n) / 3; });
}
Cost cost_lapack_sytrd(const Counting& counting, const Instruction& i) {
  return lapack(counting, i, [](const Matrices& a) { return 4 * cube(a.n) / 3; });
}
Cost cost_cusolver_sytrd(const Counting& counting, const Instruction& i) {
  return cost_lapack_sytrd(counting, i);
}
Cost cost_cusolver_potrf(const Counting& counting, const Instruction& i) {
  return cost_lapack_potrf(counting, i);
}
Cost cost_lapack_gesdd(const Counting& counting, const Instruction& i) {
  return lapack(counting, i, [](const Matrices& a) {
    return 14 * a.most() * a.least() * a.least() + 8 * cube(a.least());
  });
}
Cost cost_lapack_gesvd(const Counting& counting, const Instruction& i) {
  return cost_lapack_gesdd(counting, i);
}

Cost cost_cusolver_gesvd(const Counting& counting, const Instruction& i) {
  return cost_lapack_gesdd(counting, i);
}
Cost cost_cusolver_gesvdj(const Counting& counting, const Instruction& i) {
  return cost_lapack_gesdd(counting, i);
}
Cost cost_lu_decomposition(const Counting& counting, const Instruction& i) {
  return cost_lapack_getrf(counting, i);
}

}  // namespace hilo
