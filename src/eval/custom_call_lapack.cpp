// LAPACK's factorisations and solvers.
#include "eval/custom_call_lapack.h"

namespace hilo {

Result<LapackCall> LapackCall::make(Call& call, size_t operands, size_t results) {
  const Shape& stated = call.shape();
  const std::span<const Shape> shapes =
      stated.is_tuple() ? std::span<const Shape>(stated.elements) : std::span(&stated, 1);
  if (call.operands.size() != operands || shapes.size() != results ||
      call.operands[0].shape().rank() < (operands == 4 ? 1 : 2))
    return call.error(ErrorKind::Shape,
                      fmt::format("expected {} operands and {} results", operands, results));
  HILO_TRY(BackendConfig config, BackendConfig::parse(call));
  LapackCall out{call, std::move(config), {}, {}};
  if (call.operands[0].shape().rank() >= 2) out.sizes = matrix_sizes(call.operands[0]);
  for (const Shape& shape : shapes) out.results.push_back(Literal::zeros(call.held(shape)));
  return out;
}

Result<void> LapackCall::expect(std::initializer_list<int64_t> elements, bool square) const {
  if (square && sizes.rows != sizes.columns)
    return call.error(ErrorKind::Shape, "expected square matrices");
  size_t i = 0;
  for (int64_t count : elements) {
    if (results[i].count() != count * sizes.batches)
      return call.error(
          ErrorKind::Shape,
          fmt::format("result {} has {} elements; expected {} for each of {} matrices", i,
                      results[i].count(), count, sizes.batches));
    ++i;
  }
  return {};
}

Result<Literal> LapackCall::finish() {
  std::vector<StepValue> values;
  for (Literal& result : results) values.push_back({std::move(result), {}});
  return Steps(call).finish(std::move(values));
}

Result<Literal> call_lapack_getrf(Call& call) {
  return with_lapack_type(call, 1, 3, []<class T>(LapackCall& l, T) -> Result<void> {
    const Lapack<T> getrf("getrf");
    if (!getrf) return no_lapack(l.call);
    HILO_DO(l.expect({l.sizes.area(), std::min(l.sizes.rows, l.sizes.columns), 1}));
    int m = l.sizes.rows, n = l.sizes.columns;
    for (int64_t b = 0; b < l.sizes.batches; ++b) {
      std::vector<T> a = columns_of<T>(l.call.operands[0], b);
      getrf(&m, &n, a.data(), &m, vector_of<int>(l.results[1], b, l.sizes.batches), l.info(b));
      put_columns(a, l.results[0], b);
    }
    return {};
  });
}

Result<Literal> call_lapack_geqrf(Call& call) {
  return with_lapack_type(call, 1, 2, []<class T>(LapackCall& l, T) -> Result<void> {
    const Lapack<T> geqrf("geqrf");
    if (!geqrf) return no_lapack(l.call);
    HILO_DO(l.expect({l.sizes.area(), std::min(l.sizes.rows, l.sizes.columns)}));
    int m = l.sizes.rows, n = l.sizes.columns, info = 0, size = std::max(1, n) * 64;
    std::vector<T> work(size);
    for (int64_t b = 0; b < l.sizes.batches; ++b) {
      std::vector<T> a = columns_of<T>(l.call.operands[0], b);
      geqrf(&m, &n, a.data(), &m, vector_of<T>(l.results[1], b, l.sizes.batches), work.data(),
            &size, &info);
      put_columns(a, l.results[0], b);
    }
    return {};
  });
}

Result<Literal> call_lapack_geqp3(Call& call) {
  return with_lapack_type(call, 2, 3, []<class T>(LapackCall& l, T) -> Result<void> {
    using Real = typename LapackType<T>::Real;
    const Lapack<T> geqp3("geqp3");
    if (!geqp3) return no_lapack(l.call);
    HILO_DO(l.expect({l.sizes.area(), l.sizes.columns, std::min(l.sizes.rows, l.sizes.columns)}));
    if (l.call.operands[1].count() != l.results[1].count())
      return l.call.error(ErrorKind::Shape, "expected a pivot for each column");
    int m = l.sizes.rows, n = l.sizes.columns, info = 0, size = 2 * n + (n + 1) * 64;
    std::vector<T> work(size);
    std::vector<Real> real_work(2 * n + 1);
    l.results[1] = l.call.operands[1];
    for (int64_t b = 0; b < l.sizes.batches; ++b) {
      std::vector<T> a = columns_of<T>(l.call.operands[0], b);
      int* pivots = vector_of<int>(l.results[1], b, l.sizes.batches);
      T* scales = vector_of<T>(l.results[2], b, l.sizes.batches);
      if constexpr (LapackType<T>::is_complex)
        geqp3(&m, &n, a.data(), &m, pivots, scales, work.data(), &size, real_work.data(), &info);
      else geqp3(&m, &n, a.data(), &m, pivots, scales, work.data(), &size, &info);
      put_columns(a, l.results[0], b);
    }
    return {};
  });
}

Result<Literal> call_lapack_orgqr(Call& call) {
  return with_lapack_type(call, 2, 1, []<class T>(LapackCall& l, T) -> Result<void> {
    const Lapack<T> orgqr("orgqr", "ungqr");
    if (!orgqr) return no_lapack(l.call);
    HILO_DO(l.expect({l.sizes.area()}));
    if (l.call.operands[1].shape().dims.empty() ||
        element_count(std::span(l.call.operands[1].shape().dims)
                          .first(l.call.operands[1].shape().dims.size() - 1)) != l.sizes.batches)
      return l.call.error(ErrorKind::Shape, "expected a vector of scales for each matrix");
    int m = l.sizes.rows, n = l.sizes.columns, info = 0, size = std::max(1, n) * 64;
    int k = static_cast<int>(l.call.operands[1].shape().dims.back());
    if (n > m || k > n)
      return l.call.error(ErrorKind::Shape, "expected rows >= columns >= vectors");
    std::vector<T> work(size);
    for (int64_t b = 0; b < l.sizes.batches; ++b) {
      std::vector<T> a = columns_of<T>(l.call.operands[0], b);
      orgqr(&m, &n, &k, a.data(), &m, vector_of<T>(l.call.operands[1], b, l.sizes.batches),
            work.data(), &size, &info);
      put_columns(a, l.results[0], b);
    }
    return {};
  });
}

Result<Literal> call_lapack_potrf(Call& call) {
  return with_lapack_type(call, 1, 2, []<class T>(LapackCall& l, T) -> Result<void> {
    const Lapack<T> potrf("potrf");
    if (!potrf) return no_lapack(l.call);
    HILO_DO(l.expect({l.sizes.area(), 1}, true));
    char triangle = l.letter("uplo", 'L');
    int n = l.sizes.rows;
    for (int64_t b = 0; b < l.sizes.batches; ++b) {
      std::vector<T> a = columns_of<T>(l.call.operands[0], b);
      potrf(&triangle, &n, a.data(), &n, l.info(b));
      put_columns(a, l.results[0], b);
    }
    return {};
  });
}

// The op triangular-solve, with letters for its attributes.
Result<Literal> call_lapack_trsm(Call& call) {
  HILO_TRY(BackendConfig config, BackendConfig::parse(call));
  if (call.operands.size() != 2) return call.error(ErrorKind::Shape, "expected 2 operands");
  const auto letter = [&](const char* key, char otherwise) {
    return static_cast<char>(config.number(key, otherwise));
  };
  TriangularSolveAttributes attributes;
  attributes.left_side = letter("side", 'L') == 'L';
  attributes.lower = letter("uplo", 'L') == 'L';
  attributes.unit_diagonal = letter("diag", 'N') == 'U';
  const char transpose = letter("trans_x", 'N');
  attributes.transpose_a = transpose == 'N'   ? TransposeKind::NoTranspose
                           : transpose == 'T' ? TransposeKind::Transpose
                                              : TransposeKind::Adjoint;
  Steps steps(call);
  return steps.finish({steps.op(Op::TriangularSolve, call.shape(),
                                {steps.operand(0), steps.operand(1)}, attributes)});
}

// Operands: lower diagonal (its first element is not read), diagonal, upper diagonal, right sides.
Result<Literal> call_lapack_gtsv(Call& call) {
  return with_lapack_type(call, 4, 5, []<class T>(LapackCall& l, T) -> Result<void> {
    const Lapack<T> gtsv("gtsv");
    if (!gtsv) return no_lapack(l.call);
    if (l.call.operands[3].shape().rank() < 2)
      return l.call.error(ErrorKind::Shape, "expected right sides as matrices");
    l.sizes = matrix_sizes(l.call.operands[3]);
    HILO_DO(l.expect({l.sizes.rows, l.sizes.rows, l.sizes.rows, l.sizes.area(), 1}));
    int n = l.sizes.rows, columns = l.sizes.columns;
    for (size_t i = 0; i < 3; ++i) {
      if (l.call.operands[i].count() != l.sizes.batches * n)
        return l.call.error(ErrorKind::Shape, "diagonals and right sides differ in size");
      l.results[i] = l.call.operands[i];
    }
    for (int64_t b = 0; b < l.sizes.batches; ++b) {
      std::vector<T> right = columns_of<T>(l.call.operands[3], b);
      T* lower = vector_of<T>(l.results[0], b, l.sizes.batches);
      gtsv(&n, &columns, lower + 1, vector_of<T>(l.results[1], b, l.sizes.batches),
           vector_of<T>(l.results[2], b, l.sizes.batches), right.data(), &n, l.info(b));
      put_columns(right, l.results[3], b);
    }
    return {};
  });
}

Result<Literal> call_lapack_gehrd(Call& call) {
  return with_lapack_type(call, 1, 3, []<class T>(LapackCall& l, T) -> Result<void> {
    const Lapack<T> gehrd("gehrd");
    if (!gehrd) return no_lapack(l.call);
    HILO_DO(l.expect({l.sizes.area(), std::max(0, l.sizes.rows - 1), 1}, true));
    int n = l.sizes.rows, size = std::max(1, n) * 64;
    int low = static_cast<int>(l.config.number("low", 1));
    int high = static_cast<int>(l.config.number("high", n));
    if (n == 0 || low < 1 || high > n || low > high)
      return l.call.error(ErrorKind::Shape, "low and high do not fit the matrices");
    std::vector<T> work(size);
    for (int64_t b = 0; b < l.sizes.batches; ++b) {
      std::vector<T> a = columns_of<T>(l.call.operands[0], b);
      gehrd(&n, &low, &high, a.data(), &n, vector_of<T>(l.results[1], b, l.sizes.batches),
            work.data(), &size, l.info(b));
      put_columns(a, l.results[0], b);
    }
    return {};
  });
}

Result<Literal> call_lapack_sytrd(Call& call) {
  return with_lapack_type(call, 1, 5, []<class T>(LapackCall& l, T) -> Result<void> {
    using Real = typename LapackType<T>::Real;
    const Lapack<T> sytrd("sytrd", "hetrd");
    if (!sytrd) return no_lapack(l.call);
    const int64_t off = std::max(0, l.sizes.rows - 1);
    HILO_DO(l.expect({l.sizes.area(), l.sizes.rows, off, off, 1}, true));
    char triangle = l.letter("uplo", 'L');
    int n = l.sizes.rows, size = std::max(1, n) * 64;
    std::vector<T> work(size);
    const int64_t batches = l.sizes.batches;
    for (int64_t b = 0; b < batches; ++b) {
      std::vector<T> a = columns_of<T>(l.call.operands[0], b);
      sytrd(&triangle, &n, a.data(), &n, vector_of<Real>(l.results[1], b, batches),
            vector_of<Real>(l.results[2], b, batches), vector_of<T>(l.results[3], b, batches),
            work.data(), &size, l.info(b));
      put_columns(a, l.results[0], b);
    }
    return {};
  });
}

}  // namespace hilo
