// Fusion of what works on the same lines of slabs, where a target asks for it.
#include "random_module.h"

namespace hilo {
namespace {

using test::after_passes;
using test::count_op;
using test::parsed;

// Softmax over dimension 1; $N: what else reads its greatest numbers.
std::string softmax(std::string_view dims, std::string_view numbers, std::string_view root) {
  return fmt::format(R"(HloModule m
add {{ a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] add(a, b) }}
max {{ a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] maximum(a, b) }}
ENTRY e {{
 x = f32[{0}] parameter(0)
 z = f32[] constant(0)
 l = f32[] constant(-inf)
 m = f32[{1}] reduce(x, l), dimensions={{1}}, to_apply=max
 bm = f32[{0}] broadcast(m), dimensions={{0,2}}
 c = f32[{0}] subtract(x, bm)
 e = f32[{0}] exponential(c)
 s = f32[{1}] reduce(e, z), dimensions={{1}}, to_apply=add
 bs = f32[{0}] broadcast(s), dimensions={{0,2}}
 q = f32[{0}] divide(e, bs)
 {2} }}
)",
                     dims, numbers, root);
}

// Reductions that are left outside of fusions or alone in one, and fusions.
struct Counts {
  int64_t fusions, reductions;
  bool operator==(const Counts&) const = default;
};

Counts counts(const std::string& text, bool slabs) {
  PassOptions options;
  options.fusion.slabs = slabs;
  const Module before = parsed(text), after = after_passes(before, "fusion", {.pass = options});
  EXPECT_EQ(test::difference_in_values(before, after, Keeps::Bits), "") << print(after);
  Counts out = {count_op(after, Op::Fusion), 0};
  for (InstructionId id : after[after.entry].instructions)
    out.reductions += after[id].op == Op::Reduce;
  return out;
}

constexpr std::string_view alone = "ROOT r = f32[$] negate(q)";

std::string ending(std::string_view dims, std::string text = std::string(alone)) {
  for (size_t at = text.find('$'); at != std::string::npos; at = text.find('$'))
    text.replace(at, 1, dims);
  return text;
}

TEST(FusedSlabs, AreOneFusionWhereAskedFor) {
  for (const auto& [dims, numbers] : {std::pair{"8,4,40", "8,40"}, {"90,4,3", "90,3"}}) {
    const std::string text = softmax(dims, numbers, ending(dims));
    EXPECT_EQ(counts(text, true), (Counts{1, 0})) << text;
    EXPECT_GE(counts(text, false).reductions, 1) << text;
  }
}

// Too few columns and slabs for lanes; lines too long for the cache; too few rows for threads.
TEST(FusedSlabs, StayApartWhereLanesAreFewOrFar) {
  for (const auto& [dims, numbers] : {std::pair{"20,4,3", "20,3"},
                                      {"100,700,2", "100,2"},
                                      {"6,5000,50", "6,50"},
                                      {"2,1000,40", "2,40"},
                                      {"5,300,500", "5,500"}})
    EXPECT_GE(counts(softmax(dims, numbers, ending(dims)), true).reductions, 1) << dims;
}

// A reduction of which nothing is spread has loops of its own.
TEST(FusedSlabs, LeaveMeansAlone) {
  const std::string text = R"(HloModule m
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] add(a, b) }
ENTRY e {
 x = f32[8,16,40] parameter(0)
 z = f32[] constant(0)
 f = f32[] constant(0.0625)
 s = f32[8,40] reduce(x, z), dimensions={1}, to_apply=add
 b = f32[8,40] broadcast(f), dimensions={}
 ROOT m = f32[8,40] multiply(s, b) }
)";
  EXPECT_EQ(counts(text, true).reductions, 1);
}

// What is spread over another dimension is none of the row's numbers.
TEST(FusedSlabs, OfOtherDimensionsStayApart) {
  std::string text = softmax("40,4,40", "40,40", ending("40,4,40"));
  const std::string_view kept = "broadcast(s), dimensions={0,2}";
  const size_t at = text.find(kept);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, kept.size(), "broadcast(t), dimensions={0,2}");
  text.insert(text.find(" bs ="), " t = f32[40,40] transpose(s), dimensions={1,0}\n");
  EXPECT_GE(counts(text, true).fusions + counts(text, true).reductions, 2);
}

}  // namespace
}  // namespace hilo
