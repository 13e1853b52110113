// Which products read narrow floats as they are, and that their values are those of wide ones.
#include <algorithm>

#include "both.h"

namespace hilo::test {
namespace {

struct Given {
  std::string text;
  int64_t read;  // narrow operands
};

// Of [m,k] and [k,n], which are converted to f32 where they are not.
std::string product(std::string_view lhs, std::string_view rhs, const Dims& sizes) {
  const auto operand = [](std::string_view name, std::string_view type, int64_t number,
                          const std::string& dims) {
    const std::string narrow =
        fmt::format("  p{0} = {1}[{2}] parameter({0})\n", number, type, dims);
    return narrow + fmt::format("  {} = f32[{}] {}(p{})\n", name, dims,
                                type == "f32" ? "copy" : "convert", number);
  };
  const int64_t m = sizes[0], k = sizes[1], n = sizes[2];
  return fmt::format(
      "HloModule m\nENTRY e {{\n{}{}  ROOT d = f32[{},{}] dot(x, y), "
      "lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n}}\n",
      operand("x", lhs, 0, fmt::format("{},{}", m, k)),
      operand("y", rhs, 1, fmt::format("{},{}", k, n)), m, n);
}

constexpr std::string_view convolution = R"(HloModule m
ENTRY e {
  a = bf16[2,12,12,64] parameter(0)
  b = bf16[3,3,64,64] parameter(1)
  x = f32[2,12,12,64] convert(a)
  y = f32[3,3,64,64] convert(b)
  ROOT d = f32[2,12,12,64] convolution(x, y), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
}
)";

int64_t count_narrow(std::string_view text) {
  Result<Module> module = parse(text);
  EXPECT_TRUE(module) << text;
  EXPECT_TRUE(cpu_target().prepare(*module, cpu_target().machine("native"), {}));
  int64_t count = 0;
  for (const Instruction& instruction : module->instructions)
    if (!instruction.removed && (instruction.op == Op::Dot || instruction.op == Op::Convolution))
      for (InstructionId operand : module->operands(instruction))
        count += bits_of(module->shape(operand).type) < 32;
  return count;
}

TEST(FoldOperandUpcasts, WhereTheyAreLargeOrMultipliedInPairs) {
  const int64_t paired = processor().has_fast_bf16() ? 2 : 0;
  const Given all[] = {{product("f32", "bf16", {4, 300, 1000}), 1},
                       {product("f32", "f16", {64, 1024, 1024}), 1},
                       {product("bf16", "f32", {2000, 64, 8}), 1},
                       {product("f32", "bf16", {2000, 64, 8}), 0},
                       {product("f16", "f16", {64, 64, 64}), 0},
                       {product("f32", "f32", {128, 128, 128}), 0},
                       {product("bf16", "bf16", {128, 128, 128}), paired},
                       {std::string(convolution), paired}};
  for (const Given& given : all) {
    EXPECT_EQ(count_narrow(given.text), given.read) << given.text;
    const auto both = run_both(given.text, 1, 3);
    ASSERT_TRUE(both) << to_string(both.error()) << given.text;
    EXPECT_LE(largest_difference(both->compiled, both->evaluated), 1e-5) << given.text;
  }
}

// An algorithm says of which types the products are.
TEST(FoldOperandUpcasts, NotOfAnAlgorithm) {
  std::string text = product("f32", "bf16", {4, 300, 1000});
  const std::string_view end = "rhs_contracting_dims={0}";
  text.insert(text.find(end) + end.size(), ", algorithm=dot_f32_f32_f32");
  EXPECT_EQ(count_narrow(text), 0);
}

}  // namespace
}  // namespace hilo::test
