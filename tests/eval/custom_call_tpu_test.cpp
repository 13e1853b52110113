// Custom calls of TPU modules: pairs of numbers, decompositions by what they must satisfy.
#include <cmath>

#include "devices.h"

namespace hilo::test {
namespace {

Numbers one(const std::string& body, std::vector<Literal> inputs) {
  const auto rows = run_well("HloModule m\n" + body, {std::move(inputs)});
  return rows.empty() ? Numbers{} : rows[0];
}

std::string entry(const std::string& body) { return "ENTRY e {\n" + body + "}\n"; }

std::string call(const std::string& operands, const std::string& target) {
  return " custom-call(" + operands + "), custom_call_target=\"" + target + "\"\n";
}

// Low and high half, and these together again.
Numbers halves(const std::string& type, const std::string& half, const std::string& prefix,
               Literal value) {
  const std::string whole = type + "[3]{0:T(128)}", part = half + "[3]{0:T(128)S(1)}";
  return one(
      entry("  p = " + whole + " parameter(0)\n  l = " + part + call("p", prefix + "SplitLow") +
            "  h = " + part + call("p", prefix + "SplitHigh") + "  w = " + whole +
            call("l, h", prefix + "Combine") + "  ROOT t = (" + part + ", " + part + ", " + whole +
            ") tuple(l, h, w)\n"),
      {std::move(value)});
}

TEST(X64, WordsOfIntegers) {
  EXPECT_EQ(halves("s64", "u32", "X64",
                   Literal::from<int64_t>({3}, {{-2, int64_t{7} << 32 | 5, INT64_MIN}})),
            (Numbers{4294967294, 5, 0, 4294967295, 7, 2147483648, -2, 30064771077,
                     -9223372036854775808.0}));
  EXPECT_EQ(halves("u64", "u32", "X64", Literal::from<uint64_t>({3}, {{1, uint64_t{1} << 63, 9}})),
            (Numbers{1, 0, 9, 0, 2147483648, 0, 1, 9223372036854775808.0, 9}));
}

TEST(X64, SumsOfFloats) {
  const double third = 1.0 / 3;
  const float rounded = static_cast<float>(third), rest = static_cast<float>(third - rounded);
  const Numbers got =
      halves("f64", "f32", "X64", Literal::from<double>({3}, {{third, 1e300, -0.0}}));
  ASSERT_EQ(got.size(), 9u);
  EXPECT_EQ(got, (Numbers{rounded, INFINITY, -0.0, rest, 0, 0, double{rounded} + double{rest},
                          INFINITY, -0.0}));
  EXPECT_NEAR(got[6], third, 1e-15);
  EXPECT_TRUE(std::signbit(got[2]) && std::signbit(got[8]));
}

TEST(X64, PartsOfComplexNumbers) {
  EXPECT_EQ(halves("c64", "f32", "X64",
                   Literal::from<std::complex<float>>({3}, {{{1, 2}, {3, 4}, {5, 6}}})),
            (Numbers{1, 3, 5, 2, 4, 6, 1, 3, 5}));
  EXPECT_EQ(halves("c128", "f64", "X128",
                   Literal::from<std::complex<double>>({3}, {{{1, 2}, {3, 4}, {5, 6}}})),
            (Numbers{1, 3, 5, 2, 4, 6, 1, 3, 5}));
}

TEST(X64, HalvesMustFit) {
  const auto rows =
      run("HloModule m\n" + entry("  p = f32[3] parameter(0)\n  q = f32[2] parameter(1)\n"
                                  "  ROOT w = f64[3]" +
                                  call("p, q", "X64Combine")),
          {{f32({3}, {1, 2, 3}), f32({2}, {1, 2})}});
  ASSERT_FALSE(rows);
  EXPECT_NE(rows.error().message.find("f32[2] is no half of f64[3]"), std::string::npos)
      << rows.error().message;
}

TEST(GatherScatterIndicesBitpacked, IsItsOperand) {
  EXPECT_EQ(one(entry("  p = f32[3] parameter(0)\n  ROOT w = f32[3]" +
                      call("p", "GatherScatterIndicesBitpacked")),
                {f32({3}, {3, 1, 2})}),
            (Numbers{3, 1, 2}));
}

constexpr int n = 4;
const std::vector<float> matrix = {4, 1, -2, 2, 1, 2, 0, 1, -2, 0, 3, -2, 2, 1, -2, -1};

double at(const Numbers& a, int i, int j) { return a[static_cast<size_t>(i * n + j)]; }

// Q = I + V T V^T is orthogonal, and Q^T A is R.
TEST(QrDecompositionBlock, WithCompactWy) {
  const Numbers qr = one(entry("  p = f32[4,4] parameter(0)\n  ROOT q = (f32[4,4], f32[4])" +
                               call("p", "QrDecompositionBlock")),
                         {f32({n, n}, matrix)});
  ASSERT_EQ(qr.size(), 20u);
  const auto v = [&](int i, int j) { return i == j ? 1.0 : i > j ? at(qr, i, j) : 0.0; };
  std::vector<float> m(16, 0);
  for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += v(k, i) * v(k, j);
      m[static_cast<size_t>(i * n + j)] =
          static_cast<float>((i == j ? 1.0 : sum) * -qr[static_cast<size_t>(16 + j)]);
    }
  const Numbers t = one(
      entry("  p = f32[4,4] parameter(0)\n  ROOT t = f32[4,4]{0,1}" + call("p", "CompactWyHelper")),
      {f32({n, n}, m)});
  ASSERT_EQ(t.size(), 16u);
  Numbers q(16);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = i == j;
      for (int k = 0; k < n; ++k)
        for (int l = 0; l < n; ++l) sum += v(i, k) * at(t, k, l) * v(j, l);
      q[static_cast<size_t>(i * n + j)] = sum;
    }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double identity = 0, r = 0;
      for (int k = 0; k < n; ++k) {
        identity += at(q, k, i) * at(q, k, j);
        r += at(q, k, i) * matrix[static_cast<size_t>(k * n + j)];
      }
      EXPECT_NEAR(identity, i == j, 1e-5);
      EXPECT_NEAR(r, i <= j ? at(qr, i, j) : 0.0, 1e-5) << i << ' ' << j;
    }
}

