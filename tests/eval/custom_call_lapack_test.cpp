// JAX's LAPACK custom calls: factors times factors give the matrix.
#include <cmath>

#include "devices.h"

namespace hilo::test {
namespace {

constexpr int n = 4;
const std::vector<float> general = {2, -1, 0.5f, 3, 1, 4, -2, 0.25f, -3, 1, 5, 1, 0.5f, 2, -1, 6};
const std::vector<float> symmetric = {6, 1, 0.5f, -1, 1, 5, 2, 0, 0.5f, 2, 7, 1, -1, 0, 1, 4};

using Matrix = std::vector<double>;  // n x n in rows

Matrix times(const Matrix& a, const Matrix& b) {
  Matrix out(n * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k) out[i * n + j] += a[i * n + k] * b[k * n + j];
  return out;
}
Matrix transposed(const Matrix& a) {
  Matrix out(n * n);
  for (int i = 0; i < n * n; ++i) out[i % n * n + i / n] = a[i];
  return out;
}
Matrix diagonal(const double* values) {
  Matrix out(n * n);
  for (int i = 0; i < n; ++i) out[i * n + i] = values[i];
  return out;
}
Matrix part(const Numbers& all, size_t from) {
  return {all.begin() + from, all.begin() + from + n * n};
}
void expect_matrix(const Matrix& got, const std::vector<float>& want) {
  for (int i = 0; i < n * n; ++i) EXPECT_NEAR(got[i], want[i], 2e-5) << i;
}

Numbers call(const std::string& target, const std::string& result, const std::vector<float>& a,
             const std::string& config = "") {
  const auto rows =
      run_well("HloModule m\nENTRY e { p = f32[4,4]{0,1} parameter(0)\n ROOT r = " + result +
                   " custom-call(p), custom_call_target=\"" + target +
                   "\", api_version=API_VERSION_TYPED_FFI, backend_config={" + config + "}\n}\n",
               {{f32({n, n}, a)}});
  return rows.empty() ? Numbers(100) : rows[0];
}

TEST(Lapack, LuFactorsAndPivots) {
  const Numbers r = call("lapack_sgetrf_ffi", "(f32[4,4]{0,1}, s32[4], s32[])", general);
  Matrix lower(n * n), upper(n * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) (j < i ? lower : upper)[i * n + j] = r[i * n + j];
  for (int i = 0; i < n; ++i) lower[i * n + i] = 1;
  Matrix product = times(lower, upper);
  for (int i = n - 1; i >= 0; --i)  // pivots count from 1
    for (int j = 0; j < n; ++j)
      std::swap(product[i * n + j], product[(static_cast<int>(r[n * n + i]) - 1) * n + j]);
  expect_matrix(product, general);
  EXPECT_EQ(r.back(), 0);
}

// Small matrices by our code, larger ones by LAPACK's; of some, columns that are 0 or equal.
TEST(Lapack, LuOfAllSizes) {
  const std::pair<int, int> sizes[] = {{1, 1},   {2, 3},   {5, 2},   {7, 7},   {16, 16},
                                       {16, 3},  {17, 16}, {20, 20}, {24, 24}, {3, 40},
                                       {40, 33}, {64, 64}, {64, 7},  {65, 3},  {70, 70}};
  for (const auto& [rows, columns] : sizes)
    for (int kind = 0; kind < 3; ++kind) {
      const auto at = [&, count = columns](int i, int j) {
        return static_cast<size_t>(i * count + j);
      };
      const int least = std::min(rows, columns), column = columns / 2;
      std::vector<float> a(static_cast<size_t>(rows * columns));
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j)
          a[at(i, j)] = kind == 1 && j == column
                            ? 0
                            : static_cast<float>((i * 7 + j * 13 + i * j * 5 + kind) % 11 - 5);
      const auto got =
          run_well(fmt::format("HloModule m\nENTRY e {{ p = f32[{0},{1}]{{0,1}} parameter(0)\n "
                               "ROOT r = (f32[{0},{1}]{{0,1}}, s32[{2}], s32[]) "
                               "custom-call(p), custom_call_target=\"lapack_sgetrf_ffi\", "
                               "api_version=API_VERSION_TYPED_FFI\n}}\n",
                               rows, columns, least),
                   {{f32({rows, columns}, a)}});
      ASSERT_FALSE(got.empty());
      const Numbers& r = got[0];
      const auto places = r.begin() + rows * columns;
      std::vector<double> product(a.size());
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j)
          for (int k = 0; k <= std::min({i, j, least - 1}); ++k)
            product[at(i, j)] += (k == i ? 1 : r[at(i, k)]) * r[at(k, j)];
      for (int i = least - 1; i >= 0; --i)
        for (int j = 0; j < columns; ++j)
          std::swap(product[at(i, j)], product[at(static_cast<int>(places[i]) - 1, j)]);
      int zero = 0;
      for (int i = least; i-- > 0;) zero = r[at(i, i)] == 0 ? i + 1 : zero;
      EXPECT_EQ(r.back(), zero) << rows << " " << columns << " " << kind;
      for (size_t i = 0; i < a.size(); ++i)
        EXPECT_NEAR(product[i], a[i], 2e-4) << rows << " " << columns << " " << kind;
      for (int i = 0; i < rows; ++i)
        for (int k = 0; k < std::min(i, least); ++k) EXPECT_LE(std::abs(r[at(i, k)]), 1);
    }
}

