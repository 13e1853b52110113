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

// Each target with whatever it may be given: a value or an error, and never more than that.
TEST(Unsound, EveryCustomCallOnAnything) {
  const auto many = [](const std::string& name, int count) {
    std::string out = name;
    for (int i = 1; i < count; ++i) out += ", " + name;
    return out;
  };
  const std::string numbers =
      R"("lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["-1"],"lhs_batch_dimensions":["0","2"],"rhs_batch_dimensions":["7"])";
  const std::string configs[] = {
      "",
      R"({"uplo":76,"mode":"V","transposed":true,"compute_uv":"x","lower":true,"transpose_a":"ADJOINT"})",
      R"({"gemm_backend_config":{"alpha_imag":2,"beta":1,"epilogue":"BIAS_GELU_AUX","damax_output":true,"dot_dimension_numbers":{)" +
          numbers + R"(}},"block_scaled_dot_backend_config":{"block_size":-5}})",
      R"({"grouped_gemm_backend_config":{"gemm_backend_config":{"beta":1},"ragged_dot_dimension_numbers":{"dot_dimension_numbers":{)" +
          numbers + R"(},"lhs_ragged_dimensions":["9"],"rhs_group_dimensions":[]}}})",
      R"({"cudnn_fmha_backend_config":{"fmha_scale":"nan","mask_type":"PADDING_CAUSAL","sliding_window_length":-9,"bmm1_dot_dimension_numbers":{)" +
          numbers + R"(}},"cudnn_norm_backend_config":{"kind":"LAYER_BWD","epsilon":-1}})",
      R"({"cudnn_conv_backend_config":{"serialized_graph":"1:[f32]conv();2:[f32]add(2,2);3:[f32]amax(9);"}})",
      R"({"onednn_matmul_config":{"transpose_a":true,"fusions":{"ops":["BIAS","GELU_TANH","what"]}},"onednn_softmax_config":{"softmax_axis":-9},"onednn_layer_norm_config":{"rescale":"SHIFT"},"onednn_conv_config":{"input":{"data":{"batch_dim":"99999999999"}}}})",
      R"({"input_batch":2,"attn_heads":2,"num_gqa_groups":3,"q_max_seqlen":2,"kv_max_seqlen":2,"qk_head_dim":1,"qkv_layout":14,"softmax_type":2,"bias_type":3,"mask_type":5})"};
  const std::string operands[] = {"",
                                  "t",
                                  "p, p, p",
                                  "s, s",
                                  "x",
                                  "x, x",
                                  "x, i",
                                  "x, x, x",
                                  "x, x, i, i",
                                  "w, w, w, x",
                                  "w, w, w, s, w, w, w",
                                  many("x", 6),
                                  many("i", 9),
                                  many("w", 12),
                                  many("s", 14),
                                  many("t", 17),
                                  "x, x, x, x, s, i, i, i, i, i, i, i, i, i, i, i, i"};
  const std::string results[] = {"f32[4,4]",
                                 "s32[7,3]",
                                 "token[]",
                                 "()",
                                 "(f32[4,4], f32[4], s32[])",
                                 "(f32[4,4], f32[4], f32[4,4], f32[4,4], s32[])",
                                 "(token[], (f32[2], f32[2]), u8[0])"};
  EvalOptions options;
  options.threads = 1;
  size_t runs = 0, errors = 0;
  for (const CustomCallInfo& info : known_custom_calls())
    for (const std::string& given : operands)
      for (const std::string& config : configs) {
        const bool lapack = info.family == "lapack";  // alike for four types, with letters only
        if (lapack && (!info.target.starts_with("lapack_s") || &config > &configs[1])) continue;
        const std::string& result = results[runs++ % std::size(results)];
        const auto out = run_on_zeros(
            "HloModule m\nENTRY e {\n w = f32[2,2,2,1] parameter(1)\n i = s32[3] parameter(2)\n" +
                call(given, result, std::string(info.target),
                     config.empty() ? "" : ", backend_config=" + config) +
                "\n}\n",
            options);
        errors += !out.has_value();
      }
  EXPECT_GT(errors, 5000u);
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

// What verify refuses and who runs without it asks for: results of another size than what is moved.
TEST(Unsound, ResultsOfAnotherSize) {
  for (const char* root :
       {"f32[5] reshape(x)", "s8[4] copy(x)", "f64[4] bitcast-convert(x)",
        "s32[5] bitcast-convert(x)", "f32[5] copy(x)",
        "f32[<=5] set-dimension-size(x, i), dimensions={0}", "u64[] partition-id()",
        "f32[5] all-reduce(x), replica_groups={{0}}, to_apply=add"}) {
    const std::string text = std::string("HloModule m\n") + add_f32 +
                             "ENTRY e {\n x = f32[4] constant({1, 2, 3, 4})\n i = s32[] "
                             "constant(2)\n ROOT r = " +
                             root + "\n}\n";
    const Result<Module> module = parse(text);
    ASSERT_TRUE(module.has_value()) << to_string(module.error()) << text;
    EXPECT_FALSE(verify(*module).empty()) << text;
    const auto out = evaluate(*module, Inputs{{{}}});
    ASSERT_FALSE(out.has_value()) << text;
    EXPECT_EQ(out.error().place.instruction, "r") << to_string(out.error());
  }
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