// Quadrants of 1 and 3 rows: A = V^T diag(w) V with the eigenvectors as rows of V.
TEST(EighTpu, EigenvectorsAreRows) {
  std::vector<Literal> quadrants;
  for (const auto& [row, rows] : {std::pair(0, 1), std::pair(1, 3)})
    for (const auto& [column, columns] : {std::pair(0, 1), std::pair(1, 3)}) {
      std::vector<float> values;
      for (int i = row; i < row + rows; ++i)
        for (int j = column; j < column + columns; ++j)
          values.push_back(matrix[static_cast<size_t>(i * n + j)]);
      quadrants.push_back(f32({rows, columns}, values));
    }
  const Numbers got =
      one(entry("  a = f32[1,1] parameter(0)\n  b = f32[1,3] parameter(1)\n"
                "  c = f32[3,1] parameter(2)\n  d = f32[3,3] parameter(3)\n"
                "  ROOT q = (f32[1], f32[3], f32[1,1], f32[1,3], f32[3,1], f32[3,3])" +
                call("a, b, c, d", "EighTpu")),
          quadrants);
  ASSERT_EQ(got.size(), 20u);
  const auto v = [&](int i, int j) {
    if (i == 0) return j == 0 ? got[4] : got[static_cast<size_t>(4 + j)];
    return j == 0 ? got[static_cast<size_t>(7 + i)]
                  : got[static_cast<size_t>(11 + 3 * (i - 1) + j - 1)];
  };
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += v(k, i) * got[static_cast<size_t>(k)] * v(k, j);
      EXPECT_NEAR(sum, matrix[static_cast<size_t>(i * n + j)], 1e-5) << i << ' ' << j;
    }
}