TEST(Lapack, QrThroughHouseholderVectors) {
  const auto rows = run_well(
      "HloModule m\nENTRY e { p = f32[4,4]{0,1} parameter(0)\n f = (f32[4,4]{0,1}, f32[4]) "
      "custom-call(p), custom_call_target=\"lapack_sgeqrf_ffi\", "
      "api_version=API_VERSION_TYPED_FFI\n a = f32[4,4]{0,1} get-tuple-element(f), index=0\n t = "
      "f32[4] get-tuple-element(f), index=1\n q = f32[4,4]{0,1} custom-call(a, t), "
      "custom_call_target=\"lapack_sorgqr_ffi\", api_version=API_VERSION_TYPED_FFI\n ROOT r = "
      "(f32[4,4]{0,1}, f32[4,4]{0,1}) tuple(a, q)\n}\n",
      {{f32({n, n}, general)}});
  ASSERT_EQ(rows.size(), 1u);
  Matrix r = part(rows[0], 0);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) r[i * n + j] = 0;
  expect_matrix(times(part(rows[0], n * n), r), general);
}

TEST(Lapack, CholeskyFactor) {
  const Numbers r =
      call("lapack_spotrf_ffi", "(f32[4,4]{0,1}, s32[])", symmetric, "uplo = 76 : ui8");
  Matrix lower = part(r, 0);
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j) lower[i * n + j] = 0;
  expect_matrix(times(lower, transposed(lower)), symmetric);
  std::vector<float> negative = symmetric;
  negative[0] = -1;
  EXPECT_EQ(call("lapack_spotrf_ffi", "(f32[4,4]{0,1}, s32[])", negative, "uplo = 76 : ui8").back(),
            1);
}

TEST(Lapack, SymmetricEigenvalues) {
  const Numbers r = call("lapack_ssyevd_ffi", "(f32[4,4]{0,1}, f32[4], s32[])", symmetric,
                         "mode = 86 : ui8, uplo = 76 : ui8");
  const Matrix vectors = part(r, 0);
  expect_matrix(times(times(vectors, diagonal(&r[n * n])), transposed(vectors)), symmetric);
}

TEST(Lapack, SingularValuesByBothRoutines) {
  for (const char* target : {"lapack_sgesdd_ffi", "lapack_sgesvd_ffi"}) {
    const Numbers r = call(target, "(f32[4,4]{0,1}, f32[4], f32[4,4]{0,1}, f32[4,4]{0,1}, s32[])",
                           general, "mode = 65 : ui8");
    const size_t u = n * n + n;
    expect_matrix(times(times(part(r, u), diagonal(&r[n * n])), part(r, u + n * n)), general);
  }
}

