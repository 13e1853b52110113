// Batches of small products whose operands are made where they are multiplied.
#include <fmt/ranges.h>

#include "both.h"

namespace hilo::test {
namespace {

// Products of f(x) and what `right` is of it, in parts: of [parts * terms, columns].
std::string product(std::string_view type, int64_t parts, int64_t terms, int64_t columns,
                    std::string_view right) {
  const auto shape = [&](const Dims& dims) {
    return fmt::format("{}[{}]", type, fmt::join(dims, ","));
  };
  return fmt::format(
      "HloModule m\nENTRY e {{\n  x = {0} parameter(0)\n  y = {1} parameter(1)\n"
      "  z = {0} broadcast(y), dimensions={{1}}\n  weights = {5} parameter(2)\n"
      "  spread = {0} broadcast(weights), dimensions={{0}}\n  less = {0} subtract(x, z)\n"
      "  a = {0} abs(less)\n  made = {0} sqrt(a)\n  weighed = {0} multiply(x, spread)\n"
      "  l = {2} reshape(made)\n  r = {2} reshape({4})\n"
      "  ROOT d = {3} dot(l, r), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, "
      "lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}\n}}\n",
      shape({parts * terms, columns}), shape({columns}), shape({parts, terms, columns}),
      shape({parts, columns, columns}), right, shape({parts * terms}));
}

TEST(FuseDotProducerBatches, NothingIsStored) {
  for (std::string_view type : {"f32", "f64"})
    for (std::string_view right : {"made", "x", "weighed"})
      for (int64_t parts : {8, 30})
        for (int64_t terms : {100, 333})
          for (int64_t columns : {3, 6, 17}) {
            if (parts * terms * columns < 1 << 16) continue;
            const std::string text = product(type, parts, terms, columns, right);
            const auto one = run_both(text, 1, 1), seven = run_both(text, 1, 7);
            expect_native(one, text, type == "f32" ? 1e-5 : 1e-13);
            ASSERT_TRUE(one && seven) << text;
            EXPECT_TRUE(same_bits(one->compiled, seven->compiled)) << text;
            EXPECT_EQ(one->report.temp_bytes, 0) << text;
          }
}

TEST(FuseDotProducerBatches, OnLesserProcessors) {
  for (uint64_t seed : {0, 3, 6})
    for (std::string_view right : {"made", "weighed"})
      for (int64_t columns : {5, 16}) {
        const std::string text = product("f32", 40, 400, columns, right);
        expect_native(run_both(text, 1, 2, processor_of(seed)), text, 1e-5);
      }
}

// Many columns: the operands of a batch are more than the frame holds, or another step reads them.
TEST(FuseDotProducerBatches, OthersStand) {
  const std::string wide = product("f64", 8, 600, 50, "made");
  const auto large = run_both(wide, 1, 2);
  expect_native(large, wide, 1e-13);
  EXPECT_GE(large->report.temp_bytes, 8 * 8 * 600 * 50);
  std::string read = product("f32", 30, 333, 17, "made");
  read.replace(read.find("  ROOT d = "), 11, "  d = ");
  read.insert(read.rfind('}'), "  ROOT t = (f32[30,17,17], f32[9990,17]) tuple(d, made)\n");
  const auto twice = run_both(read, 1, 2);
  expect_native(twice, read, 1e-5);
}

}  // namespace
}  // namespace hilo::test