// Rows of the factors' product are the matrix's in the order that the call gives.
TEST(LuRealDecompositionBlock, FactorsOfExchangedRows) {
  const Numbers got = one(entry("  p = f32[4,4] parameter(0)\n"
                                "  ROOT l = (f32[4,4], s32[4], s32[4])" +
                                call("p", "LuRealDecompositionBlock")),
                          {f32({n, n}, {1, 2, 3, 4, 4, 1, 0, 2, -5, 2, 1, 1, 2, 2, 2, 7})});
  const float a[] = {1, 2, 3, 4, 4, 1, 0, 2, -5, 2, 1, 1, 2, 2, 2, 7};
  ASSERT_EQ(got.size(), 24u);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k <= std::min(i, j); ++k)
        sum += (k == i ? 1.0 : at(got, i, k)) * at(got, k, j);
      const auto row = static_cast<int>(got[static_cast<size_t>(20 + i)]);
      EXPECT_NEAR(sum, a[row * n + j], 1e-5) << i << ' ' << j;
    }
}

TEST(InvertDiagBlocksUpperTriangular, OfTwoRows) {
  EXPECT_EQ(one(entry("  p = f32[1,2,2] parameter(0)\n  ROOT l = f32[1,2,2]" +
                      call("p", "InvertDiagBlocksUpperTriangular")),
                {f32({1, 2, 2}, {2, 4, 0, 8})}),
            (Numbers{0.5, -0.25, 0, 0.125}));
}

TEST(PartialReduce, TheBestOfEachLine) {
  const std::string greater =
      "greater {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  i = s32[] parameter(2)\n"
      "  j = s32[] parameter(3)\n  ROOT g = pred[] compare(a, b), direction=GT\n}\n";
  const auto text = [&](const std::string& results) {
    return greater + entry(
                         "  x = f32[2,4] parameter(0)\n"
                         "  i = s32[2,4] iota(), iota_dimension=1\n  low = f32[] constant(-inf)\n"
                         "  none = s32[] constant(-1)\n  ROOT r = " +
                         results +
                         " custom-call(x, i, low, none), custom_call_target=\"PartialReduce\", "
                         "called_computations={greater}, "
                         "backend_config={\"log2_reduction\":1,\"reduction_dim\":1,"
                         "\"to_apply_type\":\"comparator\",\"top_k\":1}\n");
  };
  const Literal x = f32({2, 4}, {3, 9, 4, 1, -5, -2, -7, -1});
  EXPECT_EQ(one(text("(f32[2,2], s32[2,2])"), {x}), (Numbers{9, 4, -1, -2, 1, 2, 3, 1}));
  EXPECT_EQ(one(text("(f32[2,5], s32[2,5])"), {x}),
            (Numbers{9, 4, 3, 1, -INFINITY, -1, -2, -5, -7, -INFINITY,  //
                     1, 2, 0, 3, -1,        3,  1,  0,  2,  -1}));
}

TEST(OffloadedCall, IsItsComputation) {
  const std::string text =
      "twice {\n  a = f32[2] parameter(0)\n  ROOT b = f32[2] add(a, a)\n}\n" +
      entry(
          "  p = f32[2] parameter(0)\n  ROOT c = f32[2] custom-call(p), "
          "custom_call_target=\"TODO(b/522284627)\", called_computations={twice}\n");
  EXPECT_EQ(one(text, {f32({2}, {3, 4})}), (Numbers{6, 8}));
}

TEST(RngBitGenerator, BitsAlone) {
  const std::string body =
      "  s = u64[2] constant({81985529216486895, 5})\n"
      "  r = (u64[2], u32[7]) rng-bit-generator(s), algorithm=rng_default\n"
      "  a = u32[7] get-tuple-element(r), index=1\n"
      "  b = u32[7] rng-bit-generator(s), algorithm=rng_default\n"
      "  ROOT t = (u32[7], u32[7]) tuple(a, b)\n";
  const Numbers got = one(entry(body), {});
  ASSERT_EQ(got.size(), 14u);
  EXPECT_TRUE(std::equal(got.begin(), got.begin() + 7, got.begin() + 7));
  EXPECT_NE(got[0], got[1]);
}

}  // namespace
}  // namespace hilo::test
