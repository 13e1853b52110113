// Modules that keep every promise of verify.h and still ask for what cannot be: each ends in an
// error, with the instruction's name.
#include "devices.h"
#include "verify/verify.h"

namespace hilo::test {
namespace {

Result<Outputs> run_on_zeros(const std::string& text, const EvalOptions& options = {}) {
  HILO_TRY(const Module module, parse(text));
  EXPECT_TRUE(verify(module).empty()) << text;
  Inputs inputs{{{}}};
  for (InstructionId parameter : module[module.entry].parameters)
    inputs.devices[0].push_back(Literal::zeros(module.shape(parameter)));
  return evaluate(module, std::move(inputs), options);
}

void expect_error(ErrorKind kind, const std::string& body, const EvalOptions& options = {}) {
  const auto out = run_on_zeros("HloModule m\nENTRY e {\n" + body + "\n}\n", options);
  ASSERT_FALSE(out.has_value()) << body;
  EXPECT_EQ(out.error().kind, kind) << to_string(out.error());
  EXPECT_EQ(out.error().place.instruction, "r") << to_string(out.error());
}

std::string call(const std::string& operands, const std::string& result, const std::string& target,
                 const std::string& more = "") {
  return " x = f32[4,4] parameter(0)\n t = token[] after-all()\n p = (f32[4,4], f32[4,4]) "
         "tuple(x, x)\n s = f32[] constant(1)\n ROOT r = " +
         result + " custom-call(" + operands + "), custom_call_target=\"" + target + "\"" + more;
}

// A scalar is no matrix, a token or tuple no array, and nothing is no operand.
TEST(Unsound, OperandsOfCustomCalls) {
  for (const char* target :
       {"Cholesky", "__cusolver$cholesky", "InvertDiagBlocksLowerTriangular", "TopK",
        "__cub$DeviceRadixSort", "__cublas$gemm", "__cublas$lt$matmul$f8", "__cudnn$convForward",
        "__cudnn$convBackwardInput", "__cudnn$convBackwardFilter", "lapack_sgetrf_ffi",
        "lapack_sgesdd_ffi", "lapack_sgtsv_ffi", "lapack_strsm_ffi", "te_fused_attn_forward_ffi",
        "te_fused_attn_backward_ffi"})
    for (const char* operands : {"", "t", "p, p, p", "s", "s, s"})
      for (const char* result : {"f32[7,3]", "(f32[7,3], s32[3], f32[])", "()"})
        expect_error(ErrorKind::Shape, call(operands, result, target));
}

TEST(Unsound, ResultsOfLapack) {
  for (const char* result : {"(f32[16], s32[4], s32[])", "(f32[1,1,16], s32[4], s32[])",
                             "(f32[4,4], s64[4], s32[])", "(f32[4,4], s32[4], f32[])"})
    expect_error(ErrorKind::Shape, call("x", result, "lapack_sgetrf_ffi"));
}

TEST(Unsound, NumbersInBackendConfig) {
  expect_error(ErrorKind::Shape,
               call("x, x", "f32[4,4]", "__cublas$gemm",
                    ", backend_config={\"gemm_backend_config\":{\"dot_dimension_numbers\":{"
                    "\"lhs_contracting_dimensions\":[\"1\"],\"rhs_contracting_dimensions\":"
                    "[\"1e300\"]}}}"));
  for (const char* size : {"1e18", "4294967296", "-3", "nan"})
    expect_error(
        ErrorKind::Shape,
        call("x, x, x, s, s, s, s", "(f32[4,4], f32[4], u8[0])", "te_fused_attn_forward_ffi",
             ", backend_config={\"input_batch\":\"" + std::string(size) + "\",\"attn_heads\":\"" +
                 size + "\",\"q_max_seqlen\":\"" + size +
                 "\",\"kv_max_seqlen\":\"1\",\"qk_head_dim\":\"1\"}"));
}

TEST(Unsound, GroupsAndWindowsOfConvolutions) {
  const auto convolution = [](const char* target, const char* more) {
    return " x = f32[1,8,8,4] parameter(0)\n k = f32[3,3,4,4] parameter(1)\n ROOT r = "
           "(f32[1,10,10,4], u8[0]) custom-call(x, k), custom_call_target=\"" +
           std::string(target) + "\", dim_labels=b01f_01io->b01f, " + more;
  };
  expect_error(ErrorKind::Shape, convolution("__cudnn$convBackwardInput",
                                             "window={size=3x3}, feature_group_count=0"));
  expect_error(ErrorKind::Shape, convolution("__cudnn$convBackwardInput",
                                             "window={size=3x3}, feature_group_count=3"));
  expect_error(ErrorKind::Limit, convolution("__cudnn$convBackwardFilter",
                                             "window={size=3x3 stride=4611686018427387904x1}"));
}

// The size of the result, and of what an op needs meanwhile, is looked at before.
TEST(Unsound, MoreMemoryThanThereIs) {
  EvalOptions options;
  options.memory_limit = 1 << 20;
  expect_error(ErrorKind::Memory,
               " ROOT r = (f32[1000000000000], s32[]) custom-call(), "
               "custom_call_target=\"AllocateBuffer\"",
               options);
  expect_error(ErrorKind::Memory,
               " s = u64[2] constant({1, 2})\n ROOT r = (u64[2], "
               "u32[1000000000000]) rng-bit-generator(s), algorithm=rng_philox",
               options);
  expect_error(ErrorKind::Memory,
               " x = f32[1,1,10] parameter(0)\n k = f32[1,1,1] parameter(1)\n ROOT r = "
               "f32[1,1,10] convolution(x, k), window={size=1 stride=1000000000000 "
               "pad=0_9000000000000}, dim_labels=bf0_oi0->bf0",
               options);
}

TEST(Unsound, SizesThatNobodyKnows) {
  expect_error(ErrorKind::Unsupported,
               " x = f32[4] constant({1, 2, 3, 4})\n ROOT r = f32[?] "
               "negate(x)");
}

// A window of 10^15 elements holds ten that are there.
TEST(Unsound, WindowsAsWideAsNumbersGo) {
  const auto out = run_on_zeros(
      "HloModule m\nf {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n c = f32[] "
      "subtract(a, b)\n one = f32[] constant(1)\n ROOT r = f32[] subtract(c, one)\n}\nENTRY e {\n "
      "x = f32[10] parameter(0)\n z = f32[] constant(0)\n ROOT r = f32[10] reduce-window(x, z), "
      "window={size=1000000000000000 pad=499999999999999_500000000000000}, to_apply=f\n}\n");
  ASSERT_TRUE(out.has_value()) << to_string(out.error());
  for (float value : out->devices[0].data<float>()) EXPECT_EQ(value, -10.0f);
}

// Group sizes whose sum no integer holds: the first group takes all rows.
TEST(Unsound, GroupSizesBeyondTheRows) {
  const auto out = run_on_zeros(
      "HloModule m\nENTRY e {\n x = f32[4,4] parameter(0)\n y = f32[2,4,4] parameter(1)\n g = "
      "s64[2] constant({9223372036854775807, 9223372036854775807})\n ROOT r = f32[4,4] "
      "ragged-dot(x, y, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
      "lhs_ragged_dims={0}, rhs_group_dims={0}\n}\n");
  EXPECT_TRUE(out.has_value());
}

}  // namespace
}  // namespace hilo::test
