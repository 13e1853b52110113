// Ops in terms of simpler ones, against the evaluator's own functions of these ops.
#include "judge.h"

namespace hilo {
namespace {

using test::after_passes;
using test::count_op;
using test::parsed;

struct Row {
  const char* pass;
  Op gone;
  Keeps keeps;
  const char* entry;
};

const Row rows[] = {
    {"batch-norm-expander", Op::BatchNormTraining, Keeps::Reals, R"(x = f32[3,4,5] parameter(0)
 s = f32[4] parameter(1)
 o = f32[4] parameter(2)
 ROOT r = (f32[3,4,5], f32[4], f32[4]) batch-norm-training(x, s, o), epsilon=0.001, feature_index=1)"},
    {"batch-norm-expander", Op::BatchNormTraining, Keeps::Reals, R"(x = bf16[3,4] parameter(0)
 s = bf16[4] parameter(1)
 o = bf16[4] parameter(2)
 ROOT r = (bf16[3,4], bf16[4], bf16[4]) batch-norm-training(x, s, o), epsilon=0.001, feature_index=1)"},
    {"batch-norm-expander", Op::BatchNormInference, Keeps::Reals, R"(x = f32[3,4,5] parameter(0)
 s = f32[5] parameter(1)
 o = f32[5] parameter(2)
 m = f32[5] parameter(3)
 v = f32[5] constant({1, 2, 0.5, 3, 0.25})
 ROOT r = f32[3,4,5] batch-norm-inference(x, s, o, m, v), epsilon=0.01, feature_index=2)"},
    {"batch-norm-expander", Op::BatchNormGrad, Keeps::Reals, R"(x = f64[3,4,5] parameter(0)
 s = f64[3] parameter(1)
 m = f64[3] parameter(2)
 v = f64[3] constant({1, 2, 0.5})
 d = f64[3,4,5] parameter(3)
 ROOT r = (f64[3,4,5], f64[3], f64[3]) batch-norm-grad(x, s, m, v, d), epsilon=0.01, feature_index=0)"},
    {"logistic-expander", Op::Logistic, Keeps::Reals, R"(x = f32[50] parameter(0)
 ROOT r = f32[50] logistic(x))"},
    {"reduce-precision-expander", Op::ReducePrecision, Keeps::Bits, R"(x = f32[99] parameter(0)
 ROOT r = f32[99] reduce-precision(x), exponent_bits=5, mantissa_bits=3)"},
    {"reduce-precision-expander", Op::ReducePrecision, Keeps::Bits, R"(x = f64[99] parameter(0)
 ROOT r = f64[99] reduce-precision(x), exponent_bits=8, mantissa_bits=7)"},
    {"reduce-precision-expander", Op::ReducePrecision, Keeps::Bits, R"(x = bf16[99] parameter(0)
 ROOT r = bf16[99] reduce-precision(x), exponent_bits=8, mantissa_bits=2)"},
    {"comparison-expander", Op::Tuple, Keeps::Bits, R"(x = f32[99] parameter(0)
 y = f32[99] parameter(1)
 ROOT r = pred[99] compare(x, y), direction=LE, type=TOTALORDER)"},
    {"comparison-expander", Op::Tuple, Keeps::Bits, R"(x = f16[99] parameter(0)
 y = f16[99] parameter(1)
 ROOT r = pred[99] compare(x, y), direction=GT, type=TOTALORDER)"},
    {"topk-decomposer", Op::TopK, Keeps::Bits, R"(x = f32[3,40] parameter(0)
 ROOT r = (f32[3,7], s32[3,7]) topk(x), k=7, largest=true)"},
    {"topk-decomposer", Op::TopK, Keeps::Bits, R"(x = s32[40] parameter(0)
 ROOT r = (s32[7], s32[7]) topk(x), k=7, largest=false)"},
    {"dot-decomposer", Op::Tuple, Keeps::Reals, R"(x = f32[2,4,3,5] parameter(0)
 y = f32[5,7,2,3] parameter(1)
 ROOT r = f32[2,4,7] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={2}, lhs_contracting_dims={3,2}, rhs_contracting_dims={0,3})"},
    {"dot-decomposer", Op::Tuple, Keeps::Reals, R"(x = f32[5] parameter(0)
 y = f32[5] parameter(1)
 ROOT r = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0})"},
    {"float-normalization", Op::Tuple, Keeps::Bits, R"(x = bf16[99] parameter(0)
 y = bf16[99] parameter(1)
 a = bf16[99] multiply(x, y)
 b = bf16[99] exponential(a)
 p = pred[99] compare(b, x), direction=LT
 ROOT r = bf16[99] select(p, a, b))"},
    {"float-normalization", Op::Tuple, Keeps::Bits, R"(x = f8e4m3fn[99] parameter(0)
 y = f8e4m3fn[99] parameter(1)
 ROOT a = f8e4m3fn[99] add(x, y))"},
    {"map-inliner", Op::Map, Keeps::Bits, R"(x = f32[9,2] parameter(0)
 y = f32[9,2] parameter(1)
 ROOT a = f32[9,2] map(x, y), dimensions={0,1}, to_apply=f)"},
};

TEST(Expansions, ComputeTheSame) {
  for (const Row& row : rows) {
    const Module before = parsed(fmt::format(R"(HloModule m
f {{ a = f32[] parameter(0)
 b = f32[] parameter(1)
 c = f32[] constant(3)
 d = f32[] multiply(b, c)
 ROOT s = f32[] subtract(a, d) }}
ENTRY e {{ {} }})",
                                             row.entry));
    const Module after = after_passes(before, row.pass);
    EXPECT_NE(difference(before, after), "") << row.pass << " did nothing";
    EXPECT_EQ(count_op(after, row.gone), 0) << row.pass;
    EXPECT_EQ(test::difference_in_values(before, after, row.keeps), "")
        << row.pass << print(before) << print(after);
  }
}

TEST(Expansions, DotsHaveOneForm) {
  const Module after = after_passes(parsed(R"(HloModule m
ENTRY e { x = f32[4,2,3] parameter(0)
 y = f32[3,2] parameter(1)
 ROOT r = f32[2,4] dot(x, y), lhs_batch_dims={1}, rhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_contracting_dims={0} })"),
                                    "dot-decomposer");
  for (InstructionId id : after[after.entry].instructions)
    if (after[id].op == Op::Dot) {
      const auto& a = after.attributes<DotAttributes>(id);
      EXPECT_EQ(a.lhs_batch_dims, (Dims{0}));
      EXPECT_EQ(a.lhs_contracting_dims, (Dims{2}));
      EXPECT_EQ(a.rhs_contracting_dims, (Dims{1}));
      EXPECT_EQ(after.shape(id).dims, (Dims{2, 4, 1}));
    }
  // What has the form stays as it is.
  const Module again = after_passes(after, "dot-decomposer");
  EXPECT_EQ(difference(after, again), "");
}

}  // namespace
}  // namespace hilo
