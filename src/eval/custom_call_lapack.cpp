// LAPACK's factorisations and solvers.
#include "eval/custom_call_lapack.h"
#include "eval/storage.h"

namespace hilo {
namespace {

constexpr ElementType S32 = ElementType::S32;
constexpr int64_t largest_size = 30000;  // LAPACK's sizes of workspaces are 32-bit integers

Result<void> expect(const Call& call, const char* what, size_t i, const Literal& found,
                    const Dims& batch, const LapackArray& wanted) {
  Dims dims = batch;
  dims.insert(dims.end(), wanted.dims.begin(), wanted.dims.end());
  if (found.type() == wanted.type && found.shape().dims == dims) return {};
  return call.error(ErrorKind::Shape,
                    fmt::format("expected {} as {} {}, found {}",
                                to_string_without_layout(Shape::array(wanted.type, dims)), what, i,
                                to_string_without_layout(found.shape())));
}

}  // namespace

Result<LapackCall> LapackCall::make(Call& call, size_t operands, size_t results, size_t matrix) {
  const Shape& stated = call.shape();
  const std::span<const Shape> shapes =
      stated.is_tuple() ? std::span<const Shape>(stated.elements) : std::span(&stated, 1);
  if (call.operands.size() != operands || shapes.size() != results ||
      call.operands[matrix].shape().rank() < 2)
    return call.error(ErrorKind::Shape, fmt::format("expected {} operands and {} results, of "
                                                    "matrices in operand {}",
                                                    operands, results, matrix));
  HILO_TRY(BackendConfig config, BackendConfig::parse(call));
  LapackCall out{call, std::move(config), {}, call.operands[matrix].shape().dims, {}};
  for (int64_t size : std::span(out.batch).last(2))
    if (size > largest_size)
      return call.error(ErrorKind::Limit, fmt::format("a matrix with a side of {}", size));
  out.batch.resize(out.batch.size() - 2);
  out.sizes = matrix_sizes(call.operands[matrix]);
  for (const Shape& shape : shapes) out.results.push_back(make_zeros(call, call.held(shape)));
  return out;
}

Result<void> LapackCall::expect_operand(size_t i, const LapackArray& array) const {
  return expect(call, "operand", i, call.operands[i], batch, array);
}

Result<void> LapackCall::expect_results(std::initializer_list<LapackArray> arrays) const {
  size_t i = 0;
  for (const LapackArray& array : arrays) {
    HILO_DO(expect(call, "result", i, results[i], batch, array));
    ++i;
  }
  return {};
}

Result<void> LapackCall::expect_square() const {
  if (sizes.rows == sizes.columns) return {};
  return call.error(ErrorKind::Shape, "expected square matrices");
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
    HILO_DO(l.expect_results({{element_type<T>, l.matrix()}, {S32, {l.least()}}, {S32, {}}}));
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
    HILO_DO(l.expect_results({{element_type<T>, l.matrix()}, {element_type<T>, {l.least()}}}));
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
    const LapackArray pivots{S32, {l.sizes.columns}};
    HILO_DO(l.expect_operand(1, pivots));
    HILO_DO(
        l.expect_results({{element_type<T>, l.matrix()}, pivots, {element_type<T>, {l.least()}}}));
    int m = l.sizes.rows, n = l.sizes.columns, info = 0, size = 2 * n + (n + 1) * 64;
    std::vector<T> work(size);
    std::vector<Real> real_work(2 * n + 1);
    l.results[1] = l.call.operands[1];
    for (int64_t b = 0; b < l.sizes.batches; ++b) {
      std::vector<T> a = columns_of<T>(l.call.operands[0], b);
      int* places = vector_of<int>(l.results[1], b, l.sizes.batches);
      T* scales = vector_of<T>(l.results[2], b, l.sizes.batches);
      if constexpr (LapackType<T>::is_complex) {
        geqp3(&m, &n, a.data(), &m, places, scales, work.data(), &size, real_work.data(), &info);
      } else {
        geqp3(&m, &n, a.data(), &m, places, scales, work.data(), &size, &info);
      }
      put_columns(a, l.results[0], b);
    }
    return {};
  });
}

// How many Householder vectors operand 1 scales.
static Result<int> scale_count(const LapackCall& l) {
  const Dims& dims = l.call.operands[1].shape().dims;
  if (!dims.empty() && dims.back() <= largest_size) return static_cast<int>(dims.back());
  return l.call.error(ErrorKind::Shape, "expected a vector of scales for each matrix");
}

