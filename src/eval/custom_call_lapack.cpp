// LAPACK's factorisations and solvers.
#include "eval/custom_call_lapack.h"

#include <algorithm>

#include "eval/reference/reference.h"

namespace hilo {
namespace {

using ElementType::S32;

}  // namespace

Result<LapackStep> prepare_lapack_getrf(LapackCall& l) {
  return with_lapack_type(l, 1, 3, [&]<class T>(T) -> Result<LapackStep> {
    HILO_DO(l.expect_results({{element_type<T>, l.matrix()}, {S32, {l.least()}}, {S32, {}}}));
    const int rows = l.sizes.rows, columns = l.sizes.columns;
    if (l.is_reference)
      return [=](const LapackMatrix& m) {
        m.copy(0, 0);
        *m.info() = reference::factor_lu(rows, columns, m.result<T>(0), m.result<int>(1));
      };
    if (std::max(rows, columns) <= max_small_lu<T>())
      return [=](const LapackMatrix& m) {
        m.copy(0, 0);
        *m.info() = factor_lu(rows, columns, m.result<T>(0), m.result<int>(1));
      };
    const Lapack<T> getrf("getrf");
    if (!getrf) return no_lapack();
    const auto a = l.space<T>(l.sizes.area());
    return [=](const LapackMatrix& m) {
      transpose(m.operand<T>(0), rows, columns, m[a]);
      getrf(&rows, &columns, m[a], &rows, m.result<int>(1), m.info());
      transpose(m[a], columns, rows, m.result<T>(0));
    };
  });
}

Result<LapackStep> prepare_lapack_geqrf(LapackCall& l) {
  return with_lapack_type(l, 1, 2, [&]<class T>(T) -> Result<LapackStep> {
    HILO_DO(l.expect_results({{element_type<T>, l.matrix()}, {element_type<T>, {l.least()}}}));
    const int rows = l.sizes.rows, columns = l.sizes.columns, size = std::max(1, columns) * 64;
    if (l.is_reference)
      return [=](const LapackMatrix& m) {
        m.copy(0, 0);
        reference::factor_qr(rows, columns, m.result<T>(0), m.result<T>(1));
      };
    if constexpr (!has_imaginary_part<T>)
      if (are_reflections_near<T>(rows, columns)) {
        const auto space = l.space<T>(reflection_space<T>(rows, columns));
        return [=](const LapackMatrix& m) {
          m.copy(0, 0);
          factor_qr(rows, columns, m.result<T>(0), m.result<T>(1), m[space]);
        };
      }
    const Lapack<T> geqrf("geqrf");
    if (!geqrf) return no_lapack();
    const auto a = l.space<T>(l.sizes.area()), work = l.space<T>(size);
    return [=](const LapackMatrix& m) {
      int info = 0;
      transpose(m.operand<T>(0), rows, columns, m[a]);
      geqrf(&rows, &columns, m[a], &rows, m.result<T>(1), m[work], &size, &info);
      transpose(m[a], columns, rows, m.result<T>(0));
    };
  });
}

Result<LapackStep> prepare_lapack_geqp3(LapackCall& l) {
  return with_lapack_type(l, 2, 3, [&]<class T>(T) -> Result<LapackStep> {
    using Real = typename LapackType<T>::Real;
    const Lapack<T> geqp3("geqp3");
    if (!geqp3) return no_lapack();
    const LapackArray pivots{S32, {l.sizes.columns}};
    HILO_DO(l.expect_operand(1, pivots));
    HILO_DO(
        l.expect_results({{element_type<T>, l.matrix()}, pivots, {element_type<T>, {l.least()}}}));
    const int rows = l.sizes.rows, columns = l.sizes.columns,
              size = 2 * columns + (columns + 1) * 64;
    const auto a = l.space<T>(l.sizes.area()), work = l.space<T>(size);
    const auto real_work = l.space<Real>(2 * columns + 1);
    return [=](const LapackMatrix& m) {
      int info = 0;
      transpose(m.operand<T>(0), rows, columns, m[a]);
      m.copy(1, 1);
      int* places = m.result<int>(1);
      T* scales = m.result<T>(2);
      if constexpr (LapackType<T>::is_complex)
        geqp3(&rows, &columns, m[a], &rows, places, scales, m[work], &size, m[real_work], &info);
      else geqp3(&rows, &columns, m[a], &rows, places, scales, m[work], &size, &info);
      transpose(m[a], columns, rows, m.result<T>(0));
    };
  });
}

// How many Householder vectors operand 1 scales.
static Result<int> scale_count(const LapackCall& l) {
  const Dims& dims = l.operands[1].dims;
  if (!dims.empty() && dims.back() <= lapack_limit.side) return static_cast<int>(dims.back());
  return fail(ErrorKind::Shape, "expected a vector of scales for each matrix");
}

Result<LapackStep> prepare_lapack_orgqr(LapackCall& l) {
  return with_lapack_type(l, 2, 1, [&]<class T>(T) -> Result<LapackStep> {
    HILO_DO(l.expect_results({{element_type<T>, l.matrix()}}));
    const int rows = l.sizes.rows, columns = l.sizes.columns, size = std::max(1, columns) * 64;
    HILO_TRY(const int vectors, scale_count(l));
    HILO_DO(l.expect_operand(1, {element_type<T>, {vectors}}));
    if (columns > rows || vectors > columns)
      return fail(ErrorKind::Shape, "expected rows >= columns >= vectors");
    if (l.is_reference)
      return [=](const LapackMatrix& m) {
        reference::join_reflectors(rows, columns, m.operand<T>(0), m.operand<T>(1), vectors,
                                   m.result<T>(0));
      };
    if constexpr (!has_imaginary_part<T>)
      if (are_reflections_near<T>(rows, columns)) {
        const auto space = l.space<T>(reflection_space<T>(rows, columns));
        return [=](const LapackMatrix& m) {
          const Reflections<T> q{rows, vectors, columns, m.operand<T>(0), m.operand<T>(1)};
          q.join(columns, m.result<T>(0), m[space]);
        };
      }
    const Lapack<T> orgqr("orgqr", "ungqr");
    if (!orgqr) return no_lapack();
    const auto a = l.space<T>(l.sizes.area()), work = l.space<T>(size);
    return [=](const LapackMatrix& m) {
      int info = 0;
      transpose(m.operand<T>(0), rows, columns, m[a]);
      orgqr(&rows, &columns, &vectors, m[a], &rows, m.operand<T>(1), m[work], &size, &info);
      transpose(m[a], columns, rows, m.result<T>(0));
    };
  });
}

// Operands: Householder vectors, their scales, a matrix that Q or its adjoint multiplies from one
// side.
Result<LapackStep> prepare_lapack_ormqr(LapackCall& l) {
  const auto make = [&]<class T>(T) -> Result<LapackStep> {
    HILO_DO(l.expect_results({{element_type<T>, l.matrix()}}));
    HILO_TRY(const int vectors, scale_count(l));
    const bool is_left = l.config.flag("left", true);
    const char side = is_left ? 'L' : 'R', adjoint = LapackType<T>::is_complex ? 'C' : 'T';
    const char kind = l.config.flag("transpose", false) ? adjoint : 'N';
    const int rows = l.sizes.rows, columns = l.sizes.columns, order = is_left ? rows : columns;
    const int size = std::max({1, rows, columns}) * 64;
    if (l.operands[0].rank() < 2) return fail(ErrorKind::Shape, "expected matrices as operand 0");
    const int given = matrix_sizes(l.operands[0].dims).columns;
    HILO_DO(l.expect_operand(0, {element_type<T>, {order, given}}));
    HILO_DO(l.expect_operand(1, {element_type<T>, {vectors}}));
    if (vectors > order || vectors > given)
      return fail(ErrorKind::Shape, "more scales than Householder vectors");
    if constexpr (!has_imaginary_part<T>)
      if (is_left && !l.is_reference && are_reflections_near<T>(rows, given)) {
        const auto space = l.space<T>(reflection_space<T>(rows, columns));
        return [=](const LapackMatrix& m) {
          m.copy(2, 0);
          const Reflections<T> q{rows, vectors, given, m.operand<T>(0), m.operand<T>(1)};
          q.multiply(kind != 'N', columns, m.result<T>(0), m[space]);
        };
      }
    const Lapack<T> ormqr("ormqr", "unmqr");
    if (!ormqr) return no_lapack();
    const auto a = l.space<T>(int64_t{order} * given), c = l.space<T>(l.sizes.area());
    const auto work = l.space<T>(size);
    const int leading = std::max(1, order), lines = std::max(1, rows);
    return [=](const LapackMatrix& m) {
      int info = 0;
      transpose(m.operand<T>(0), order, given, m[a]);
      transpose(m.operand<T>(2), rows, columns, m[c]);
      ormqr(&side, &kind, &rows, &columns, &vectors, m[a], &leading, m.operand<T>(1), m[c], &lines,
            m[work], &size, &info);
      transpose(m[c], columns, rows, m.result<T>(0));
    };
  };
  return with_lapack_type(l, 3, 1, make, 2);
}

// The triangle that is not named stays as it was.
Result<LapackStep> prepare_lapack_potrf(LapackCall& l) {
  return with_lapack_type(l, 1, 2, [&]<class T>(T) -> Result<LapackStep> {
    HILO_DO(l.expect_square());
    HILO_DO(l.expect_results({{element_type<T>, l.matrix()}, {S32, {}}}));
    const bool lower = l.letter("uplo", 'L') == 'L';
    const int n = l.sizes.rows;
    return [=, is_reference = l.is_reference](const LapackMatrix& m) {
      m.copy(0, 0);
      const MatrixView<T> a = dense(m.result<T>(0), n, n);
      const int64_t done = is_reference ? reference::factor_cholesky(n, lower, a.data)
                                        : factor_cholesky(lower ? a : a.transposed(), m.parallel);
      *m.info() = done < n ? static_cast<int>(done + 1) : 0;
    };
  });
}

// The op triangular-solve, with letters for its attributes.
Result<LapackStep> prepare_lapack_trsm(LapackCall& l) {
  const auto make = [&]<class T>(T) -> Result<LapackStep> {
    const char transposed = l.letter("trans_x", 'N');
    const int rows = l.sizes.rows, columns = l.sizes.columns;
    TriangularSystem system{rows, columns};
    system.on_left = l.letter("side", 'L') == 'L', system.is_lower = l.letter("uplo", 'L') == 'L';
    system.is_transposed = transposed != 'N', system.is_conjugated = transposed == 'C';
    system.has_units = l.letter("diag", 'N') == 'U';
    HILO_DO(l.expect_operand(0, {element_type<T>, {system.order(), system.order()}}));
    HILO_DO(l.expect_results({{element_type<T>, l.matrix()}}));
    return [=, is_reference = l.is_reference](const LapackMatrix& m) {
      m.copy(1, 0);
      if (is_reference) reference::solve(system, m.operand<T>(0), m.result<T>(0));
      else system.solve(m.operand<T>(0), m.result<T>(0), m.parallel);
    };
  };
  return with_lapack_type(l, 2, 1, make, 1, any_side);
}

// Operands: lower diagonal (its first element is not read), diagonal, upper diagonal, right sides.
Result<LapackStep> prepare_lapack_gtsv(LapackCall& l) {
  const auto make = [&]<class T>(T) -> Result<LapackStep> {
    const Lapack<T> gtsv("gtsv");
    if (!gtsv) return no_lapack();
    const LapackArray diagonal{element_type<T>, {l.sizes.rows}};
    HILO_DO(
        l.expect_results({diagonal, diagonal, diagonal, {element_type<T>, l.matrix()}, {S32, {}}}));
    for (size_t i = 0; i < 3; ++i) HILO_DO(l.expect_operand(i, diagonal));
    const int n = l.sizes.rows, columns = l.sizes.columns;
    const auto right = l.space<T>(l.sizes.area());
    return [=](const LapackMatrix& m) {
      for (size_t i = 0; i < 3; ++i) m.copy(i, i);
      transpose(m.operand<T>(3), n, columns, m[right]);
      gtsv(&n, &columns, m.result<T>(0) + 1, m.result<T>(1), m.result<T>(2), m[right], &n,
           m.info());
      transpose(m[right], columns, n, m.result<T>(3));
    };
  };
  return with_lapack_type(l, 4, 5, make, 3);
}

Result<LapackStep> prepare_lapack_gehrd(LapackCall& l) {
  return with_lapack_type(l, 1, 3, [&]<class T>(T) -> Result<LapackStep> {
    const Lapack<T> gehrd("gehrd");
    if (!gehrd) return no_lapack();
    HILO_DO(l.expect_square());
    HILO_DO(l.expect_results({{element_type<T>, l.matrix()},
                              {element_type<T>, {std::max(0, l.sizes.rows - 1)}},
                              {S32, {}}}));
    const int n = l.sizes.rows, size = std::max(1, n) * 64;
    const int low = static_cast<int>(std::clamp<int64_t>(l.config.whole("low", 1), 0, n));
    const int high = static_cast<int>(std::clamp<int64_t>(l.config.whole("high", n), 0, n));
    if (n == 0 || low < 1 || high > n || low > high)
      return fail(ErrorKind::Shape, "low and high do not fit the matrices");
    const auto a = l.space<T>(l.sizes.area()), work = l.space<T>(size);
    return [=](const LapackMatrix& m) {
      transpose(m.operand<T>(0), n, n, m[a]);
      gehrd(&n, &low, &high, m[a], &n, m.result<T>(1), m[work], &size, m.info());
      transpose(m[a], n, n, m.result<T>(0));
    };
  });
}

Result<LapackStep> prepare_lapack_sytrd(LapackCall& l) {
  return with_lapack_type(l, 1, 5, [&]<class T>(T) -> Result<LapackStep> {
    using Real = typename LapackType<T>::Real;
    const Lapack<T> sytrd("sytrd", "hetrd");
    if (!sytrd) return no_lapack();
    const int64_t off = std::max(0, l.sizes.rows - 1);
    HILO_DO(l.expect_square());
    HILO_DO(l.expect_results({{element_type<T>, l.matrix()},
                              {element_type<Real>, {l.sizes.rows}},
                              {element_type<Real>, {off}},
                              {element_type<T>, {off}},
                              {S32, {}}}));
    const char triangle = l.letter("uplo", 'L');
    const int n = l.sizes.rows, size = std::max(1, n) * 64;
    const auto a = l.space<T>(l.sizes.area()), work = l.space<T>(size);
    return [=](const LapackMatrix& m) {
      transpose(m.operand<T>(0), n, n, m[a]);
      sytrd(&triangle, &n, m[a], &n, m.result<Real>(1), m.result<Real>(2), m.result<T>(3), m[work],
            &size, m.info());
      transpose(m[a], n, n, m.result<T>(0));
    };
  });
}

}  // namespace hilo
