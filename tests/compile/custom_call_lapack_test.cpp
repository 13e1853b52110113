// LAPACK's custom calls are routines of compiled programs: what they give is what the evaluator
// gives, and what the op gives that they stand for.
#include "both.h"

namespace hilo::test {
namespace {

// Small numbers around a diagonal of twos, so that all triangles are well conditioned.
Literal matrices(ElementType type, const Dims& dims) {
  std::mt19937_64 random(7);
  Literal out = Literal::uninitialized(Shape::array(type, dims));
  const int64_t columns = dims.back(), rows = dims[dims.size() - 2];
  visit_storage(type, [&]<class T>(std::type_identity<T>) {
    auto values = out.mutable_data<T>();
    for (size_t i = 0; i < values.size(); ++i) {
      const auto place = static_cast<int64_t>(i) % (rows * columns);
      const float x = static_cast<float>(random() % 41) / 400.0F - 0.05F;
      const float value = x + (place / columns == place % columns ? 2.0F : 0.0F);
      if constexpr (requires { values[i].real(); }) values[i] = T(value, x / 2);
      else if constexpr (std::is_floating_point_v<T>) values[i] = T(value);
    }
  });
  return out;
}

std::string call_of(std::string_view result, std::string_view target, std::string_view config) {
  return fmt::format(
      "{} custom-call(p), custom_call_target=\"lapack_{}_ffi\", "
      "api_version=API_VERSION_TYPED_FFI, backend_config={{{}}}",
      result, target, config);
}

struct Factorisation {
  std::string_view target, result, config;
};
constexpr Factorisation factorisations[] = {
    {"sgetrf", "(f32[3,6,6], s32[3,6], s32[3])", ""},
    {"sgeqrf", "(f32[3,6,6], f32[3,6])", ""},
    {"spotrf", "(f32[3,6,6], s32[3])", "uplo = 76 : ui8"},
    {"spotrf", "(f32[3,6,6], s32[3])", "uplo = 85 : ui8"},
    {"ssyevd", "(f32[3,6,6], f32[3,6], s32[3])", "mode = 86 : ui8, uplo = 76 : ui8"},
    {"sgesdd", "(f32[3,6,6], f32[3,6], f32[3,6,6], f32[3,6,6], s32[3])", "mode = 65 : ui8"},
    {"sgesdd", "(f32[3,6,6], f32[3,6], f32[3,6,6], f32[3,6,6], s32[3])", "mode = 78 : ui8"},
    {"sgesvd", "(f32[3,6,6], f32[3,6], f32[3,6,6], f32[3,6,6], s32[3])", "mode = 83 : ui8"},
    {"sgeev", "(f32[3,6], f32[3,6], c64[3,6,6], c64[3,6,6], s32[3])",
     "compute_left = 78 : ui8, compute_right = 86 : ui8"},
    {"sgees", "(f32[3,6,6], f32[3,6,6], f32[3,6], f32[3,6], s32[3], s32[3])",
     "mode = 78 : ui8, sort = 78 : ui8"},
    {"sgehrd", "(f32[3,6,6], f32[3,5], s32[3])", "low = 1 : i32, high = 6 : i32"},
    {"ssytrd", "(f32[3,6,6], f32[3,6], f32[3,5], f32[3,5], s32[3])", "uplo = 76 : ui8"}};

TEST(LapackRoutines, FactorisationsOfBatches) {
  for (const Factorisation& one : factorisations)
    for (const bool in_place : {false, true}) {
      if (in_place && !one.result.starts_with("(f32[3,6,6], ")) continue;
      const std::string text = fmt::format(
          "HloModule m\nENTRY e {{\n  q = f32[3,6,6] parameter(0)\n  p = f32[3,6,6] add(q, q)\n"
          "  ROOT c = {}{}\n}}\n",
          call_of(one.result, one.target, one.config),
          in_place ? ", output_to_operand_aliasing={{0}: (0, {})}" : "");
      for (const int threads : {1, 2}) {
        const auto both = run_both_on(text, {matrices(ElementType::F32, {3, 6, 6})}, threads);
        expect_native(both, text);
      }
    }
}

struct System {
  bool on_left, is_lower, has_units;
  char transposed;
};

void expect_solved(ElementType type, const System& s, int64_t rows, int64_t columns) {
  const int64_t order = s.on_left ? rows : columns;
  const Dims square = {2, order, order}, right = {2, rows, columns};
  const std::string a = fmt::format("{}[2,{},{}]", text_of(type), order, order);
  const std::string x = fmt::format("{}[2,{},{}]", text_of(type), rows, columns);
  const char letter = type == ElementType::F32 ? 's' : type == ElementType::F64 ? 'd' : 'c';
  const std::string text = fmt::format(
      "HloModule m\nENTRY e {{\n  a = {0} parameter(0)\n  b = {1} parameter(1)\n"
      "  x = {1} custom-call(a, b), custom_call_target=\"lapack_{2}trsm_ffi\", "
      "api_version=API_VERSION_TYPED_FFI, backend_config={{side = {3} : ui8, uplo = {4} : ui8, "
      "diag = {5} : ui8, trans_x = {6} : ui8}}\n"
      "  y = {1} triangular-solve(a, b), left_side={7}, lower={8}, unit_diagonal={9}, "
      "transpose_a={10}\n  ROOT t = ({1}, {1}) tuple(x, y)\n}}\n",
      a, x, letter, s.on_left ? 'L' + 0 : 'R' + 0, s.is_lower ? 'L' + 0 : 'U' + 0,
      s.has_units ? 'U' + 0 : 'N' + 0, s.transposed + 0, s.on_left, s.is_lower, s.has_units,
      s.transposed == 'N'   ? "NO_TRANSPOSE"
      : s.transposed == 'T' ? "TRANSPOSE"
                            : "ADJOINT");
  const auto both = run_both_on(text, {matrices(type, square), matrices(type, right)});
  ASSERT_TRUE(both) << to_string(both.error()) << text;
  EXPECT_EQ(largest_difference(both->compiled, both->evaluated), 0) << text;
  EXPECT_LE(largest_difference(both->compiled.elements()[0], both->compiled.elements()[1]), 2e-6)
      << text;
  for (const EvaluatedStep& step : both->report.evaluated)
    EXPECT_FALSE(step.reason.starts_with("custom-call")) << step.reason << text;
}

// Small systems by substitution, others by the library.
TEST(LapackRoutines, TriangularSystemsOfAllForms) {
  for (ElementType type : {ElementType::F32, ElementType::F64, ElementType::C64})
    for (int form = 0; form < 24; ++form) {
      const System s{form % 2 == 0, form / 2 % 2 == 0, form / 4 % 2 == 0, "NTC"[form / 8]};
      expect_solved(type, s, 4, 3);
      expect_solved(type, s, 19, 23);
    }
}

TEST(LapackRoutines, InsideOfALoop) {
  const std::string text =
      fmt::format(R"(HloModule m
body {{
  t = (s32[], f32[2,5,5]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  p = f32[2,5,5] get-tuple-element(t), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  c = {}, output_to_operand_aliasing={{{{0}}: (0, {{}})}}
  l = f32[2,5,5] get-tuple-element(c), index=0
  info = s32[2] get-tuple-element(c), index=1
  real = f32[2] convert(info)
  wide = f32[2,5,5] broadcast(real), dimensions={{0}}
  s = f32[2,5,5] add(l, wide)
  u = f32[2,5,5] transpose(s), dimensions={{0,2,1}}
  both = f32[2,5,5] add(s, u)
  ROOT r = (s32[], f32[2,5,5]) tuple(next, both)
}}
condition {{
  t = (s32[], f32[2,5,5]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(6)
  ROOT r = pred[] compare(i, n), direction=LT
}}
ENTRY e {{
  a = f32[2,5,5] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[2,5,5]) tuple(zero, a)
  w = (s32[], f32[2,5,5]) while(t), condition=condition, body=body
  ROOT r = f32[2,5,5] get-tuple-element(w), index=1
}}
)",
                  call_of("(f32[2,5,5], s32[2])", "spotrf", "uplo = 76 : ui8"));
  expect_native(run_both_on(text, {matrices(ElementType::F32, {2, 5, 5})}), text);
}

}  // namespace
}  // namespace hilo::test
