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
    {"narrow-operand-upcaster", Op::Tuple, Keeps::Reals, R"(x = f8e4m3fn[5,30] parameter(0)
 y = f8e5m2[30,7] parameter(1)
 ROOT r = f32[5,7] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0})"},
    {"narrow-operand-upcaster", Op::Tuple, Keeps::Reals, R"(x = f8e4m3fn[2,9,4] parameter(0)
 y = f8e4m3fn[3,4,5] parameter(1)
 ROOT r = f8e4m3fn[2,7,5] convolution(x, y), window={size=3}, dim_labels=b0f_0io->b0f)"},
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
    {"cholesky-expander", Op::Cholesky, Keeps::Reals, R"(x = f32[2,5,5] parameter(0)
 y = f32[2,5,5] dot(x, x), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
 i = s32[2,5,5] iota(), iota_dimension=1
 j = s32[2,5,5] iota(), iota_dimension=2
 e = pred[2,5,5] compare(i, j), direction=EQ
 d = f32[2,5,5] convert(e)
 a = f32[2,5,5] add(y, d)
 ROOT r = f32[2,5,5] cholesky(a), lower=true)"},
    {"cholesky-expander", Op::Cholesky, Keeps::Reals, R"(x = c128[4,4] parameter(0)
 re = f64[4,4] real(x)
 im = f64[4,4] imag(x)
 mi = f64[4,4] negate(im)
 h = c128[4,4] complex(re, mi)
 y = c128[4,4] dot(x, h), lhs_contracting_dims={1}, rhs_contracting_dims={1}
 ROOT r = c128[4,4] cholesky(y), lower=false)"},
    {"cholesky-expander", Op::Cholesky, Keeps::Reals,
     R"(a = f64[2,3,3] constant({{{4,0,0},{1,3,0},{0,1,5}},{{1,0,0},{2,1,0},{0,0,1}}})
 ROOT r = f64[2,3,3] cholesky(a), lower=true)"},
    {"triangular-solve-expander", Op::TriangularSolve, Keeps::Reals, R"(a = f64[2,4,4] parameter(0)
 b = f64[2,4,3] parameter(1)
 ROOT r = f64[2,4,3] triangular-solve(a, b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE)"},
    {"triangular-solve-expander", Op::TriangularSolve, Keeps::Reals, R"(a = f64[4,4] parameter(0)
 b = f64[3,4] parameter(1)
 ROOT r = f64[3,4] triangular-solve(a, b), left_side=false, lower=true, transpose_a=TRANSPOSE)"},
    {"triangular-solve-expander", Op::TriangularSolve, Keeps::Reals, R"(a = c128[4,4] parameter(0)
 b = c128[4,2] parameter(1)
 ROOT r = c128[4,2] triangular-solve(a, b), left_side=true, lower=false, transpose_a=ADJOINT)"},
    {"triangular-solve-expander", Op::TriangularSolve, Keeps::Reals, R"(a = f64[3,3] parameter(0)
 b = f64[2,3] parameter(1)
 ROOT r = f64[2,3] triangular-solve(a, b), left_side=false, lower=false, unit_diagonal=true, transpose_a=NO_TRANSPOSE)"},
    {"fft-expander", Op::Fft, Keeps::Reals, R"(x = c64[3,60] parameter(0)
 ROOT r = c64[3,60] fft(x), fft_type=FFT, fft_length={60})"},
    {"fft-expander", Op::Fft, Keeps::Reals, R"(x = c128[2,6,37] parameter(0)
 ROOT r = c128[2,6,37] fft(x), fft_type=IFFT, fft_length={6,37})"},
    {"fft-expander", Op::Fft, Keeps::Reals, R"(x = f64[4,130] parameter(0)
 ROOT r = c128[4,66] fft(x), fft_type=RFFT, fft_length={4,130})"},
    {"fft-expander", Op::Fft, Keeps::Reals, R"(x = c128[5,4] parameter(0)
 ROOT r = f64[5,7] fft(x), fft_type=IRFFT, fft_length={5,7})"},
    {"fft-expander", Op::Fft, Keeps::Reals, R"(x = c64[5] parameter(0)
 ROOT r = f32[8] fft(x), fft_type=IRFFT, fft_length={8})"},
    {"gather-simplifier", Op::Tuple, Keeps::Bits, R"(x = f32[6,5,4] parameter(0)
 i = s32[3,2,2] parameter(1)
 ROOT r = f32[3,3,3,2] gather(x, i), offset_dims={1,2}, collapsed_slice_dims={1}, start_index_map={2,1}, index_vector_dim=1, slice_sizes={3,1,3})"},
    {"gather-simplifier", Op::Gather, Keeps::Bits, R"(x = f32[6,5,4] parameter(0)
 i = u8[2] parameter(1)
 ROOT r = f32[3,4] gather(x, i), offset_dims={0,1}, collapsed_slice_dims={1}, start_index_map={1,0}, index_vector_dim=0, slice_sizes={3,1,4})"},
    {"gather-simplifier", Op::Tuple, Keeps::Bits, R"(x = f32[6,5] parameter(0)
 i = s32[3,2] parameter(1)
 u = f32[3,2,2] parameter(2)
 ROOT r = f32[6,5] scatter(x, i, u), update_window_dims={2}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=2, to_apply=f)"},
    {"convolution-canonicalization", Op::Tuple, Keeps::Reals, R"(x = f32[2,3,8,9] parameter(0)
 k = f32[6,3,3,2] parameter(1)
 ROOT r = f32[2,6,6,4] convolution(x, k), window={size=3x2 stride=1x2}, dim_labels=bf01_oi01->bf01)"},
    {"convolution-canonicalization", Op::Tuple, Keeps::Reals, R"(x = f32[4,8,6] parameter(0)
 k = f32[3,2,8] parameter(1)
 ROOT r = f32[4,6,8] convolution(x, k), window={size=3 pad=1_1 rhs_reversal=1}, dim_labels=bf0_0io->b0f, feature_group_count=4)"},
    {"convolution-canonicalization", Op::Convolution, Keeps::Reals,
     R"(x = bf16[2,3,4,5] parameter(0)
 k = bf16[1,1,3,6] parameter(1)
 ROOT r = bf16[2,6,4,5] convolution(x, k), window={size=1x1}, dim_labels=bf01_01io->bf01)"},
    {"layout-assignment", Op::Bitcast, Keeps::Bits, R"(x = f32[4,6]{0,1} parameter(0)
 y = f32[4,6]{0,1} negate(x)
 b = f32[6,4]{1,0} bitcast(y)
 c = f32[8,3]{1,0} bitcast(b)
 d = s32[3,8]{0,1} bitcast(c)
 ROOT r = s32[3,8]{0,1} negate(d))"},
    {"layout-assignment", Op::Map, Keeps::Bits, R"(x = f32[4,6]{1,0:T(2,128)} parameter(0)
 y = f32[4,6]{1,0:T(2,128)} negate(x)
 b = f32[2,2,6]{2,1,0:T(2,128)} bitcast(y)
 z = f32[4,6]{0,1:T(2,128)S(1)} copy(x)
 w = f32[4,6]{1,0} add(z, y)
 ROOT r = (f32[2,2,6]{2,1,0}, f32[4,6]{0,1}) tuple(b, w))"},
    {"vector-product-expander", Op::Dot, Keeps::Reals, R"(x = f32[4,40,5] parameter(0)
 y = f32[40,5,16,4] parameter(1)
 ROOT r = f32[4,5,16] dot(x, y), lhs_batch_dims={0,2}, lhs_contracting_dims={1}, rhs_batch_dims={3,1}, rhs_contracting_dims={0})"},
    {"vector-product-expander", Op::Dot, Keeps::Reals, R"(x = bf16[40,64,5,1] parameter(0)
 y = bf16[5,40] parameter(1)
 ROOT r = f32[5,64,1] dot(x, y), lhs_batch_dims={2}, lhs_contracting_dims={0}, rhs_batch_dims={0}, rhs_contracting_dims={1})"},
    {"long-product-splitter", Op::Tuple, Keeps::Reals, R"(x = f64[8000,6] parameter(0)
 y = f64[6,8000] parameter(1)
 ROOT r = f64[6,6] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={1})"},
    {"long-product-splitter", Op::Tuple, Keeps::Reals, R"(x = f64[3,40,100,2] parameter(0)
 y = f64[40,100,7,3] parameter(1)
 ROOT r = f64[3,2,7,3] dot(x, y), lhs_contracting_dims={1,2}, rhs_contracting_dims={0,1})"},
    {"long-product-splitter", Op::Tuple, Keeps::Reals, R"(x = f64[80,7,32,6] parameter(0)
 y = f64[80,6,5,32,3] parameter(1)
 ROOT r = f64[7,5,3] dot(x, y), lhs_contracting_dims={2,0,3}, rhs_contracting_dims={3,0,1})"},
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

// Sums of products that are not few or not long, that stand apart, or have no parts of one length.
TEST(Expansions, OtherProductsAreNotSplit) {
  for (const char* entry : {R"(x = f32[6000,6] parameter(0)
 y = f32[6000,6] parameter(1)
 ROOT r = f32[6,6] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0})",
                            R"(x = f32[8000,65] parameter(0)
 y = f32[8000,6] parameter(1)
 ROOT r = f32[65,6] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0})",
                            R"(x = f32[4,65536] parameter(0)
 y = f32[32,65536] parameter(1)
 ROOT r = f32[4,32] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1})",
                            R"(x = f32[6,80,100] parameter(0)
 y = f32[100,80,6] parameter(1)
 ROOT r = f32[6,6] dot(x, y), lhs_contracting_dims={1,2}, rhs_contracting_dims={1,0})",
                            R"(x = f32[8009,6] parameter(0)
 y = f32[8009,6] parameter(1)
 ROOT r = f32[6,6] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0})",
                            R"(x = s32[8000,6] parameter(0)
 y = s32[8000,6] parameter(1)
 ROOT r = s32[6,6] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0})"}) {
    const Module before = parsed(fmt::format("HloModule m\nENTRY e {{ {} }}", entry));
    EXPECT_EQ(difference(before, after_passes(before, "long-product-splitter")), "") << entry;
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