// A side alone is limited far beyond one of a square matrix.
TEST(Lapack, SingularValuesOfATallMatrix) {
  const auto rows = run_well(
      "HloModule m\nENTRY e { one = f32[] constant(1)\n p = f32[40000,2]{0,1} broadcast(one), "
      "dimensions={}\n g = (f32[40000,2]{0,1}, f32[2], f32[40000,2]{0,1}, f32[2,2]{0,1}, s32[]) "
      "custom-call(p), custom_call_target=\"lapack_sgesdd_ffi\", "
      "api_version=API_VERSION_TYPED_FFI, backend_config={mode = 83 : ui8}\n ROOT s = f32[2] "
      "get-tuple-element(g), index=1\n}\n",
      {{}});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_NEAR(rows[0][0], std::sqrt(80000), 1e-2);
  EXPECT_NEAR(rows[0][1], 0, 1e-2);
}

TEST(Lapack, SchurForm) {
  const Numbers r =
      call("lapack_sgees_ffi", "(f32[4,4]{0,1}, f32[4,4]{0,1}, f32[4], f32[4], s32[], s32[])",
           general, "mode = 86 : ui8, sort = 78 : ui8");
  const Matrix form = part(r, 0), vectors = part(r, n * n);
  expect_matrix(times(times(vectors, form), transposed(vectors)), general);
}

TEST(Lapack, EigenvectorsOfAGeneralMatrix) {
  // A v = lambda v, with complex pairs: checked through the real and imaginary outputs.
  const auto rows = run_well(
      "HloModule m\nENTRY e { p = f32[4,4]{0,1} parameter(0)\n g = (f32[4], f32[4], c64[4,4]{0,1}, "
      "c64[4,4]{0,1}, s32[]) custom-call(p), custom_call_target=\"lapack_sgeev_ffi\", "
      "api_version=API_VERSION_TYPED_FFI, backend_config={compute_left = 86 : ui8, compute_right = "
      "86 : ui8}\n wr = f32[4] get-tuple-element(g), index=0\n wi = f32[4] get-tuple-element(g), "
      "index=1\n v = c64[4,4]{0,1} get-tuple-element(g), index=3\n vr = f32[4,4] real(v)\n vi = "
      "f32[4,4] imag(v)\n ROOT t = (f32[4], f32[4], f32[4,4], f32[4,4]) tuple(wr, wi, vr, vi)\n}\n",
      {{f32({n, n}, general)}});
  ASSERT_EQ(rows.size(), 1u);
  const Numbers& r = rows[0];
  const Matrix a(general.begin(), general.end()), re = part(r, 8), im = part(r, 24);
  const Matrix are = times(a, re), aim = times(a, im);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const double wr = r[j], wi = r[4 + j];
      EXPECT_NEAR(are[i * n + j], wr * re[i * n + j] - wi * im[i * n + j], 1e-4);
      EXPECT_NEAR(aim[i * n + j], wr * im[i * n + j] + wi * re[i * n + j], 1e-4);
    }
}

TEST(Lapack, TridiagonalSystem) {
  // x = (1, 2, 3) of [[2, 1, 0], [3, 4, -1], [0, 5, 6]]; the lower diagonal's first element is
  // not read.
  const auto rows = run_well(
      "HloModule m\nENTRY e { l = f32[3] constant({99, 3, 5})\n d = f32[3] constant({2, 4, 6})\n u "
      "= "
      "f32[3] constant({1, -1, 0})\n b = f32[3,1]{0,1} constant({{4}, {8}, {28}})\n g = (f32[3], "
      "f32[3], f32[3], f32[3,1]{0,1}, s32[]) custom-call(l, d, u, b), "
      "custom_call_target=\"lapack_sgtsv_ffi\", api_version=API_VERSION_TYPED_FFI\n ROOT x = "
      "f32[3,1]{0,1} get-tuple-element(g), index=3\n}\n",
      {{}});
  ASSERT_EQ(rows.size(), 1u);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(rows[0][i], i + 1, 1e-5);
}

struct Untyped {
  const char* routine;
  std::vector<std::string> numbers;  // operands before the matrix
  std::string result;
  const char* typed_result;
  const char* config;
  std::vector<int> picks;  // results that are those of the typed call, in its order
};