Result<Literal> call_lapack_orgqr(Call& call) {
  return with_lapack_type(call, 2, 1, []<class T>(LapackCall& l, T) -> Result<void> {
    const Lapack<T> orgqr("orgqr", "ungqr");
    if (!orgqr) return no_lapack(l.call);
    HILO_DO(l.expect_results({{element_type<T>, l.matrix()}}));
    int m = l.sizes.rows, n = l.sizes.columns, info = 0, size = std::max(1, n) * 64;
    HILO_TRY(int k, scale_count(l));
    HILO_DO(l.expect_operand(1, {element_type<T>, {k}}));
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

// Operands: Householder vectors, their scales, a matrix that Q or its adjoint multiplies from one
// side.
Result<Literal> call_lapack_ormqr(Call& call) {
  return with_lapack_type(
      call, 3, 1,
      []<class T>(LapackCall& l, T) -> Result<void> {
        const Lapack<T> ormqr("ormqr", "unmqr");
        if (!ormqr) return no_lapack(l.call);
        HILO_DO(l.expect_results({{element_type<T>, l.matrix()}}));
        HILO_TRY(int k, scale_count(l));
        char side = l.config.flag("left", true) ? 'L' : 'R';
        const char adjoint = LapackType<T>::is_complex ? 'C' : 'T';
        char transpose = l.config.flag("transpose", false) ? adjoint : 'N';
        int m = l.sizes.rows, n = l.sizes.columns, order = side == 'L' ? m : n;
        int info = 0, size = std::max({1, m, n}) * 64;
        if (l.call.operands[0].shape().rank() < 2)
          return l.call.error(ErrorKind::Shape, "expected matrices as operand 0");
        const MatrixSizes given = matrix_sizes(l.call.operands[0]);
        HILO_DO(l.expect_operand(0, {element_type<T>, {order, given.columns}}));
        HILO_DO(l.expect_operand(1, {element_type<T>, {k}}));
        if (k > order || k > given.columns)
          return l.call.error(ErrorKind::Shape, "more scales than Householder vectors");
        std::vector<T> work(size);
        for (int64_t b = 0; b < l.sizes.batches; ++b) {
          std::vector<T> a = columns_of<T>(l.call.operands[0], b);
          std::vector<T> c = columns_of<T>(l.call.operands[2], b);
          int leading = std::max(1, order), rows = std::max(1, m);
          ormqr(&side, &transpose, &m, &n, &k, a.data(), &leading,
                vector_of<T>(l.call.operands[1], b, l.sizes.batches), c.data(), &rows, work.data(),
                &size, &info);
          put_columns(c, l.results[0], b);
        }
        return {};
      },
      2);
}

Result<Literal> call_lapack_potrf(Call& call) {
  return with_lapack_type(call, 1, 2, []<class T>(LapackCall& l, T) -> Result<void> {
    const Lapack<T> potrf("potrf");
    if (!potrf) return no_lapack(l.call);
    HILO_DO(l.expect_square());
    HILO_DO(l.expect_results({{element_type<T>, l.matrix()}, {S32, {}}}));
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
    return static_cast<char>(config.whole(key, otherwise));
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
  return with_lapack_type(
      call, 4, 5,
      []<class T>(LapackCall& l, T) -> Result<void> {
        const Lapack<T> gtsv("gtsv");
        if (!gtsv) return no_lapack(l.call);
        const LapackArray diagonal{element_type<T>, {l.sizes.rows}};
        HILO_DO(l.expect_results(
            {diagonal, diagonal, diagonal, {element_type<T>, l.matrix()}, {S32, {}}}));
        int n = l.sizes.rows, columns = l.sizes.columns;
        for (size_t i = 0; i < 3; ++i) {
          HILO_DO(l.expect_operand(i, diagonal));
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
      },
      3);
}

Result<Literal> call_lapack_gehrd(Call& call) {
  return with_lapack_type(call, 1, 3, []<class T>(LapackCall& l, T) -> Result<void> {
    const Lapack<T> gehrd("gehrd");
    if (!gehrd) return no_lapack(l.call);
    HILO_DO(l.expect_square());
    HILO_DO(l.expect_results({{element_type<T>, l.matrix()},
                              {element_type<T>, {std::max(0, l.sizes.rows - 1)}},
                              {S32, {}}}));
    int n = l.sizes.rows, size = std::max(1, n) * 64;
    int low = static_cast<int>(std::clamp<int64_t>(l.config.whole("low", 1), 0, n));
    int high = static_cast<int>(std::clamp<int64_t>(l.config.whole("high", n), 0, n));
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
    HILO_DO(l.expect_square());
    HILO_DO(l.expect_results({{element_type<T>, l.matrix()},
                              {element_type<Real>, {l.sizes.rows}},
                              {element_type<Real>, {off}},
                              {element_type<T>, {off}},
                              {S32, {}}}));
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
