// The judge of differences itself: it explains what functions may do, and nothing else.
#include "perturbed.h"

namespace hilo {
namespace {

// Evaluated with the result of each `op` times `factor`, as if it were computed wrongly; complex
// numbers are turned by what `factor` is above 1.
Literal with_fault(const Module& module, Op op, float factor, const std::vector<Literal>& given) {
  EvalOptions options;
  options.threads = 1;
  options.place = [&](int64_t, InstructionId id, Literal& value) {
    if (module[id].op != op) return;
    if (value.type() == ElementType::C64)
      for (auto& z : value.mutable_data<std::complex<float>>()) z *= std::complex(1.F, factor - 1);
    else
      for (float& x : value.mutable_data<float>()) x *= factor;
  };
  return evaluate(module, Inputs{{given}}, options)->devices[0];
}

struct Case {
  const char* name;
  const char* chain;  // from x, y to r
  Op op;
  float factor;
  bool is_explained;
};
constexpr float unit = 0x1p-23F;
const Case cases[] = {
    // The sine makes 500 times as much of a unit of 8000 as that is of 1.
    {"FunctionByAUnit", "e = f32[64] exponential(x)\n ROOT r = f32[64] sine(e)", Op::Exponential,
     1 + unit, true},
    {"FunctionByManyUnits", "e = f32[64] exponential(x)\n ROOT r = f32[64] sine(e)",
     Op::Exponential, 1 + 100 * unit, false},
    {"ExactOp", "e = f32[64] multiply(x, y)\n ROOT r = f32[64] sine(e)", Op::Multiply, 1 + unit,
     false},
    {"ExactOpBesideAFunction",
     "e = f32[64] multiply(x, y)\n l = f32[64] log(x)\n s = f32[64] sine(e)\n"
     "ROOT r = f32[64] add(s, l)",
     Op::Multiply, 1 + unit, false},
    {"RoundedOfAnExactOp", "e = f32[64] add(x, y)\n ROOT r = s32[64] convert(e)", Op::Add, 1 - unit,
     false},
    {"RoundedOfAFunction",
     "l = f32[64] log(x)\n e = f32[64] exponential(l)\n s = f32[64] subtract(e, x)\n"
     "ROOT r = f32[64] sign(s)",
     Op::Exponential, 1 + unit, true},
    // -1 and a unit beside the cut of the logarithm.
    {"ComplexQuotientByAUnit",
     "c = c64[64] complex(x, y)\n q = c64[64] divide(c, c)\n n = c64[64] negate(q)\n"
     "l = c64[64] log(n)\n ROOT r = f32[64] imag(l)",
     Op::Divide, 1 - unit, true},
    {"ExactComplexOp",
     "c = c64[64] complex(y, x)\n d = c64[64] add(c, c)\n s = f32[64] imag(d)\n"
     "ROOT r = f32[64] sine(s)",
     Op::Add, 1 + unit, false},
    // A unit of f32 where the results are f64.
    {"ModulusByAUnit",
     "c = c64[64] complex(x, y)\n a = f32[64] abs(c)\n ROOT r = f64[64] convert(a)", Op::Abs,
     1 + unit, true},
    {"ModulusByManyUnits",
     "c = c64[64] complex(x, y)\n a = f32[64] abs(c)\n ROOT r = f64[64] convert(a)", Op::Abs,
     1 + 8 * unit, false},
    {"ExactAbs", "n = f32[64] negate(x)\n a = f32[64] abs(n)\n ROOT r = f64[64] convert(a)",
     Op::Abs, 1 + unit, false},
    // Products of 1000 around 4e6 in another order, and one that lost a summand.
    {"SumByAUnit",
     "z = f32[] constant(0)\n w = f32[64,64] broadcast(y), dimensions={1}\n"
     "s = f32[64] reduce(w, z), dimensions={1}, to_apply=add\n ROOT r = f32[64] sine(s)",
     Op::Reduce, 1 + unit, true},
    // Of 64 in a chain, each rounded the same way.
    {"SumByAsManyUnitsAsItsLengthAllows",
     "z = f32[] constant(0)\n w = f32[64,64] broadcast(y), dimensions={1}\n"
     "s = f32[64] reduce(w, z), dimensions={1}, to_apply=add\n ROOT r = f32[64] sine(s)",
     Op::Reduce, 1 + 8 * unit, true},
    {"SumByManyUnits",
     "z = f32[] constant(0)\n w = f32[64,64] broadcast(y), dimensions={1}\n"
     "s = f32[64] reduce(w, z), dimensions={1}, to_apply=add\n ROOT r = f32[64] sine(s)",
     Op::Reduce, 1 + 100 * unit, false},
};

class Perturbed : public testing::TestWithParam<Case> {};

TEST_P(Perturbed, ExplainsWhatFunctionsMayDo) {
  const Case& c = GetParam();
  const bool whole = std::string_view(c.chain).contains("s32[64]");
  const Module module = test::parsed(
      fmt::format("HloModule m\nadd {{ a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
                  "ROOT s = f32[] add(a, b) }}\nENTRY e {{ x = f32[64] parameter(0)\n"
                  "y = f32[64] parameter(1)\n{} }}\n",
                  c.chain));
  std::vector<float> x(64), y(64);
  for (int i = 0; i < 64; ++i) {
    x[i] = 9 + static_cast<float>(i) / 64;
    // Sums with x are whole numbers.
    y[i] = whole ? 20 - x[i] : 1000 + static_cast<float>(i * i) / 7;
  }
  const std::vector given = {Literal::from<float>({64}, x), Literal::from<float>({64}, y)};
  const Literal right = *test::evaluate_once(module, given);
  const Literal wrong = with_fault(module, c.op, c.factor, given);
  // Each fault is seen without the judge.
  ASSERT_NE(test::disagreement(right, wrong, Keeps::Reals), "");
  EXPECT_EQ(test::is_ill_conditioned(module, given, right, wrong), c.is_explained);
}

// 2^-100 twice and 2^100 twice: zero, infinity or one.
TEST(PerturbedProducts, InAnyOrder) {
  const Module module = test::parsed(
      "HloModule m\nmultiply { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
      "ROOT p = f32[] multiply(a, b) }\nENTRY e { x = f32[2,4] parameter(0)\n"
      "one = f32[] constant(1)\n"
      "ROOT r = f32[2] reduce(x, one), dimensions={1}, to_apply=multiply }\n");
  const std::vector<float> x = {0x1p-100F, 0x1p-100F, 0x1p100F, 0x1p100F, 1, 2, 3, 4};
  const std::vector given = {Literal::from<float>({2, 4}, x)};
  const Literal right = *test::evaluate_once(module, given);
  for (const auto& [first, second, is_explained] :
       {std::tuple{1.F, 24.F, true}, {5.F, 24.F, false}, {1.F, 25.F, false}}) {
    const Literal other = Literal::from<float>({2}, std::vector{first, second});
    EXPECT_EQ(test::is_ill_conditioned(module, given, right, other), is_explained) << first;
  }
}

// 0 times -1 beside the cut of atan2: a sum of one term may be -0, a product is nothing but that.
TEST(PerturbedZeros, OfSumsOfOneTerm) {
  for (const auto& [op, is_explained] :
       {std::pair{"dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}", true},
        {"multiply(x, y)", false}}) {
    const Module module = test::parsed(fmt::format(
        "HloModule m\nENTRY e {{ x = f32[1,1] parameter(0)\n y = f32[1,1] parameter(1)\n"
        "n = f32[1,1] {}\n ROOT r = f32[1,1] atan2(n, y) }}\n",
        op));
    const std::vector given = {Literal::from<float>({1, 1}, std::vector{0.F}),
                               Literal::from<float>({1, 1}, std::vector{-1.F})};
    const Literal right = *test::evaluate_once(module, given);
    const Literal other = Literal::from<float>({1, 1}, std::vector{-right.data<float>()[0]});
    EXPECT_EQ(test::is_ill_conditioned(module, given, right, other), is_explained) << op;
  }
}

INSTANTIATE_TEST_SUITE_P(Faults, Perturbed, testing::ValuesIn(cases),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace hilo
