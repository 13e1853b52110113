// Expected values: NumPy's einsum over the same inputs; every product here is exact.
#include "wave.h"

namespace hilo::test {
namespace {

TEST(Dot, BatchAndTwoContractingDimsInAnyOrder) {
  const auto got = run_one(
      module_of("  a = f32[2,3,4,2] parameter(0)\n  b = f32[4,2,5,2] parameter(1)\n"
                "  ROOT d = f32[2,3,5] dot(a, b), lhs_batch_dims={0}, lhs_contracting_dims={2,3}, "
                "rhs_batch_dims={1}, rhs_contracting_dims={0,3}\n"),
      {wave({2, 3, 4, 2}), wave({4, 2, 5, 2})});
  EXPECT_EQ(got, (Numbers{4.5,  11.5,  4.75,   -18.5, 5,    6.25,  5.5, -9,  -9.75, 6,
                          13.5, 5,     -17.25, 4.5,   12.5, -8.25, -8,  6,   6.25,  -7.25,
                          4.25, -3.25, 3,      -4.5,  4.5,  -8,    7,   5.5, -9.75, -8.5}));
}

TEST(Dot, MixedTypesSumInTheResultType) {
  const auto got = run_one(
      module_of(
          "  a = bf16[2,6] parameter(0)\n  b = f32[6,2] parameter(1)\n"
          "  ROOT d = f32[2,2] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"),
      {wave<BF16>({2, 6}), wave({6, 2})});
  EXPECT_EQ(got, (Numbers{9.5, 6, -0.75, 10.5}));
}

TEST(Dot, BytesAreExactBeyondFloat) {
  // 3000 products of (-128)(-128) are 49152000, past the 2^24 that f32 counts to; one more odd.
  std::vector<int64_t> values(3001, -128);
  values.back() = 1;
  const auto got = run_one(
      module_of(
          "  a = s8[1,3001] parameter(0)\n  b = s8[3001,1] parameter(1)\n"
          "  ROOT d = s32[1,1] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"),
      {whole<int8_t>({1, 3001}, values), whole<int8_t>({3001, 1}, values)});
  EXPECT_EQ(got, (Numbers{49152001}));
}

TEST(Dot, UnsignedBytesAreExact) {
  const std::vector<int64_t> values(70001, 255);
  const auto got = run_one(
      module_of("  a = u8[70001] parameter(0)\n  b = u8[70001] parameter(1)\n"
                "  ROOT d = u32[] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"),
      {whole<uint8_t>({70001}, values), whole<uint8_t>({70001}, values)});
  EXPECT_EQ(got, (Numbers{255.0 * 255 * 70001 - 4294967296.0}));
}

TEST(Dot, IntegersWrap) {
  const auto got = run_one(
      module_of("  a = s32[2] parameter(0)\n"
                "  ROOT d = s32[] dot(a, a), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"),
      {whole({2}, {65536, 3})});
  EXPECT_EQ(got, (Numbers{9}));
}

TEST(Dot, ComplexIsNotConjugated) {
  const std::vector<std::complex<float>> x = {{1, 2}, {3, -1}}, y = {{0, 1}, {2, 2}};
  const auto got = run_one(
      module_of(
          "  a = c64[2] parameter(0)\n  b = c64[2] parameter(1)\n"
          "  d = c64[] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
          "  r = f32[] real(d)\n  i = f32[] imag(d)\n  ROOT t = (f32[], f32[]) tuple(r, i)\n"),
      {Literal::from<std::complex<float>>({2}, x), Literal::from<std::complex<float>>({2}, y)});
  EXPECT_EQ(got, (Numbers{6, 5}));  // (1+2i)i + (3-i)(2+2i) = (-2+i) + (8+4i)
}

TEST(Dot, NothingToSumIsZero) {
  const auto got = run_one(
      module_of(
          "  a = f32[2,0] parameter(0)\n  b = f32[0,2] parameter(1)\n"
          "  ROOT d = f32[2,2] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"),
      {f32({2, 0}, {}), f32({0, 2}, {})});
  EXPECT_EQ(got, (Numbers{0, 0, 0, 0}));
}

// Sum over k of (i + k)(k + j) has a closed form, so large tiles are checked without a second
// implementation: k^2 + (i + j) k + i j summed over k < n.
double closed_form(double i, double j, double n) {
  return (n - 1) * n * (2 * n - 1) / 6 + (i + j) * (n - 1) * n / 2 + i * j * n;
}

template <class T>
void expect_large(const char* type, const char* result, double scale, double tolerance,
                  int64_t m = 700, int64_t k = 600, int64_t n = 1100) {
  std::vector<T> a(m * k), b(n * k);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t t = 0; t < k; ++t) a[i * k + t] = T(static_cast<double>(i + t) * scale);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t t = 0; t < k; ++t) b[j * k + t] = T(static_cast<double>(t + j) * scale);
  const std::string text = fmt::format(
      "  a = {0}[{2},{3}] parameter(0)\n  b = {0}[{4},{3}] parameter(1)\n"
      "  ROOT d = {1}[{2},{4}] dot(a, b), lhs_contracting_dims={{1}}, "
      "rhs_contracting_dims={{1}}\n",
      type, result, m, k, n);
  EvalOptions one, two, seven;
  one.threads = 1, two.threads = 2, seven.threads = 7;
  const std::vector<Literal> inputs = {Literal::from<T>({m, k}, a), Literal::from<T>({n, k}, b)};
  const auto got = run_one(module_of(text), inputs, one);
  EXPECT_EQ(got, run_one(module_of(text), inputs, two));
  EXPECT_EQ(got, run_one(module_of(text), inputs, seven));
  for (int64_t i = 0; i < m; i += i + 40 < m ? 37 : 1)
    for (int64_t j = 0; j < n; j += j + 40 < n ? 31 : 1) {
      const double want = closed_form(i, j, k) * scale * scale;
      EXPECT_NEAR(got[i * n + j], want, tolerance * want) << i << ' ' << j;
    }
}
TEST(Dot, LargeF32) { expect_large<float>("f32", "f32", 1.0 / 64, 1e-5); }
TEST(Dot, ManyRows) { expect_large<float>("f32", "f32", 1.0 / 64, 1e-5, 2150, 40, 70); }
TEST(Dot, ManyColumns) { expect_large<float>("f32", "f32", 1.0 / 64, 1e-5, 330, 40, 4200); }
TEST(Dot, ManyTerms) { expect_large<float>("f32", "f32", 1.0 / 64, 1e-5, 40, 2500, 50); }
TEST(Dot, SkinnyGemm) { expect_large<float>("f32", "f32", 1.0 / 64, 1e-5, 100, 700, 2100); }
TEST(Dot, SkinnyGemmColumns) {
  expect_large<float>("f32", "f32", 1.0 / 64, 1e-5, 1003, 1700, 37);
  expect_large<float>("f32", "bf16", 1.0 / 64, 1e-2, 1003, 300, 10);
  expect_large<double>("f64", "f64", 1.0 / 64, 1e-13, 601, 900, 16);
  expect_large<BF16>("bf16", "bf16", 1.0 / 64, 1e-2, 903, 700, 12);
}
TEST(Dot, NarrowResult) { expect_large<BF16>("bf16", "bf16", 1.0 / 64, 1e-2, 300, 1100, 2100); }
TEST(Dot, LargeF64) { expect_large<double>("f64", "f64", 1.0 / 64, 1e-13); }
TEST(Dot, LargeIntegers) { expect_large<int32_t>("s32", "s32", 1, 0, 520, 30, 530); }
TEST(Dot, LargeBf16SumsInF32) { expect_large<BF16>("bf16", "f32", 1.0 / 64, 1e-2); }

