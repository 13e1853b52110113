// Programs that unroll their loops are chains of any length: these are kernels, of the same values.
#include "both.h"

namespace hilo {
namespace {

constexpr int long_chain = 2500;

// x0, k and k + 1 of the same shape, then what each step makes of the value before; and what of the
// last one.
std::string chain(std::string_view shape, int steps,
                  const std::function<std::string(std::string_view before, int step)>& step) {
  std::string text = fmt::format("x0 = {0} parameter(0)\n k = {0} parameter(1)\n", shape);
  for (int i = 0; i < steps; ++i)
    text += fmt::format(" x{} = {} {}\n", i + 1, shape, step(fmt::format("x{}", i), i));
  return text + fmt::format(" ROOT r = {} negate(x{}) }}\n", shape, steps);
}

std::string arithmetic(std::string_view before, int step) {
  constexpr std::string_view ops[] = {"multiply", "subtract", "maximum"};
  const std::string_view op = ops[static_cast<size_t>(step) % std::size(ops)];
  return step % 2 == 0 ? fmt::format("{}({}, k)", op, before)
                       : fmt::format("{}(k, {})", op, before);
}

TEST(LongChains, ElementwiseOpsAreKernels) {
  for (const std::string_view shape : {"f32[]", "f32[7]", "s32[3,5]"})
    test::expect_native("HloModule m\nENTRY e { " + chain(shape, long_chain, arithmetic));
}

// A fusion that the text gives, as another compiler's may be, may be longer than ours.
TEST(LongChains, GivenFusionsAreKernels) {
  test::expect_native("HloModule m\nf { " + chain("f32[7]", long_chain, arithmetic) +
                      "ENTRY e { a = f32[7] parameter(0)\n b = f32[7] parameter(1)\n"
                      " ROOT r = f32[7] fusion(a, b), kind=kLoop, calls=f }");
}

TEST(LongChains, ReducersAreKernels) {
  test::expect_native("HloModule m\nf { " + chain("f32[]", long_chain, arithmetic) +
                      "ENTRY e { a = f32[5,3] parameter(0)\n b = f32[] parameter(1)\n"
                      " ROOT r = f32[5] reduce(a, b), dimensions={1}, to_apply=f }");
}

// Where each step moves what the one before it made, too.
TEST(LongChains, MovedElementsAreKernels) {
  const auto step = [](std::string_view before, int step) {
    return step % 2 == 0 ? fmt::format("reverse({}), dimensions={{0}}", before)
                         : arithmetic(before, step);
  };
  test::expect_native("HloModule m\nENTRY e { " + chain("f32[7]", long_chain, step));
}

}  // namespace
}  // namespace hilo
