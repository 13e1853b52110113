// What each step of a module is, asked before there is code: each kind of command, and each reason
// why a step is no kernel.
#include "plan/commands.h"

#include "planned.h"

namespace hilo::test {
namespace {

const KernelChip avx2 = {registers_of_avx2, true, &find_cpu("haswell")};

// "kind name: reason", a line for each command, computations in their order.
std::string commands_of(std::string_view text, const KernelChip& chip = avx2) {
  const auto planned = make_plan(text);
  if (!planned) return to_string(planned.error());
  const auto commands = find_commands(planned->module, planned->plan, {chip, cpu()});
  if (!commands) return to_string(commands.error());
  std::string out;
  for (const auto& order : commands->orders)
    for (const Command& command : order) {
      const std::string reason = describe(planned->module, command);
      out += fmt::format("{} {}{}{}\n", text_of(command.kind),
                         planned->module[command.instruction].name, reason.empty() ? "" : ": ",
                         reason);
    }
  return out;
}

std::string entry(std::string_view body) { return fmt::format("ENTRY e {{\n{}\n}}\n", body); }

constexpr std::string_view sum = R"(
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
)";

TEST(Commands, NameWhatRuns) {
  EXPECT_EQ(commands_of(R"(
body {
  s = (f32[4], s32[]) parameter(0)
  x = f32[4] get-tuple-element(s), index=0
  i = s32[] get-tuple-element(s), index=1
  one = s32[] constant(1)
  y = f32[4] negate(x)
  n = s32[] add(i, one)
  ROOT r = (f32[4], s32[]) tuple(y, n)
}
test {
  s = (f32[4], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=1
  end = s32[] constant(3)
  ROOT c = pred[] compare(i, end), direction=LT
}
ENTRY e {
  x = f32[4] parameter(0)
  zero = s32[] constant(0)
  s = (f32[4], s32[]) tuple(x, zero)
  w = (f32[4], s32[]) while(s), condition=test, body=body
  y = f32[4] get-tuple-element(w), index=0
  ROOT z = f32[4] exponential(y)
})"),
            "kernel y\nkernel n\nkernel c\ncopy copy.1\ncopy copy.2\nloop w\nkernel z\n");
}

// The chip that a plan is for decides, wherever it is made.
TEST(Commands, AreSharedByThreadsAsTheChipHasIt) {
  const auto planned = make_plan(
      "ENTRY e { x = f32[16384] parameter(0)\n y = f32[16384] parameter(1)\n"
      " a = f32[16384] add(x, y)\n ROOT s = f32[8] slice(a), slice={[0:8]} }");
  ASSERT_TRUE(planned);
  const auto threads_on = [&](const Machine& machine) {
    const auto commands = find_commands(planned->module, planned->plan, {avx2, machine});
    std::vector<int64_t> out;
    for (const Command& command : commands->orders[planned->module.entry.value])
      out.push_back(command.cost.threads);
    return out;
  };
  Machine chip = find_cpu("znver3");
  EXPECT_EQ(threads_on(chip), (std::vector<int64_t>{1, 1}));
  chip.cores.thread_seconds /= 10;
  EXPECT_EQ(threads_on(chip), (std::vector<int64_t>{chip.cores.count, 1}));
  EXPECT_EQ(threads_on(cpu()), (std::vector<int64_t>{1, 1}));  // it knows no rates
}

TEST(Commands, HaveTheSlotsOfThePlan) {
  const auto planned = make_plan(
      "ENTRY e { x = f32[8] parameter(0)\n y = f32[8] parameter(1)\n ROOT z = f32[8] add(x, y) }");
  ASSERT_TRUE(planned);
  const auto commands = find_commands(planned->module, planned->plan, {avx2, cpu()});
  ASSERT_TRUE(commands);
  const Command& add = commands->orders[planned->module.entry.value].at(0);
  ASSERT_EQ(add.reads.size(), 2);
  ASSERT_EQ(add.writes.size(), 1);
  for (const ArraySlot& slot : {add.reads[0], add.reads[1], add.writes[0]}) {
    ASSERT_LT(slot.allocation, planned->plan.allocations.size());
    EXPECT_EQ(slot.bytes, 32);
    EXPECT_EQ(slot.offset, 0);
  }
  EXPECT_EQ(planned->plan.allocations[add.reads[1].allocation].parameter, 1);
  EXPECT_TRUE(planned->plan.allocations[add.writes[0].allocation].is_live_out);
}

TEST(Commands, SayWhyStepsAreNoKernels) {
  EXPECT_EQ(commands_of(entry("x = f32[8] parameter(0)\n n = s32[] constant(3)\n"
                              "y = f32[<=8] set-dimension-size(x, n), dimensions={0}\n"
                              "ROOT z = f32[<=8] negate(y)")),
            "copy copy.1\nevaluated y: dynamic sizes\nevaluated z: dynamic sizes\n");
  EXPECT_EQ(commands_of(entry("t = token[] after-all()\n"
                              "ROOT i = (f32[4], token[]) infeed(t)")),
            "evaluated i: what is no array\n");
  EXPECT_EQ(commands_of(entry("x = f32[4] parameter(0)\n"
                              "c = () custom-call(x), custom_call_target=\"f\", "
                              "custom_call_has_side_effect=true\n ROOT y = f32[4] negate(x)")),
            "evaluated c: no result\nkernel y\n");
  EXPECT_EQ(commands_of(entry("x = f32[4,4] parameter(0)\n ROOT c = f32[4,4] cholesky(x)")),
            "routine c: no loops for this op\n");
  EXPECT_EQ(commands_of(entry("x = f32[4] parameter(0)\n r = u32[4] parameter(1)\n"
                              "ROOT s = bf16[4] stochastic-convert(x, r)")),
            "evaluated s: no loops for this op\n");
  EXPECT_EQ(commands_of(entry("x = c64[4] parameter(0)\n ROOT m = c64[4] maximum(x, x)")),
            "evaluated m: of complex numbers\n");
}

TEST(Commands, SayWhyMovesAreNoKernels) {
  EXPECT_EQ(commands_of(entry("x = f32[4,4] parameter(0)\n i = s32[2] parameter(1)\n"
                              "ROOT d = f32[2,2] dynamic-slice(x, i), dynamic_slice_sizes={2,2}")),
            "evaluated d: starts in one array\n");
  EXPECT_EQ(commands_of(entry("x = f32[0,2] parameter(0)\n"
                              "ROOT c = f32[0,2] concatenate(x, x), dimensions={0}")),
            "evaluated c: no elements\n");
  EXPECT_EQ(commands_of(R"(
two {
  a = f32[] parameter(0)
  c = f32[] parameter(1)
  b = f32[] parameter(2)
  d = f32[] parameter(3)
  ROOT r = (f32[], f32[]) tuple(b, d)
}
ENTRY e {
  x = f32[4] parameter(0)
  i = s32[2,1] parameter(1)
  u = f32[2] parameter(2)
  ROOT s = (f32[4], f32[4]) scatter(x, x, i, u, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=two
})"),
            "copy copy.1\ncopy copy.2\nevaluated s: of several arrays or element types\n");
}

// What a fusion computes is asked from its results to its operands.
TEST(Commands, SayWhatInAFusionIsNoKernel) {
  const auto fusion = [](std::string_view computations, std::string_view result) {
    return fmt::format("{}\n{}", computations,
                       entry(fmt::format("x = f32[4] parameter(0)\n"
                                         "ROOT z = {} fusion(x), kind=kLoop, calls=f",
                                         result)));
  };
  EXPECT_EQ(
      commands_of(fusion("f { a = f32[4] parameter(0)\n ROOT c = f32[4] add(a, a) }", "f32[4]")),
      "kernel z\n");
  EXPECT_EQ(
      commands_of(fusion("f { a = f32[4] parameter(0)\n ROOT c = s32[4] bitcast(a) }", "s32[4]")),
      "evaluated z: bitcast of s32[4]: to another element type\n");
  EXPECT_EQ(commands_of(fusion("f { a = f32[4] parameter(0)\n c = f32[4] constant({...})\n"
                               " ROOT d = f32[4] add(a, c) }",
                               "f32[4]")),
            "kernel z\n");  // zeros stand for values that the text leaves out
  EXPECT_EQ(commands_of(fusion("f { a = f32[4] parameter(0)\n"
                               " c = (f32[4], f32[2]) constant(({1, 2, 3, 4}, {5, 6}))\n"
                               " b = f32[4] get-tuple-element(c), index=0\n"
                               " ROOT d = f32[4] add(a, b) }",
                               "f32[4]")),
            "evaluated z: constant of (f32[4], f32[2]): a constant without value\n");
  EXPECT_EQ(commands_of(fusion("g { a = f32[4] parameter(0)\n ROOT n = f32[4] sine(a) }\n"
                               "f { a = f32[4] parameter(0)\n b = f32[4] negate(a)\n"
                               " c = f32[4] fusion(a), kind=kLoop, calls=g\n"
                               " d = f32[4] fusion(b), kind=kLoop, calls=g\n"
                               " ROOT e = f32[4] add(c, d) }",
                               "f32[4]")),
            "evaluated z: fusion of f32[4]: a computation fused twice in one\n");
}

// A chain of so many values in one fusion.
std::string chain(int length, std::string_view op, std::string_view attributes = "") {
  std::string out = "f {\n v0 = f32[4] parameter(0)\n";
  for (int i = 1; i <= length; ++i)
    out += fmt::format("{}v{} = f32[4] {}(v{}){}\n", i == length ? "ROOT " : "", i, op, i - 1,
                       attributes);
  return out + "}\n" +
         entry("x = f32[4] parameter(0)\n ROOT y = f32[4] fusion(x), kind=kLoop, calls=f");
}

TEST(Commands, OfDeepFusionsAreEvaluated) {
  constexpr std::string_view moves = ", dimensions={0}";
  EXPECT_EQ(commands_of(chain(10000, "sine")), "kernel y\n");
  EXPECT_EQ(commands_of(chain(4096, "reverse", moves)), "kernel y\n");
  EXPECT_EQ(commands_of(chain(4097, "reverse", moves)),
            "evaluated y: reverse of f32[4]: nested too deeply\n");
}

std::string dot(std::string_view lhs, std::string_view rhs, std::string_view result,
                std::string_view dims = "lhs_contracting_dims={1}, rhs_contracting_dims={0}") {
  return entry(fmt::format("a = {} parameter(0)\n b = {} parameter(1)\n ROOT d = {} dot(a, b), {}",
                           lhs, rhs, result, dims));
}

TEST(Commands, OfProductsAreKernelsOrRoutines) {
  EXPECT_EQ(commands_of(dot("f32[8,32]", "f32[32,64]", "f32[8,64]")), "kernel d\n");
  EXPECT_EQ(commands_of(dot("f32[512,512]", "f32[512,512]", "f32[512,512]")),
            "routine d: a routine is faster\n");
  // Rows that do not fit a block would go down the lines again, which are waited for.
  EXPECT_EQ(commands_of(dot("f32[4,4096]", "f32[4096,4096]", "f32[4,4096]")), "kernel d\n");
  EXPECT_EQ(commands_of(dot("f32[8,4096]", "f32[4096,4096]", "f32[8,4096]")),
            "routine d: a routine is faster\n");
  EXPECT_EQ(commands_of(dot("s8[64,32]", "s8[32,64]", "s32[64,64]")),
            "routine d: a routine is faster\n");
  EXPECT_EQ(commands_of(dot("f32[0,32]", "f32[32,64]", "f32[0,64]")), "routine d: of nothing\n");
  EXPECT_EQ(commands_of(dot("c64[64,64]", "c64[64,64]", "c64[64,64]")),
            "routine d: of these types\n");
  EXPECT_EQ(commands_of(dot("f32[4,8,16]", "f32[4,16,32]", "f32[8,32]",
                            "lhs_contracting_dims={0,2}, rhs_contracting_dims={0,1}")),
            "routine d: of operands in these orders\n");
  EXPECT_EQ(commands_of("f { a = f32[64,64] parameter(0)\n b = f32[64,64] parameter(1)\n"
                        " d = f32[64,64] dot(a, b), lhs_contracting_dims={1}, "
                        "rhs_contracting_dims={0}\n ROOT t = f32[64,64] tanh(d) }\n" +
                        entry("x = f32[64,64] parameter(0)\n"
                              "ROOT y = f32[64,64] fusion(x, x), kind=kLoop, calls=f")),
            "evaluated y: dot of f32[64,64]: of many products\n");
}

// An object by itself has no library to which it could leave them.
TEST(Commands, OfProductsWithoutRoutinesAreKernels) {
  for (const std::string& text : {dot("f32[4096,256]", "f32[256,3]", "f32[4096,3]"),
                                  dot("f32[512,512]", "f32[512,512]", "f32[512,512]")})
    EXPECT_EQ(commands_of(text, {registers_of_avx512, false}), "kernel d\n");
}

std::string convolution(std::string_view input, std::string_view kernel, std::string_view result,
                        std::string_view attributes) {
  return entry(
      fmt::format("x = {} parameter(0)\n k = {} parameter(1)\n"
                  "ROOT c = {} convolution(x, k), dim_labels=b0f_0io->b0f, {}",
                  input, kernel, result, attributes));
}

TEST(Commands, OfConvolutionsAreKernelsOrRoutines) {
  EXPECT_EQ(
      commands_of(convolution("f32[2,16,8]", "f32[3,8,16]", "f32[2,14,16]", "window={size=3}")),
      "kernel c\n");
  EXPECT_EQ(commands_of(
                convolution("f32[2,64,512]", "f32[3,512,512]", "f32[2,62,512]", "window={size=3}")),
            "routine c: of a large kernel\n");
  EXPECT_EQ(commands_of(
                convolution("f32[2,64,512]", "f32[3,512,512]", "f32[2,62,512]", "window={size=3}"),
                {registers_of_avx2, false}),
            "kernel c\n");
  EXPECT_EQ(
      commands_of(convolution("f32[2,64,2]", "f32[40,2,4]", "f32[2,25,4]", "window={size=40}")),
      "routine c: with few features\n");
  EXPECT_EQ(commands_of(convolution("f32[4,16,8]", "f32[3,8,16]", "f32[2,14,16]",
                                    "window={size=3}, batch_group_count=2")),
            "routine c: with groups of the batch\n");
  EXPECT_EQ(
      commands_of(convolution("s32[2,16,8]", "s32[3,8,16]", "s32[2,14,16]", "window={size=3}")),
      "routine c: of these types\n");
  EXPECT_EQ(
      commands_of(convolution("f32[0,16,8]", "f32[3,8,16]", "f32[0,14,16]", "window={size=3}")),
      "routine c: of nothing\n");
  EXPECT_EQ(commands_of(entry("x = f32[2,8,64] parameter(0)\n k = f32[3,8,16] parameter(1)\n"
                              "ROOT c = f32[2,62,16] convolution(x, k), window={size=3}, "
                              "dim_labels=bf0_0io->b0f")),
            "routine c: with features that do not lie side by side\n");
  EXPECT_EQ(commands_of(convolution("f32[1,4,70000]", "f32[2,1,70000]", "f32[1,3,70000]",
                                    "window={size=2}, feature_group_count=70000")),
            "evaluated c: with so many features\n");
  EXPECT_EQ(commands_of("f { a = f32[2,16,8] parameter(0)\n k = f32[3,8,16] parameter(1)\n"
                        " t = f32[2,16,8] tanh(a)\n"
                        " ROOT c = f32[2,14,16] convolution(t, k), window={size=3}, "
                        "dim_labels=b0f_0io->b0f }\n" +
                        entry("x = f32[2,16,8] parameter(0)\n k = f32[3,8,16] parameter(1)\n"
                              "ROOT y = f32[2,14,16] fusion(x, k), kind=kLoop, calls=f")),
            "evaluated y: convolution of f32[2,14,16]: of what is in no array\n");
}

TEST(Commands, OfWindowsAreKernelsOrEvaluated) {
  const auto window = [](std::string_view x, std::string_view r, std::string_view w) {
    return std::string(sum) +
           entry(fmt::format("x = {} parameter(0)\n z = f32[] constant(0)\n"
                             "ROOT y = {} reduce-window(x, z), window={{{}}}, to_apply=sum",
                             x, r, w));
  };
  EXPECT_EQ(commands_of(window("f32[64]", "f32[62]", "size=3")), "kernel y\n");
  EXPECT_EQ(commands_of(window("f32[64]", "f32[125]", "size=3 lhs_dilate=2")),
            "evaluated y: of a dilated array\n");
  EXPECT_EQ(commands_of(window("f32[1000]", "f32[600]", "size=401")),
            "evaluated y: of a large window\n");
  EXPECT_EQ(commands_of(window("f32[0]", "f32[0]", "size=3 pad=1_1")).substr(0, 11), "evaluated y");
}

TEST(Commands, RefuseWhatCannotBeDoneAlone) {
  EXPECT_NE(commands_of("a { x = f32[4] parameter(0)\n ROOT y = f32[4] negate(x) }\n" +
                        entry("x = f32[4] parameter(0)\n"
                              "s = ((f32[4]), f32[4], s32[]) async-start(x), calls=a\n"
                              "ROOT d = f32[4] async-done(s)"))
                .find("an asynchronous form"),
            std::string::npos);
}

TEST(Commands, OfCollectivesAreTheirOwn) {
  EXPECT_EQ(
      commands_of(std::string(sum) + entry("x = f32[4] parameter(0)\n"
                                           "ROOT y = f32[4] all-reduce(x), replica_groups={{0,1}}, "
                                           "to_apply=sum")),
      "collective y: no loops for this op\n");
}

}  // namespace
}  // namespace hilo::test
