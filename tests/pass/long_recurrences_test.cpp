// Fusion of programs that unroll their loops. Where the time grew with the square of the sizes,
// each of these took longer than a test may.
#include "random_module.h"

namespace hilo {
namespace {

// `count` lines by number, as {0}.
std::string lines(int count, std::string_view line) {
  std::string out;
  for (int i = 0; i < count; ++i) out += fmt::format(fmt::runtime(line), i, i + 1);
  return out;
}

// The same with commas between.
std::string listed(int count, std::string_view line) {
  std::string out = lines(count, fmt::format("{},", line));
  out.pop_back();
  return out;
}

Module fused(const std::string& text) {
  return test::after_passes(test::parsed("HloModule m\n" + text), "fusion", {});
}

size_t largest_fusion(const Module& module) {
  size_t out = 0;
  for (const Instruction& instruction : module.instructions)
    if (!instruction.removed && instruction.op == Op::Fusion)
      for (ComputationId body : module.called(instruction))
        out = std::max(out, module[body].instructions.size());
  return out;
}

// Each reader is tried with the others and with what it reads.
TEST(LongRecurrences, OneValueHasManyReaders) {
  constexpr int readers = 20000;
  const Module after = fused(fmt::format(
      "ENTRY e {{ x = f32[8] parameter(0)\n v = f32[8] exponential(x)\n{} ROOT r = ({}) tuple({}) "
      "}}",
      lines(readers,
            " c{0} = f32[] constant({0})\n k{0} = f32[8] broadcast(c{0}), dimensions={{}}\n"
            " y{0} = f32[8] add(v, k{0})\n"),
      listed(readers, "f32[8]"), listed(readers, "y{0}")));
  EXPECT_GT(test::count_op(after, Op::Fusion), 1);
}

// A tuple of all results, in each of whose elements a value that a loop carries is looked for.
TEST(LongRecurrences, ManyElementsAreCarried) {
  constexpr int elements = 30000;
  const std::string shapes = listed(elements, "f32[8]");
  const Module after = fused(fmt::format(
      "ENTRY e {{ p = ({}) parameter(0)\n{}{} ROOT r = ({}) tuple({}) }}", shapes,
      lines(elements + 1, " g{0} = f32[8] get-tuple-element(p), index=0\n"),
      lines(elements, " y{0} = f32[8] add(g{0}, g{1})\n"), shapes, listed(elements, "y{0}")));
  EXPECT_GT(test::count_op(after, Op::Fusion), 1);
}

// What one loop computes is bounded, and so is how deep its values lie inside one another.
TEST(LongRecurrences, ChainsAreSeveralLoops) {
#define LIMIT(name, value) [[maybe_unused]] constexpr size_t name = value;
#include "pass/fuse/group_limits.def"
#undef LIMIT
  const Module after =
      fused(fmt::format("ENTRY e {{ x0 = f32[8] parameter(0)\n{} ROOT r = f32[8] negate(x30000) }}",
                        lines(30000, " x{1} = f32[8] multiply(x{0}, x{0})\n")));
  EXPECT_EQ(test::count_op(after, Op::Fusion), (30001 + max_members - 1) / max_members);
  EXPECT_EQ(largest_fusion(after), max_members + 1);  // and the parameter
}

}  // namespace
}  // namespace hilo