// Parts of whole numbers, whose sums f32 holds exactly. `turned`: the right operand is n x k.
template <class Real>
void expect_complex(const char* type, int64_t m, int64_t k, int64_t n, bool turned = false) {
  using Complex = std::complex<Real>;
  std::vector<Complex> a(m * k), b(k * n);
  for (int64_t i = 0; i < m * k; ++i)
    a[i] = {static_cast<Real>(i % 7 - 3), static_cast<Real>(i % 11 - 5)};
  for (int64_t i = 0; i < k * n; ++i)
    b[i] = {static_cast<Real>(i % 13 - 6), static_cast<Real>(i % 5 - 2)};
  const std::string text = module_of(fmt::format(
      "  a = {0}[{1},{2}] parameter(0)\n  b = {0}[{5},{6}] parameter(1)\n"
      "  d = {0}[{1},{3}] dot(a, b), lhs_contracting_dims={{1}}, "
      "rhs_contracting_dims={{{7}}}\n  r = {4}[{1},{3}] real(d)\n"
      "  i = {4}[{1},{3}] imag(d)\n  ROOT t = ({4}[{1},{3}], {4}[{1},{3}]) tuple(r, i)\n",
      type, m, k, n, std::is_same_v<Real, float> ? "f32" : "f64", turned ? n : k, turned ? k : n,
      turned ? 1 : 0));
  const auto got = run_one(text, {Literal::from<Complex>({m, k}, a),
                                  Literal::from<Complex>(turned ? Dims{n, k} : Dims{k, n}, b)});
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      Complex want = 0;
      for (int64_t t = 0; t < k; ++t) want += a[i * k + t] * b[turned ? j * k + t : t * n + j];
      ASSERT_EQ(got[i * n + j], want.real()) << i << ' ' << j;
      ASSERT_EQ(got[m * n + i * n + j], want.imag()) << i << ' ' << j;
    }
}
TEST(Dot, LargeComplex) {
  for (int64_t m : {2, 37, 310}) {
    expect_complex<float>("c64", m, 131, 97);
    expect_complex<double>("c128", m, 67, 45);
  }
}

