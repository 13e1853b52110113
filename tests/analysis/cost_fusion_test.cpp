// What crosses the border of a fusion, how often loops and branches run, and custom calls.
#include "cost.h"

namespace hilo {
namespace {

using test::count;
using test::Counted;

// A fusion of these of x = f32[4,8], i = s32[], u = f32[2,8] with this body.
Counted fusion(const std::string& parameters, const std::string& result, const std::string& body) {
  std::string inner, outer, operands;
  for (size_t n = 0; n < parameters.size(); ++n) {
    const char name = parameters[n];
    const char* shape = name == 'x' ? "f32[4,8]{1,0}" : name == 'i' ? "s32[]" : "f32[2,8]{1,0}";
    inner += fmt::format(" {} = {} parameter({})\n", name, shape, n);
    outer += fmt::format(" o{} = {} parameter({})\n", n, shape, n);
    operands += fmt::format("{}o{}", n == 0 ? "" : ", ", n);
  }
  return count(
      fmt::format("HloModule m\nf {{\n{}{}\n}}\nENTRY e {{\n{} ROOT r = {} fusion({}), "
                  "kind=kLoop, calls=f\n}}\n",
                  inner, body, outer, result, operands));
}

TEST(FusionCost, TheSumInsideAndTheBorder) {
  const Counted c = fusion("x", "f32[4,8]{1,0}",
                           " a = f32[4,8]{1,0} exponential(x)\n"
                           " ROOT b = f32[4,8]{1,0} add(a, x)");
  EXPECT_EQ(c.of("r").flops, 32);
  EXPECT_EQ(c.of("r").transcendentals, 32);
  EXPECT_EQ(c.of("r").bytes_read, 128);  // once, for both
  EXPECT_EQ(c.of("r").bytes_written, 128);
  EXPECT_EQ(c.of("a").flops + c.of("a").transcendentals + c.of("a").bytes_read, 0);
  EXPECT_EQ(c.of("a").runs, 0);
}

TEST(FusionCost, SlicesReadTheirPartThroughElementwiseOps) {
  const Counted c =
      fusion("xi", "f32[2,8]{1,0}",
             " a = f32[4,8]{1,0} exponential(x)\n"
             " ROOT s = f32[2,8]{1,0} dynamic-slice(a, i, i), dynamic_slice_sizes={2,8}");
  EXPECT_EQ(c.of("r").bytes_read, 64 + 4);
  EXPECT_EQ(c.of("r").bytes_written, 64);
}

TEST(FusionCost, TwoSlicesNeverReadMoreThanTheWhole) {
  const Counted c = fusion(
      "x", "f32[3,8]{1,0}",
      " s = f32[3,8]{1,0} slice(x), slice={[0:3], [0:8]}\n"
      " t = f32[3,8]{1,0} slice(x), slice={[1:4], [0:8]}\n ROOT b = f32[3,8]{1,0} add(s, t)");
  EXPECT_EQ(c.of("r").bytes_read, 128);
}

TEST(FusionCost, UpdatesInPlaceTouchTheirPart) {
  const Counted root = fusion("xiu", "f32[32]{0}",
                              " d = f32[4,8]{1,0} dynamic-update-slice(x, u, i, i)\n"
                              " ROOT b = f32[32]{0} bitcast(d)");
  EXPECT_EQ(root.of("r").bytes_read, 64 + 4);
  EXPECT_EQ(root.of("r").bytes_written, 64);
  const Counted inner = fusion("xiu", "f32[4,8]{1,0}",
                               " d = f32[4,8]{1,0} dynamic-update-slice(x, u, i, i)\n"
                               " ROOT n = f32[4,8]{1,0} negate(d)");
  EXPECT_EQ(inner.of("r").bytes_read, 64 + 64 + 4);  // the rest of x, and u
  EXPECT_EQ(inner.of("r").bytes_written, 128);
}

TEST(FusionCost, ManyResultsAndConstants) {
  const Counted c = fusion("x", "(f32[4,8]{1,0}, f32[2]{0})",
                           " k = f32[2]{0} constant({1, 2})\n n = f32[2]{0} negate(k)\n"
                           " ROOT t = (f32[4,8]{1,0}, f32[2]{0}) tuple(x, n)");
  EXPECT_EQ(c.of("r").bytes_read, 128 + 8);
  EXPECT_EQ(c.of("r").bytes_written, 128 + 8);
}

TEST(FusionCost, FusionsInFusions) {
  const Counted c = count(
      "HloModule m\ninner {\n x = f32[4,8]{1,0} parameter(0)\n"
      " ROOT s = f32[1,8]{1,0} slice(x), slice={[0:1], [0:8]}\n}\n"
      "f {\n y = f32[4,8]{1,0} parameter(0)\n"
      " g = f32[1,8]{1,0} fusion(y), kind=kLoop, calls=inner\n"
      " ROOT t = f32[1,8]{1,0} tanh(g)\n}\n"
      "ENTRY e {\n p = f32[4,8]{1,0} parameter(0)\n"
      " ROOT r = f32[1,8]{1,0} fusion(p), kind=kLoop, calls=f\n}\n");
  EXPECT_EQ(c.of("r").transcendentals, 8);
  EXPECT_EQ(c.of("r").bytes_read, 32);
  EXPECT_EQ(c.of("r").bytes_written, 32);
}

std::string loop(const std::string& limit) {
  return "HloModule m\nbody {\n s = (s32[], f32[4]) parameter(0)\n i = s32[] "
         "get-tuple-element(s), index=0\n x = f32[4] get-tuple-element(s), index=1\n one = s32[] "
         "constant(1)\n j = s32[] add(i, one)\n y = f32[4] tanh(x)\n ROOT t = (s32[], f32[4]) "
         "tuple(j, y)\n}\ncondition {\n s = (s32[], f32[4]) parameter(0)\n k = s32[] "
         "get-tuple-element(s), index=0\n n = s32[] " +
         limit +
         "\n ROOT c = pred[] compare(k, n), direction=LT\n}\nENTRY e {\n z = s32[] constant(0)\n "
         "w0 = f32[4] parameter(0)\n s0 = (s32[], f32[4]) tuple(z, w0)\n ROOT w = (s32[], "
         "f32[4]) while(s0), condition=condition, body=body\n}\n";
}

TEST(LoopCost, BodiesCarryTheTripCount) {
  const Counted c = count(loop("constant(10)"));
  EXPECT_EQ(c.of("y").transcendentals, 4);
  EXPECT_EQ(c.of("y").runs, 10);
  EXPECT_TRUE(c.of("y").runs_known);
  EXPECT_EQ(c.of("c").runs, 11);
  EXPECT_EQ(c.of("w").transcendentals + c.of("w").bytes_read + c.of("w").bytes_written, 0);
  EXPECT_EQ(c.of("s0").runs, 1);
}

TEST(LoopCost, UnknownTripCountsAreOneAndSaySo) {
  const Counted c = count(loop("custom-call(), custom_call_target=\"limit\""));
  EXPECT_EQ(c.of("y").runs, 1);
  EXPECT_FALSE(c.of("y").runs_known);
  EXPECT_TRUE(c.of("s0").runs_known);
}

TEST(BranchCost, TheDearestRuns) {
  const Counted c = count(
      "HloModule m\nf {\n x = f32[4] parameter(0)\n ROOT a = f32[4] copy(x)\n}\n"
      "g {\n y = f32[4] parameter(0)\n ROOT b = f32[4] negate(y)\n}\n"
      "ENTRY e {\n p = pred[] parameter(0)\n q = f32[4] parameter(1)\n"
      " ROOT r = f32[4] conditional(p, q, q), true_computation=f, false_computation=g\n}\n");
  EXPECT_EQ(c.of("a").runs, 0);
  EXPECT_EQ(c.of("b").runs, 1);
  EXPECT_FALSE(c.of("b").runs_known);
  EXPECT_EQ(c.of("b").flops, 4);
}

Cost custom_call(const std::string& result, const std::string& target, const std::string& rest) {
  return count(
             "HloModule m\nENTRY e {\n a = f32[2,16,32]{2,1,0} parameter(0)\n"
             " b = f32[2,32,8]{2,1,0} parameter(1)\n ROOT r = " +
             result + " custom-call(a, b), custom_call_target=\"" + target + "\"" + rest + "\n}\n")
      .of("r");
}

TEST(CustomCallCost, UnknownOnesSaySo) {
  const Cost cost = custom_call("f32[5]{0}", "nobody_knows", "");
  EXPECT_FALSE(cost.flops_known);
  EXPECT_EQ(cost.flops, 0);
  EXPECT_EQ(cost.bytes_read, 4096 + 2048);
  EXPECT_EQ(cost.bytes_written, 20);
}

TEST(CustomCallCost, Gemm) {
  const std::string config =
      ", backend_config={\"gemm_backend_config\":{\"dot_dimension_numbers\":{"
      "\"lhs_contracting_dimensions\":[\"2\"],\"rhs_contracting_dimensions\":[\"1\"],"
      "\"lhs_batch_dimensions\":[\"0\"],\"rhs_batch_dimensions\":[\"0\"]},\"epilogue\":\"RELU\"}}";
  const Cost cost = custom_call("(f32[2,16,8]{2,1,0}, s8[4096]{0})", "__cublas$lt$matmul", config);
  EXPECT_TRUE(cost.flops_known);
  EXPECT_EQ(cost.flops, 2 * 256 * 32 + 256);
  EXPECT_EQ(cost.bytes_read, 4096 + 2048);
  EXPECT_EQ(cost.bytes_written, 1024);  // the workspace is not a result
  EXPECT_FALSE(custom_call("f32[2,16,8]{2,1,0}", "__cublas$gemm", "").flops_known);
}

TEST(CustomCallCost, ConvolutionsAndTheirGradientsAgree) {
  const auto flops = [](const std::string& operands, const std::string& result,
                        const std::string& target) {
    return count(
               "HloModule m\nENTRY e {\n x = f32[2,8,8,3]{3,2,1,0} parameter(0)\n"
               " k = f32[3,3,3,4]{3,2,1,0} parameter(1)\n"
               " y = f32[2,8,8,4]{3,2,1,0} parameter(2)\n ROOT r = (" +
               result + ", u8[0]{0}) custom-call(" + operands +
               "), window={size=3x3 pad=1_1x1_1}, "
               "dim_labels=b01f_01io->b01f, custom_call_target=\"" +
               target + "\"\n}\n")
        .of("r")
        .flops;
  };
  const double want = 2 * 3 * 4 * 2 * 22 * 22;
  EXPECT_EQ(flops("x, k", "f32[2,8,8,4]{3,2,1,0}", "__cudnn$convForward"), want);
  EXPECT_EQ(flops("y, k", "f32[2,8,8,3]{3,2,1,0}", "__cudnn$convBackwardInput"), want);
  EXPECT_EQ(flops("x, y", "f32[3,3,3,4]{3,2,1,0}", "__cudnn$convBackwardFilter"), want);
}

TEST(CustomCallCost, AnnotationsAreFree) {
  const Counted c = count(
      "HloModule m\nENTRY e {\n a = f32[4]{0} parameter(0)\n ROOT r = f32[4]{0} custom-call(a), "
      "custom_call_target=\"Sharding\", sharding={replicated}\n}\n");
  EXPECT_EQ(c.of("r").bytes_read + c.of("r").bytes_written, 0);
}

TEST(CustomCallCost, Lapack) {
  const Counted c = count(
      "HloModule m\nENTRY e {\n a = f64[2,6,6]{2,1,0} parameter(0)\n ROOT r = "
      "(f64[2,6,6]{2,1,0}, s32[2,6]{1,0}, s32[2]{0}) custom-call(a), "
      "custom_call_target=\"lapack_dgetrf_ffi\"\n}\n");
  EXPECT_EQ(c.of("r").flops, 2 * (2.0 / 3) * 6 * 6 * 6);
}

}  // namespace
}  // namespace hilo