std::vector<Untyped> untyped_forms() {
  const std::string m = "f32[4,4]{0,1}", c = "c64[4,4]{0,1}";
  return {
      {"getrf",
       {"s32 1", "s32 4", "s32 4"},
       m + ", s32[4], s32[]",
       "f32[4,4], s32[4], s32[]",
       "",
       {0, 1, 2}},
      {"geqrf",
       {"s32 1", "s32 4", "s32 4", "s32 64"},
       m + ", f32[4], s32[], f32[64]",
       "f32[4,4], f32[4]",
       "",
       {0, 1}},
      {"potrf",
       {"s32 1", "s32 1", "s32 4"},
       m + ", s32[]",
       "f32[4,4], s32[]",
       "uplo = 76 : ui8",
       {0, 1}},
      {"potrf",
       {"s32 0", "s32 1", "s32 4"},
       m + ", s32[]",
       "f32[4,4], s32[]",
       "uplo = 85 : ui8",
       {0, 1}},
      {"gesdd",
       {"s32 1", "s32 1", "s32 1", "s32 4", "s32 4", "s32 99"},
       m + ", f32[4], " + m + ", " + m + ", s32[], s32[32], f32[99]",
       "f32[4,4], f32[4], f32[4,4], f32[4,4], s32[]",
       "mode = 65 : ui8",
       {0, 1, 2, 3, 4}},
      {"syevd",
       {"s32 1", "s32 1", "s32 4"},
       m + ", f32[4], s32[], f32[99], s32[23]",
       "f32[4,4], f32[4], s32[]",
       "mode = 86 : ui8, uplo = 76 : ui8",
       {0, 1, 2}},
      {"geev",
       {"s32 1", "s32 4", "u8 86", "u8 86"},
       m + ", " + m + ", " + m + ", f32[4], f32[4], " + c + ", " + c + ", s32[]",
       "f32[4], f32[4], c64[4,4], c64[4,4], s32[]",
       "compute_left = 86 : ui8, compute_right = 86 : ui8",
       {3, 4, 5, 6, 7}},
      {"gees",
       {"s32 1", "s32 4", "u8 86", "u8 78"},
       m + ", f32[4], f32[4], " + m + ", s32[], s32[]",
       "f32[4,4], f32[4,4], f32[4], f32[4], s32[], s32[]",
       "mode = 86 : ui8, sort = 78 : ui8",
       {0, 3, 1, 2, 4, 5}},
      {"gehrd",
       {"s32 4", "s32 1", "s32 4", "s32 4", "s32 1", "s32 64"},
       m + ", f32[3], s32[], f32[64]",
       "f32[4,4], f32[3], s32[]",
       "low = 1 : i32, high = 4 : i32",
       {0, 1, 2}},
      {"sytrd",
       {"s32 4", "s32 1", "s32 4", "s32 1", "s32 64"},
       m + ", f32[4], f32[3], f32[3], s32[], f32[64]",
       "f32[4,4], f32[4], f32[3], f32[3], s32[]",
       "uplo = 76 : ui8",
       {0, 1, 2, 3, 4}},
  };
}

const std::string matrix_head = "HloModule m\nENTRY e {\n p = f32[4,4]{0,1} parameter(0)\n";

std::string untyped_text(const Untyped& form) {
  std::string text = matrix_head, operands, all;
  for (size_t i = 0; i < form.numbers.size(); ++i) {
    const std::string& number = form.numbers[i];
    const size_t space = number.find(' ');
    const std::string name = "n" + std::to_string(i);
    text += " " + name + " = " + number.substr(0, space) + "[] constant(" +
            number.substr(space + 1) + ")\n";
    operands += name + ", ";
  }
  text += " g = (" + form.result + ") custom-call(" + operands +
          "p), custom_call_target=\"lapack_s" + form.routine + "\"\n";
  for (int pick : form.picks) {
    const std::string number = std::to_string(pick);
    all += (all.empty() ? "r" : ", r") + number;
    text += " r" + number + " = get-tuple-element(g), index=" + number + "\n";
  }
  return text + " ROOT r = tuple(" + all + ")\n}\n";
}

