// cholesky and triangular-solve are routines of compiled programs. Expected: that the factors and
// the solutions give the matrices again, by products in the same program.
#include "both.h"

namespace hilo::test {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

// Symmetric, small numbers around a diagonal of twos. `kept` of a place says whether it is so, or
// else not a number.
template <class Kept>
Literal matrices(ElementType type, int64_t batches, int64_t n, Kept kept) {
  Literal out = Literal::uninitialized(Shape::array(type, {batches, n, n}));
  visit_storage(type, [&]<class T>(std::type_identity<T>) {
    if constexpr (requires { T(float()); } && !std::is_integral_v<T>) {
      auto values = out.mutable_data<T>();
      for (int64_t place = 0; place < batches * n * n; ++place) {
        const int64_t i = place / n % n, j = place % n, mixed = (i * j * 7 + i + j) % 23 - 11;
        const float small = static_cast<float>(mixed) / static_cast<float>(16 * n);
        values[place] = T(!kept(i, j) ? nan : i == j ? 2.0F + small : small);
      }
    }
  });
  return out;
}

double tolerance(ElementType type) {
  return type == ElementType::BF16 ? 2e-2 : bits_of(real_type_of(type)) == 64 ? 1e-13 : 2e-6;
}

void expect_same_and_native(const Both& both, const std::string& text) {
  EXPECT_EQ(largest_difference(both.compiled.elements()[0], both.evaluated.elements()[0]), 0)
      << text;
  EXPECT_TRUE(both.report.evaluated.empty()) << text;
}

void expect_factor(ElementType type, int64_t n, bool lower) {
  const std::string shape = fmt::format("{}[2,{},{}]", text_of(type), n, n);
  const int over = lower ? 2 : 1;
  const std::string text = fmt::format(
      "HloModule m\nENTRY e {{\n  q = {0} parameter(0)\n  l = {0} cholesky(q), lower={1}\n"
      "  a = {0} dot(l, l), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, "
      "lhs_contracting_dims={{{2}}}, rhs_contracting_dims={{{2}}}\n"
      "  ROOT t = ({0}, {0}) tuple(l, a)\n}}\n",
      shape, lower, over);
  const auto given = [&](int64_t i, int64_t j) { return lower ? i >= j : i <= j; };
  for (const int threads : {1, 2}) {
    const auto both = run_both_on(text, {matrices(type, 2, n, given)}, threads);
    ASSERT_TRUE(both) << to_string(both.error()) << text;
    expect_same_and_native(*both, text);
    const Literal whole = matrices(type, 2, n, [](int64_t, int64_t) { return true; });
    EXPECT_LE(largest_difference(both->compiled.elements()[1], whole), tolerance(type)) << text;
  }
}

TEST(LinearAlgebra, CholeskyFactors) {
  for (ElementType type : {ElementType::F32, ElementType::F64, ElementType::C64, ElementType::BF16})
    for (const bool lower : {true, false})
      for (const int64_t n : {1, 5, 64, 90, 150}) expect_factor(type, n, lower);
}

TEST(LinearAlgebra, NotPositiveDefinite) {
  const std::string text =
      "HloModule m\nENTRY e {\n  q = f32[2,100,100] parameter(0)\n  n = f32[2,100,100] negate(q)\n"
      "  l = f32[2,100,100] cholesky(n), lower=true\n  ROOT t = (f32[2,100,100]) tuple(l)\n}\n";
  const auto all = [](int64_t, int64_t) { return true; };
  const auto both = run_both_on(text, {matrices(ElementType::F32, 2, 100, all)});
  ASSERT_TRUE(both) << to_string(both.error());
  expect_same_and_native(*both, text);
  EXPECT_TRUE(std::isnan(both->compiled.elements()[0].data<float>()[9900]));
  EXPECT_EQ(both->compiled.elements()[0].data<float>()[99], 0);
}

struct Form {
  bool on_left, is_lower, has_units;
  std::string_view transposed;
};

void expect_solved(ElementType type, const Form& f, int64_t n, int64_t lines) {
  const std::string of_a = fmt::format("{}[2,{},{}]", text_of(type), n, n);
  const std::string of_x = f.on_left ? fmt::format("{}[2,{},{}]", text_of(type), n, lines)
                                     : fmt::format("{}[2,{},{}]", text_of(type), lines, n);
  const bool is_transposed = f.transposed != "NO_TRANSPOSE";
  // The triangle that is read is multiplied by what was found.
  const std::string text = fmt::format(
      "HloModule m\nENTRY e {{\n  a = {0} parameter(0)\n  b = {1} parameter(1)\n"
      "  t = {0} parameter(2)\n  x = {1} triangular-solve(a, b), left_side={2}, lower={3}, "
      "unit_diagonal={4}, transpose_a={5}\n"
      "  y = {1} dot({6}), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, "
      "lhs_contracting_dims={{{7}}}, rhs_contracting_dims={{{8}}}\n"
      "  ROOT r = ({1}, {1}) tuple(x, y)\n}}\n",
      of_a, of_x, f.on_left, f.is_lower, f.has_units, f.transposed, f.on_left ? "t, x" : "x, t",
      f.on_left && is_transposed ? 1 : 2, !f.on_left && is_transposed ? 2 : 1);
  const auto is_read = [&](int64_t i, int64_t j) {
    return i == j ? !f.has_units : f.is_lower == (i > j);
  };
  const Literal whole = matrices(type, 2, n, [](int64_t, int64_t) { return true; });
  Literal triangle = whole;
  visit_storage(type, [&]<class T>(std::type_identity<T>) {
    if constexpr (requires { T(float()); } && !std::is_integral_v<T>) {
      auto values = triangle.mutable_data<T>();
      for (int64_t place = 0; place < 2 * n * n; ++place) {
        const int64_t i = place / n % n, j = place % n;
        if (!is_read(i, j)) values[place] = T(i == j ? 1.0F : 0.0F);
      }
    }
  });
  std::mt19937_64 random(3);
  const Literal b =
      random_value(Shape::array(type, f.on_left ? Dims{2, n, lines} : Dims{2, lines, n}), random);
  const auto both = run_both_on(text, {matrices(type, 2, n, is_read), b, triangle});
  ASSERT_TRUE(both) << to_string(both.error()) << text;
  expect_same_and_native(*both, text);
  EXPECT_LE(largest_difference(both->compiled.elements()[1], b), tolerance(type)) << text;
}

TEST(LinearAlgebra, TriangularSystems) {
  for (ElementType type : {ElementType::F32, ElementType::F64, ElementType::C64})
    for (int form = 0; form < 16; ++form) {
      const Form f{form % 2 == 0, form / 2 % 2 == 0, form / 4 % 2 == 0,
                   form / 8 ? "TRANSPOSE" : "NO_TRANSPOSE"};
      for (const int64_t n : {3, 64, 130})
        for (const int64_t lines : {1, 90}) expect_solved(type, f, n, lines);
    }
}

TEST(LinearAlgebra, SystemsWithManyRightSides) {
  const auto both = run_both_on(
      "HloModule m\nENTRY e {\n  a = f32[3,3] parameter(0)\n  b = f32[3,40000] parameter(1)\n"
      "  ROOT x = f32[3,40000] custom-call(a, b), custom_call_target=\"lapack_strsm_ffi\", "
      "api_version=API_VERSION_TYPED_FFI, backend_config={side = 76 : ui8, uplo = 76 : ui8, "
      "diag = 85 : ui8, trans_x = 78 : ui8}\n}\n",
      {Literal::from<float>({3, 3}, std::vector<float>{1, 0, 0, 2, 1, 0, 3, 4, 1}),
       Literal::from<float>({3, 40000}, std::vector<float>(120000, 1))});
  ASSERT_TRUE(both) << to_string(both.error());
  EXPECT_TRUE(both->report.evaluated.empty());
  EXPECT_EQ(both->compiled.data<float>()[39999], 1);
  EXPECT_EQ(both->compiled.data<float>()[79999], -1);
  EXPECT_EQ(both->compiled.data<float>()[119999], 2);
}

}  // namespace
}  // namespace hilo::test
