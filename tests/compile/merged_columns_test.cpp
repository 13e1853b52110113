// Reductions that keep short columns beside others, which are merged in all that is computed.
#include <algorithm>

#include "both.h"
#include "target/target.h"

namespace hilo::test {
namespace {

// A softmax, the logarithm of a sum of exponentials, and deviations from a mean.
std::string softmax(std::string_view type, std::string_view dims, std::string_view kept,
                    std::string_view reduced, std::string_view spread) {
  return fmt::format(R"(HloModule m
add {{ a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  ROOT s = {0}[] add(a, b) }}
max {{ a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  ROOT s = {0}[] maximum(a, b) }}
ENTRY e {{
  x = {0}[{1}] parameter(0)
  low = {0}[] constant(-inf)
  zero = {0}[] constant(0)
  m = {0}[{2}] reduce(x, low), dimensions={{{3}}}, to_apply=max
  n = {0}[{1}] broadcast(m), dimensions={{{4}}}
  d = {0}[{1}] subtract(x, n)
  y = {0}[{1}] exponential(d)
  s = {0}[{2}] reduce(y, zero), dimensions={{{3}}}, to_apply=add
  t = {0}[{1}] broadcast(s), dimensions={{{4}}}
  p = {0}[{1}] divide(y, t)
  l = {0}[{2}] log(s)
  o = {0}[{2}] add(l, m)
  ROOT r = ({0}[{1}], {0}[{2}]) tuple(p, o) }}
)",
                     type, dims, kept, reduced, spread);
}

TEST(MergedColumns, OfSoftmax) {
  for (const std::string_view type : {"f32", "f64"})
    for (const auto& [dims, kept, reduced, spread] :
         std::initializer_list<std::array<std::string_view, 4>>{
             {"8,50,12,3", "8,12,3", "1", "0,2,3"},
             {"40,7,5,7", "5,7", "0,1", "2,3"},
             {"100,50,4", "50,4", "0", "1,2"},
             {"6,20,3,5,2", "6,3,5,2", "1", "0,2,3,4"},
             {"6,4,20,5,2", "6,4,5,2", "2", "0,1,3,4"},
             {"4,30,1,3", "4,1,3", "1", "0,2,3"}}) {
      const std::string text = softmax(type, dims, kept, reduced, spread);
      const auto one = run_both(text, 1, 1), three = run_both(text, 1, 3);
      expect_native(one, text, type == "f32" ? 1e-5 : 1e-12);
      ASSERT_TRUE(one && three) << text;
      EXPECT_TRUE(same_bits(one->compiled, three->compiled)) << text;
    }
}

// What asks for one of both dimensions alone is made as it was.
TEST(MergedColumns, OfWhatHasOneOfThem) {
  const std::string text = R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[9,40,5,3] parameter(0)
  c = f32[3] parameter(1)
  w = f32[5] parameter(2)
  zero = f32[] constant(0)
  d = f32[9,40,5,3] broadcast(c), dimensions={3}
  v = f32[9,40,5,3] broadcast(w), dimensions={2}
  i = f32[9,40,5,3] iota(), iota_dimension=2
  y = f32[9,40,5,3] multiply(x, d)
  z = f32[9,40,5,3] add(y, v)
  u = f32[9,40,5,3] subtract(z, i)
  s = f32[9,5,3] reduce(u, zero), dimensions={1}, to_apply=add
  t = f32[9,3,5] transpose(s), dimensions={0,2,1}
  q = f32[9,3] reduce(s, zero), dimensions={1}, to_apply=add
  k = f32[9,40,3] reduce(u, zero), dimensions={2}, to_apply=add
  ROOT r = (f32[9,3,5], f32[9,3], f32[9,40,3]) tuple(t, q, k) }
)";
  expect_native(run_both(text), text, 1e-5);
}

TEST(MergedColumns, AreOneDimension) {
  Result<Module> module = parse(softmax("f32", "8,50,12,3", "8,12,3", "1", "0,2,3"));
  ASSERT_TRUE(module);
  EXPECT_TRUE(cpu_target().prepare(*module, cpu_target().machine("native"), {}));
  for (const Instruction& instruction : module->instructions)
    if (!instruction.removed && instruction.op == Op::Exponential)
      EXPECT_EQ(module->shape(instruction).dims, (Dims{8, 50, 36}));
}

}  // namespace
}  // namespace hilo::test