TEST(Dot, ThinComplex) {
  for (const auto& [m, n] : {std::pair{1, 97},
                             {1, 2050},
                             {97, 1},
                             {2050, 1},
                             {1, 1},
                             {3, 97},
                             {8, 131},
                             {64, 150},
                             {65, 150},
                             {4, 2050},
                             {97, 2},
                             {1030, 7}})
    for (bool turned : {false, true}) {
      expect_complex<float>("c64", m, 311, n, turned);
      expect_complex<double>("c128", m, 45, n, turned);
    }
}

TEST(Dot, BytesAreExactBeyondWords) {
  // 40000 products of 255 * 255 are 2601000000, past 2^31.
  const std::vector<int64_t> values(40000, 255);
  const auto got = run_one(
      module_of("  a = u8[40000] parameter(0)\n  b = u8[40000] parameter(1)\n"
                "  ROOT d = s64[] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"),
      {whole<uint8_t>({40000}, values), whole<uint8_t>({40000}, values)});
  EXPECT_EQ(got, (Numbers{2601000000}));
}

// Modulo 2^64: its upper 52 bits and its lower 12.
TEST(Dot, WholeNumbersOf64BitsWrap) {
  for (const auto& [m, k, n] : {std::tuple<int64_t, int64_t, int64_t>{1, 3, 1},
                                {2, 5, 9},
                                {4, 300, 8},
                                {5, 7, 24},
                                {70, 2, 37},
                                {7, 1, 261}}) {
    std::vector<int64_t> a, b;
    uint64_t state = 1;
    const auto next = [&] { return static_cast<int64_t>(state = state * 6364136223846793005 + 1); };
    for (int64_t i = 0; i < m * k; ++i) a.push_back(next());
    for (int64_t i = 0; i < k * n; ++i) b.push_back(next());
    Numbers expected(2 * m * n);
    for (int64_t i = 0; i < m * n; ++i) {
      uint64_t sum = 0;
      for (int64_t t = 0; t < k; ++t)
        sum += static_cast<uint64_t>(a[i / n * k + t]) * static_cast<uint64_t>(b[t * n + i % n]);
      expected[i] = static_cast<double>(sum >> 12);
      expected[m * n + i] = static_cast<double>(sum & 4095);
    }
    const auto got = run_one(
        module_of(fmt::format(
            "  a = s64[{0},{1}] parameter(0)\n  b = s64[{1},{2}] parameter(1)\n"
            "  d = s64[{0},{2}] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n"
            "  c = s64[] constant(12)\n  by = s64[{0},{2}] broadcast(c), dimensions={{}}\n"
            "  e = s64[] constant(4095)\n  bits = s64[{0},{2}] broadcast(e), dimensions={{}}\n"
            "  upper = s64[{0},{2}] shift-right-logical(d, by)\n"
            "  lower = s64[{0},{2}] and(d, bits)\n"
            "  ROOT r = s64[{3},{2}] concatenate(upper, lower), dimensions={{0}}\n",
            m, k, n, 2 * m)),
        {whole<int64_t>({m, k}, a), whole<int64_t>({k, n}, b)});
    EXPECT_EQ(got, expected) << m << " " << k << " " << n;
  }
}

