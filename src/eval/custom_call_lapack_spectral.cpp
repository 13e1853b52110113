// LAPACK's eigenvalues and singular values.
#include "eval/custom_call_lapack.h"

namespace hilo {
namespace {

constexpr ElementType S32 = ElementType::S32;

// Real geev gives a pair of conjugate eigenvectors as two columns: real part and imaginary part.
template <class Real>
std::vector<std::complex<Real>> join_pairs(const std::vector<Real>& columns, const Real* imaginary,
                                           int n) {
  std::vector<std::complex<Real>> out(columns.begin(), columns.end());
  for (int j = 0; j + 1 < n; ++j) {
    if (imaginary[j] == 0) continue;
    for (int i = 0; i < n; ++i) {
      const Real re = columns[j * n + i], im = columns[(j + 1) * n + i];
      out[j * n + i] = {re, im};
      out[(j + 1) * n + i] = {re, -im};
    }
    ++j;
  }
  return out;
}

template <class T>
Result<void> eigenvalues_general(LapackCall& l) {
  using Real = typename LapackType<T>::Real;
  const Lapack<T> geev("geev");
  if (!geev) return no_lapack(l.call);
  HILO_DO(l.expect_square());
  const LapackArray values{element_type<T>, {l.sizes.rows}};
  const LapackArray vectors{element_type<std::complex<Real>>, l.matrix()}, info{S32, {}};
  HILO_DO(LapackType<T>::is_complex ? l.expect_results({values, vectors, vectors, info})
                                    : l.expect_results({values, values, vectors, vectors, info}));
  char left = l.letter("compute_left", 'V'), right = l.letter("compute_right", 'V');
  int n = l.sizes.rows, size = std::max(1, n) * 64;
  std::vector<T> work(size), left_vectors(l.sizes.area()), right_vectors(l.sizes.area());
  const int64_t batches = l.sizes.batches;
  for (int64_t b = 0; b < batches; ++b) {
    std::vector<T> a = columns_of<T>(l.call.operands[0], b);
    T* found = vector_of<T>(l.results[0], b, batches);
    if constexpr (LapackType<T>::is_complex) {
      std::vector<Real> real_work(2 * n);
      geev(&left, &right, &n, a.data(), &n, found, left_vectors.data(), &n, right_vectors.data(),
           &n, work.data(), &size, real_work.data(), l.info(b));
      put_columns(left_vectors, l.results[1], b);
      put_columns(right_vectors, l.results[2], b);
    } else {
      T* imaginary = vector_of<T>(l.results[1], b, batches);
      geev(&left, &right, &n, a.data(), &n, found, imaginary, left_vectors.data(), &n,
           right_vectors.data(), &n, work.data(), &size, l.info(b));
      put_columns(join_pairs(left_vectors, imaginary, n), l.results[2], b);
      put_columns(join_pairs(right_vectors, imaginary, n), l.results[3], b);
    }
  }
  return {};
}

template <class T>
Result<void> schur(LapackCall& l) {
  using Real = typename LapackType<T>::Real;
  const Lapack<T> gees("gees");
  if (!gees) return no_lapack(l.call);
  HILO_DO(l.expect_square());
  const LapackArray matrix{element_type<T>, l.matrix()}, diagonal{element_type<T>, {l.sizes.rows}};
  const LapackArray number{S32, {}};
  HILO_DO(LapackType<T>::is_complex
              ? l.expect_results({matrix, matrix, diagonal, number, number})
              : l.expect_results({matrix, matrix, diagonal, diagonal, number, number}));
  char mode = l.letter("mode", 'V'), sort = l.letter("sort", 'N');
  if (sort != 'N') return l.call.error(ErrorKind::Unsupported, "sorted eigenvalues");
  int n = l.sizes.rows, size = std::max(1, n) * 64;
  std::vector<T> work(size), vectors(l.sizes.area());
  std::vector<int> chosen(n + 1);
  const int64_t batches = l.sizes.batches;
  for (int64_t b = 0; b < batches; ++b) {
    std::vector<T> a = columns_of<T>(l.call.operands[0], b);
    T* values = vector_of<T>(l.results[2], b, batches);
    int* count = vector_of<int>(l.results[l.results.size() - 2], b, batches);
    void* select = nullptr;  // a function's address, not an argument by address
    if constexpr (LapackType<T>::is_complex) {
      std::vector<Real> real_work(n + 1);
      gees(&mode, &sort, static_cast<void*>(select), &n, a.data(), &n, count, values,
           vectors.data(), &n, work.data(), &size, real_work.data(), chosen.data(), l.info(b));
    } else {
      gees(&mode, &sort, static_cast<void*>(select), &n, a.data(), &n, count, values,
           vector_of<T>(l.results[3], b, batches), vectors.data(), &n, work.data(), &size,
           chosen.data(), l.info(b));
    }
    put_columns(a, l.results[0], b);
    put_columns(vectors, l.results[1], b);
  }
  return {};
}

// gesdd takes one letter for both sides, gesvd one for each.
template <class T>
Result<void> singular_values(LapackCall& l, bool divide_and_conquer) {
  using Real = typename LapackType<T>::Real;
  const Lapack<T> gesdd("gesdd"), gesvd("gesvd");
  if (!gesdd || !gesvd) return no_lapack(l.call);
  char mode = l.letter("mode", 'N');
  int m = l.sizes.rows, n = l.sizes.columns;
  const int64_t least = std::min(m, n), most = std::max(m, n), batches = l.sizes.batches;
  int rows_v = mode == 'A' ? n : static_cast<int>(std::max<int64_t>(1, least));
  const int64_t columns_u = mode == 'A' ? m : least;
  const LapackArray matrix{element_type<T>, l.matrix()}, values{element_type<Real>, {least}};
  HILO_DO(l.expect_results({matrix, values}));
  if (mode != 'N')
    HILO_DO(l.expect_results({matrix,
                              values,
                              {element_type<T>, {m, columns_u}},
                              {element_type<T>, {rows_v, n}},
                              {S32, {}}}));
  if (least == 0 || l.results[4].type() != S32 || l.results[4].count() != batches)
    return l.call.error(ErrorKind::Shape, "expected matrices with elements, and an info for each");
  int size = static_cast<int>(4 * least * least + 10 * least + 66 * most + 8);
  std::vector<T> work(size), u(m * columns_u + 1), v(int64_t{rows_v} * n + 1);
  std::vector<Real> real_work(5 * least * least + 7 * least + 2 * most * least + 2 * least + 1);
  std::vector<int> integers(8 * least + 1);
  for (int64_t b = 0; b < batches; ++b) {
    std::vector<T> a = columns_of<T>(l.call.operands[0], b);
    Real* found = vector_of<Real>(l.results[1], b, batches);
    int* info = l.info(b);
    if constexpr (LapackType<T>::is_complex) {
      if (divide_and_conquer)
        gesdd(&mode, &m, &n, a.data(), &m, found, u.data(), &m, v.data(), &rows_v, work.data(),
              &size, real_work.data(), integers.data(), info);
      else
        gesvd(&mode, &mode, &m, &n, a.data(), &m, found, u.data(), &m, v.data(), &rows_v,
              work.data(), &size, real_work.data(), info);
    } else if (divide_and_conquer) {
      gesdd(&mode, &m, &n, a.data(), &m, found, u.data(), &m, v.data(), &rows_v, work.data(), &size,
            integers.data(), info);
    } else {
      gesvd(&mode, &mode, &m, &n, a.data(), &m, found, u.data(), &m, v.data(), &rows_v, work.data(),
            &size, info);
    }
    put_columns(a, l.results[0], b);
    if (mode == 'N') continue;
    put_columns(u, l.results[2], b);
    put_columns(v, l.results[3], b);
  }
  return {};
}

}  // namespace

Result<Literal> call_lapack_syevd(Call& call) {
  return with_lapack_type(call, 1, 3, []<class T>(LapackCall& l, T) -> Result<void> {
    using Real = typename LapackType<T>::Real;
    const Lapack<T> syevd("syevd", "heevd");
    if (!syevd) return no_lapack(l.call);
    HILO_DO(l.expect_square());
    HILO_DO(l.expect_results(
        {{element_type<T>, l.matrix()}, {element_type<Real>, {l.sizes.rows}}, {S32, {}}}));
    char mode = l.letter("mode", 'V'), triangle = l.letter("uplo", 'L');
    int n = l.sizes.rows, size = 1 + 6 * n + 2 * n * n, integer_size = 3 + 5 * n;
    int real_size = 1 + 5 * n + 2 * n * n;
    std::vector<T> work(size);
    std::vector<Real> real_work(real_size);
    std::vector<int> integers(integer_size);
    for (int64_t b = 0; b < l.sizes.batches; ++b) {
      std::vector<T> a = columns_of<T>(l.call.operands[0], b);
      Real* values = vector_of<Real>(l.results[1], b, l.sizes.batches);
      if constexpr (LapackType<T>::is_complex) {
        syevd(&mode, &triangle, &n, a.data(), &n, values, work.data(), &size, real_work.data(),
              &real_size, integers.data(), &integer_size, l.info(b));
      } else {
        syevd(&mode, &triangle, &n, a.data(), &n, values, work.data(), &size, integers.data(),
              &integer_size, l.info(b));
      }
      put_columns(a, l.results[0], b);
    }
    return {};
  });
}

Result<Literal> call_lapack_geev(Call& call) {
  const size_t results =
      is_complex(call.operands.empty() ? ElementType::F32 : call.operands[0].type()) ? 4 : 5;
  return with_lapack_type(call, 1, results,
                          []<class T>(LapackCall& l, T) { return eigenvalues_general<T>(l); });
}

Result<Literal> call_lapack_gees(Call& call) {
  const size_t results =
      is_complex(call.operands.empty() ? ElementType::F32 : call.operands[0].type()) ? 5 : 6;
  return with_lapack_type(call, 1, results, []<class T>(LapackCall& l, T) { return schur<T>(l); });
}

Result<Literal> call_lapack_gesdd(Call& call) {
  return with_lapack_type(call, 1, 5,
                          []<class T>(LapackCall& l, T) { return singular_values<T>(l, true); });
}

Result<Literal> call_lapack_gesvd(Call& call) {
  return with_lapack_type(call, 1, 5,
                          []<class T>(LapackCall& l, T) { return singular_values<T>(l, false); });
}

}  // namespace hilo