// Before typed FFI numbers were operands, and workspaces results.
TEST(Lapack, UntypedCallsGiveWhatTypedOnesGive) {
  for (const Untyped& form : untyped_forms()) {
    const std::string typed = matrix_head + " ROOT r = (" + form.typed_result +
                              ") custom-call(p), custom_call_target=\"lapack_s" + form.routine +
                              "_ffi\", backend_config={" + form.config + "}\n}\n";
    const std::vector<std::vector<Literal>> inputs = {{f32({n, n}, symmetric)}};
    const std::string untyped = untyped_text(form);
    EXPECT_EQ(run_well(untyped, inputs), run_well(typed, inputs)) << untyped;
  }
}

// 2 inverse(L) b, with the triangle and the number as operands.
TEST(Lapack, UntypedTriangularSolve) {
  const auto rows = run_well(
      "HloModule m\nENTRY e {\n one = s32[] constant(1)\n zero = s32[] constant(0)\n two = s32[] "
      "constant(2)\n alpha = f32[] constant(2)\n a = f32[2,2] constant({{2, 9}, {1, 4}})\n b = "
      "f32[2,1] constant({{4}, {6}})\n ROOT r = f32[2,1] custom-call(one, one, zero, zero, two, "
      "one, one, alpha, a, b), custom_call_target=\"blas_strsm\"\n}\n",
      {{}});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0], (Numbers{4, 2}));
}

// Q^T A = R, both from the Householder vectors; cuSOLVER's and XLA's own names for the factors.
TEST(Lapack, ProductsWithHouseholderVectors) {
  for (const char* target : {"cusolver_geqrf_ffi", "Qr"}) {
    const auto rows = run_well(
        "HloModule m\nENTRY e {\n p = f32[4,4] parameter(0)\n f = (f32[4,4], f32[4]) "
        "custom-call(p), custom_call_target=\"" +
            std::string(target) +
            "\"\n a = f32[4,4] get-tuple-element(f), index=0\n t = f32[4] get-tuple-element(f), "
            "index=1\n c = f32[4,4] custom-call(a, t, p), "
            "custom_call_target=\"lapack_sormqr_ffi\", "
            "backend_config={left = true, transpose = true}\n q = f32[4,4] custom-call(a, t), "
            "custom_call_target=\"ProductOfElementaryHouseholderReflectors\"\n ROOT r = "
            "(f32[4,4], f32[4,4], f32[4,4]) tuple(a, c, q)\n}\n",
        {{f32({n, n}, general)}});
    ASSERT_EQ(rows.size(), 1u);
    const Matrix factors = part(rows[0], 0), product = part(rows[0], n * n);
    const Matrix q = part(rows[0], 2 * n * n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        EXPECT_NEAR(product[i * n + j], j < i ? 0 : factors[i * n + j], 2e-5) << i << "," << j;
    expect_matrix(times(q, product), general);
  }
}

TEST(Lapack, EigenvaluesByOtherNames) {
  const Numbers want = call("lapack_ssyevd_ffi", "(f32[4,4]{0,1}, f32[4], s32[])", symmetric,
                            "mode = 86 : ui8, uplo = 76 : ui8");
  EXPECT_EQ(call("cusolver_syevd_ffi", "(f32[4,4], f32[4], s32[])", symmetric,
                 "lower = true, algorithm = 0 : ui8"),
            want);
  const auto rows = run_well(
      "HloModule m\nENTRY e {\n p = f32[4,4] parameter(0)\n ROOT r = (f32[4,4], f32[4]) "
      "custom-call(p), custom_call_target=\"Eigh\", backend_config=\"1,1,100,1e-6\"\n}\n",
      {{f32({n, n}, symmetric)}});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0], Numbers(want.begin(), want.end() - 1));
}

TEST(Lapack, ResultsOfAnotherSizeAreRefused) {
  auto rows =
      run("HloModule m\nENTRY e { p = f32[4,4]{0,1} parameter(0)\n ROOT r = "
          "(f32[4,4]{0,1}, s32[2], s32[]) custom-call(p), "
          "custom_call_target=\"lapack_sgetrf_ffi\", api_version=API_VERSION_TYPED_FFI\n}\n",
          {{f32({n, n}, general)}});
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().kind, ErrorKind::Shape);
}

}  // namespace
}  // namespace hilo::test