// The right operand's columns stand side by side, and so do the left one's rows.
void expect_columns(int64_t m, int64_t k, int64_t n) {
  std::vector<float> a(m * k), b(n * k);
  for (int64_t t = 0; t < k; ++t) {
    for (int64_t i = 0; i < m; ++i) a[t * m + i] = static_cast<float>(i + t) / 64;
    for (int64_t j = 0; j < n; ++j) b[t * n + j] = static_cast<float>(t + j) / 64;
  }
  const std::string text =
      module_of(fmt::format("  a = f32[{1},{0}] parameter(0)\n  b = f32[{1},{2}] parameter(1)\n"
                            "  ROOT d = f32[{0},{2}] dot(a, b), lhs_contracting_dims={{0}}, "
                            "rhs_contracting_dims={{0}}\n",
                            m, k, n));
  EvalOptions one, seven;
  one.threads = 1, seven.threads = 7;
  const std::vector<Literal> inputs = {f32({k, m}, a), f32({k, n}, b)};
  const auto got = run_one(text, inputs, one);
  EXPECT_EQ(got, run_one(text, inputs, seven));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const double want = closed_form(i, j, k) / 4096;
      ASSERT_NEAR(got[i * n + j], want, 1e-5 * want) << m << ' ' << i << ' ' << j;
    }
}
TEST(Dot, RowsAndColumnsSideBySide) {
  for (int64_t m : {2, 5, 10, 11}) expect_columns(m, 1003, 2110);
  for (int64_t m : {1, 5, 14, 15, 29, 71, 150, 290}) expect_columns(m, 530, 2090);
}

TEST(Dot, Bf16PrecisionRoundsOperands) {
  EvalOptions options;
  options.matmul_precision = MatmulPrecision::Bf16;
  const std::string text = module_of(
      "  a = f32[1] parameter(0)\n"
      "  ROOT d = f32[] dot(a, a), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n");
  // 1 + 2^-9 lies between bf16's 1 and 1 + 2^-7; 1 + 2^-11 between tf32's 1 and 1 + 2^-10.
  EXPECT_EQ(run_one(text, {f32({1}, {1 + 0x1p-9f})}, options), (Numbers{1}));
  options.matmul_precision = MatmulPrecision::Tf32;
  EXPECT_EQ(run_one(text, {f32({1}, {1 + 0x1p-9f})}, options),
            (Numbers{(1 + 0x1p-9) * (1 + 0x1p-9)}));
  EXPECT_EQ(run_one(text, {f32({1}, {1 + 0x1p-12f})}, options), (Numbers{1}));
}

TEST(RaggedDot, RowsOfEachGroupMeetTheirMatrix) {
  const auto got = run_one(
      module_of(
          "  a = f32[5,3] parameter(0)\n  b = f32[2,3,2] parameter(1)\n  s = s32[2] parameter(2)\n"
          "  ROOT d = f32[5,2] ragged-dot(a, b, s), lhs_contracting_dims={1}, "
          "rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}\n"),
      {wave({5, 3}), wave({2, 3, 2}), whole({2}, {3, 1})});
  EXPECT_EQ(got, (Numbers{4.75, 1.5, -7.5, 6, -6, 5, 5.25, 5.5, 0, 0}));
}

TEST(RaggedDot, SummedGroupsGiveOneMatrixEach) {
  const auto got = run_one(
      module_of(
          "  a = f32[2,5] parameter(0)\n  b = f32[5,2] parameter(1)\n  s = s32[3] parameter(2)\n"
          "  ROOT d = f32[3,2,2] ragged-dot(a, b, s), lhs_contracting_dims={1}, "
          "rhs_contracting_dims={0}, lhs_ragged_dims={1}\n"),
      {wave({2, 5}), wave({5, 2}), whole({3}, {2, 0, 3})});
  EXPECT_EQ(got, (Numbers{5.25, 0, 1.75, 3.5, 0, 0, 0, 0, 3.5, 2.25, -7, 2.25}));
}

TEST(ScaledDot, EachBlockHasItsScale) {
  const auto got =
      run_one(module_of("  a = f8e4m3fn[2,4] parameter(0)\n  b = f8e4m3fn[4,2] parameter(1)\n"
                        "  x = f8e8m0fnu[2,2] parameter(2)\n  y = bf16[] constant(1)\n"
                        "  ROOT d = f32[2,2] scaled-dot(a, b, x, y), lhs_contracting_dims={1}, "
                        "rhs_contracting_dims={0}\n"),
              {wave<F8E4M3FN>({2, 4}), wave<F8E4M3FN>({4, 2}),
               Literal::from<F8E8M0FNU>({2, 2}, std::vector<F8E8M0FNU>{1.0, 2.0, 4.0, 0.5})});
  EXPECT_EQ(got, (Numbers{14.25, 3, 1.5, -14.5}));
}

}  // namespace
}  // namespace hilo::test
