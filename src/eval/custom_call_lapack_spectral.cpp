// LAPACK's eigenvalues and singular values.
#include <algorithm>
#include <array>

#include "eval/custom_call_lapack.h"

namespace hilo {
namespace {

using ElementType::S32;

// Real geev gives a pair of conjugate eigenvectors as two columns: real part and imaginary part.
template <class Real>
void join_pairs(const Real* columns, const Real* imaginary, int n, std::complex<Real>* out) {
  std::copy_n(columns, int64_t{n} * n, out);
  for (int j = 0; j + 1 < n; ++j) {
    if (imaginary[j] == 0) continue;
    for (int i = 0; i < n; ++i) {
      const Real re = columns[j * n + i], im = columns[(j + 1) * n + i];
      out[j * n + i] = {re, im};
      out[(j + 1) * n + i] = {re, -im};
    }
    ++j;
  }
}

template <class T>
Result<LapackStep> eigenvalues_general(LapackCall& l) {
  using Real = typename LapackType<T>::Real;
  using Complex = std::complex<Real>;
  constexpr bool is_complex = LapackType<T>::is_complex;
  const Lapack<T> geev("geev");
  if (!geev) return no_lapack();
  HILO_DO(l.expect_square());
  const LapackArray values{element_type<T>, {l.sizes.rows}};
  const LapackArray vectors{element_type<Complex>, l.matrix()}, info{S32, {}};
  HILO_DO(is_complex ? l.expect_results({values, vectors, vectors, info})
                     : l.expect_results({values, values, vectors, vectors, info}));
  const char left = l.letter("compute_left", 'V'), right = l.letter("compute_right", 'V');
  const int n = l.sizes.rows, size = std::max(1, n) * 64;
  const auto a = l.space<T>(l.sizes.area()), work = l.space<T>(size);
  const std::array sides = {l.space<T>(l.sizes.area()), l.space<T>(l.sizes.area())};
  const auto pairs = l.space<Complex>(l.sizes.area());
  const auto real_work = l.space<Real>(2 * n);
  return [=](const LapackMatrix& m) {
    transpose(m.operand<T>(0), n, n, m[a]);
    for (const LapackSpace<T> side : sides) std::fill_n(m[side], int64_t{n} * n, T(0));
    T *found = m.result<T>(0), *lefts = m[sides[0]], *rights = m[sides[1]];
    if constexpr (is_complex) {
      geev(&left, &right, &n, m[a], &n, found, lefts, &n, rights, &n, m[work], &size, m[real_work],
           m.info());
      for (size_t side = 0; side < 2; ++side)
        transpose(m[sides[side]], n, n, m.result<T>(1 + side));
    } else {
      T* imaginary = m.result<T>(1);
      geev(&left, &right, &n, m[a], &n, found, imaginary, lefts, &n, rights, &n, m[work], &size,
           m.info());
      for (size_t side = 0; side < 2; ++side) {
        join_pairs(m[sides[side]], imaginary, n, m[pairs]);
        transpose(m[pairs], n, n, m.result<Complex>(2 + side));
      }
    }
  };
}

template <class T>
Result<LapackStep> schur(LapackCall& l) {
  using Real = typename LapackType<T>::Real;
  constexpr bool is_complex = LapackType<T>::is_complex;
  const Lapack<T> gees("gees");
  if (!gees) return no_lapack();
  HILO_DO(l.expect_square());
  const LapackArray matrix{element_type<T>, l.matrix()}, diagonal{element_type<T>, {l.sizes.rows}};
  const LapackArray number{S32, {}};
  HILO_DO(is_complex ? l.expect_results({matrix, matrix, diagonal, number, number})
                     : l.expect_results({matrix, matrix, diagonal, diagonal, number, number}));
  const char mode = l.letter("mode", 'V'), sort = l.letter("sort", 'N');
  if (sort != 'N') return fail(ErrorKind::Unsupported, "sorted eigenvalues");
  const int n = l.sizes.rows, size = std::max(1, n) * 64;
  const auto a = l.space<T>(l.sizes.area()), work = l.space<T>(size),
             vectors = l.space<T>(l.sizes.area());
  const auto chosen = l.space<int>(n + 1);
  const auto real_work = l.space<Real>(n + 1);
  return [=](const LapackMatrix& m) {
    transpose(m.operand<T>(0), n, n, m[a]);
    std::fill_n(m[vectors], int64_t{n} * n, T(0));
    T* values = m.result<T>(2);
    void* select = nullptr;  // a function's address, not an argument by address
    if constexpr (is_complex)
      gees(&mode, &sort, select, &n, m[a], &n, m.result<int>(3), values, m[vectors], &n, m[work],
           &size, m[real_work], m[chosen], m.info());
    else
      gees(&mode, &sort, select, &n, m[a], &n, m.result<int>(4), values, m.result<T>(3), m[vectors],
           &n, m[work], &size, m[chosen], m.info());
    transpose(m[a], n, n, m.result<T>(0));
    transpose(m[vectors], n, n, m.result<T>(1));
  };
}

// gesdd takes one letter for both sides, gesvd one for each.
template <class T>
Result<LapackStep> singular_values(LapackCall& l, bool divide_and_conquer) {
  using Real = typename LapackType<T>::Real;
  const Lapack<T> gesdd("gesdd"), gesvd("gesvd");
  if (!gesdd || !gesvd) return no_lapack();
  const char mode = l.letter("mode", 'N');
  const int rows = l.sizes.rows, columns = l.sizes.columns;
  const int64_t least = l.least(), most = std::max(rows, columns);
  const int rows_v = mode == 'A' ? columns : static_cast<int>(std::max<int64_t>(1, least));
  const int64_t columns_u = mode == 'A' ? rows : least;
  const LapackArray matrix{element_type<T>, l.matrix()}, values{element_type<Real>, {least}};
  HILO_DO(l.expect_results({matrix, values}));
  if (mode != 'N')
    HILO_DO(l.expect_results({matrix,
                              values,
                              {element_type<T>, {rows, columns_u}},
                              {element_type<T>, {rows_v, columns}},
                              {S32, {}}}));
  if (least == 0 || l.results[4].type != S32 || element_count(l.results[4]) != l.sizes.batches)
    return fail(ErrorKind::Shape, "expected matrices with elements, and an info for each");
  const int64_t wanted = 4 * least * least + 10 * least + 66 * most + 8;
  if (wanted > INT32_MAX) return fail(ErrorKind::Limit, "a matrix of {} x {}", rows, columns);
  const int size = static_cast<int>(wanted);
  const auto a = l.space<T>(l.sizes.area()), work = l.space<T>(size);
  const auto u = l.space<T>(rows * columns_u + 1), v = l.space<T>(int64_t{rows_v} * columns + 1);
  const auto real_work =
      l.space<Real>(5 * least * least + 7 * least + 2 * most * least + 2 * least + 1);
  const auto integers = l.space<int>(8 * least + 1);
  return [=](const LapackMatrix& m) {
    transpose(m.operand<T>(0), rows, columns, m[a]);
    const auto call = [&](auto... rest) {
      if (divide_and_conquer)
        gesdd(&mode, &rows, &columns, m[a], &rows, m.result<Real>(1), m[u], &rows, m[v], &rows_v,
              m[work], &size, rest..., m[integers], m.info());
      else
        gesvd(&mode, &mode, &rows, &columns, m[a], &rows, m.result<Real>(1), m[u], &rows, m[v],
              &rows_v, m[work], &size, rest..., m.info());
    };
    if constexpr (LapackType<T>::is_complex) call(m[real_work]);
    else call();
    transpose(m[a], columns, rows, m.result<T>(0));
    if (mode == 'N') {
      m.clear(2), m.clear(3);
    } else {
      transpose(m[u], columns_u, rows, m.result<T>(2));
      transpose(m[v], columns, rows_v, m.result<T>(3));
    }
  };
}

bool is_complex_call(const LapackCall& l) {
  return !l.operands.empty() && is_complex(l.operands[0].type);
}

}  // namespace

Result<LapackStep> prepare_lapack_syevd(LapackCall& l) {
  return with_lapack_type(l, 1, 3, [&]<class T>(T) -> Result<LapackStep> {
    using Real = typename LapackType<T>::Real;
    const Lapack<T> syevd("syevd", "heevd");
    if (!syevd) return no_lapack();
    HILO_DO(l.expect_square());
    HILO_DO(l.expect_results(
        {{element_type<T>, l.matrix()}, {element_type<Real>, {l.sizes.rows}}, {S32, {}}}));
    const char mode = l.letter("mode", 'V'), triangle = l.letter("uplo", 'L');
    const int n = l.sizes.rows, size = 1 + 6 * n + 2 * n * n, integer_size = 3 + 5 * n;
    const int real_size = 1 + 5 * n + 2 * n * n;
    const auto a = l.space<T>(l.sizes.area()), work = l.space<T>(size);
    const auto real_work = l.space<Real>(real_size);
    const auto integers = l.space<int>(integer_size);
    return [=](const LapackMatrix& m) {
      transpose(m.operand<T>(0), n, n, m[a]);
      Real* values = m.result<Real>(1);
      if constexpr (LapackType<T>::is_complex)
        syevd(&mode, &triangle, &n, m[a], &n, values, m[work], &size, m[real_work], &real_size,
              m[integers], &integer_size, m.info());
      else
        syevd(&mode, &triangle, &n, m[a], &n, values, m[work], &size, m[integers], &integer_size,
              m.info());
      transpose(m[a], n, n, m.result<T>(0));
    };
  });
}

Result<LapackStep> prepare_lapack_geev(LapackCall& l) {
  return with_lapack_type(l, 1, is_complex_call(l) ? 4 : 5,
                          [&]<class T>(T) { return eigenvalues_general<T>(l); });
}

Result<LapackStep> prepare_lapack_gees(LapackCall& l) {
  return with_lapack_type(l, 1, is_complex_call(l) ? 5 : 6,
                          [&]<class T>(T) { return schur<T>(l); });
}

Result<LapackStep> prepare_lapack_gesdd(LapackCall& l) {
  return with_lapack_type(l, 1, 5, [&]<class T>(T) { return singular_values<T>(l, true); });
}

Result<LapackStep> prepare_lapack_gesvd(LapackCall& l) {
  return with_lapack_type(l, 1, 5, [&]<class T>(T) { return singular_values<T>(l, false); });
}

}  // namespace hilo
