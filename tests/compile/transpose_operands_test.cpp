// Operands of small products whose dimensions of one kind stand apart, with the same values.
#include <algorithm>

#include "both.h"

namespace hilo::test {
namespace {

struct Product {
  std::string_view result, lhs, rhs, attributes;
  int64_t turned;  // operands

  std::string text() const {
    return fmt::format(
        "HloModule m\nENTRY e {{\n  x = {1} parameter(0)\n  y = {2} parameter(1)\n"
        "  ROOT d = {0} dot(x, y), {3}\n}}\n",
        result, lhs, rhs, attributes);
  }
};

constexpr Product products[] = {
    // Legs of tensors: both are turned, one, and none where another order of the pairs is a walk.
    {"f64[2,10,10,5,2]", "f64[2,2,10,10,5]", "f64[5,5,2,2]",
     "lhs_contracting_dims={0,4}, rhs_contracting_dims={3,0}", 2},
    {"f32[6,7,9]", "f32[6,5,7,4]", "f32[5,4,9]",
     "lhs_contracting_dims={1,3}, rhs_contracting_dims={0,1}", 1},
    {"f32[9,12]", "f32[9,5,4]", "f32[4,5,12]",
     "lhs_contracting_dims={1,2}, rhs_contracting_dims={1,0}", 1},
    {"f32[12,30]", "f32[6,4,12]", "f32[6,4,30]",
     "lhs_contracting_dims={1,0}, rhs_contracting_dims={1,0}", 0},
    // Batches around rows: heads of attention.
    {"f32[3,4,12,14]", "f32[3,12,4,8]", "f32[3,14,4,8]",
     "lhs_batch_dims={0,2}, lhs_contracting_dims={3}, rhs_batch_dims={0,2}, "
     "rhs_contracting_dims={3}",
     0},
    {"f32[3,4,32,36]", "f32[3,32,4,8]", "f32[3,36,4,8]",
     "lhs_batch_dims={0,2}, lhs_contracting_dims={3}, rhs_batch_dims={0,2}, "
     "rhs_contracting_dims={3}",
     2},
    // One row of each batch, and results of a large product: they would take longer.
    {"f32[3,6,1,20]", "f32[3,1,6,16]", "f32[3,20,6,16]",
     "lhs_batch_dims={0,2}, lhs_contracting_dims={3}, rhs_batch_dims={0,2}, "
     "rhs_contracting_dims={3}",
     0},
    {"f32[64,8,256]", "f32[64,32,8,16]", "f32[32,16,256]",
     "lhs_contracting_dims={1,3}, rhs_contracting_dims={0,1}", 0},
    // Dimensions of one element, and none.
    {"f32[6,1,9]", "f32[6,5,1,4]", "f32[5,4,9]",
     "lhs_contracting_dims={1,3}, rhs_contracting_dims={0,1}", 0},
    {"f32[6,0]", "f32[3,6,4]", "f32[3,4,0]",
     "lhs_contracting_dims={0,2}, rhs_contracting_dims={0,1}", 0}};

int64_t count_transposes(const std::string& text) {
  Result<Module> module = parse(text);
  EXPECT_TRUE(module) << text;
  EXPECT_TRUE(cpu_target().prepare(*module, cpu_target().machine("native"), {}));
  return std::ranges::count_if(module->instructions, [](const Instruction& instruction) {
    return !instruction.removed && instruction.op == Op::Transpose;
  });
}

TEST(TransposeOperands, AsEvaluated) {
  for (const Product& product : products) {
    const std::string text = product.text();
    const auto both = run_both(text, 1, 3);
    ASSERT_TRUE(both) << to_string(both.error());
    EXPECT_LE(largest_difference(both->compiled, both->evaluated), 1e-6) << text;
    EXPECT_EQ(count_transposes(text), product.turned) << text;
  }
}

// No library is called for what is one walk now.
TEST(TransposeOperands, AreLoops) {
  for (const Product& product : products) {
    if (product.turned == 0) continue;
    const auto executable = compile(*parse(product.text()), cpu_target());
    ASSERT_TRUE(executable) << to_string(executable.error());
    EXPECT_EQ(executable->report().routines, 0) << product.text();
  }
}

}  // namespace
}  // namespace hilo::test
