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
