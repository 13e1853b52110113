// Live ranges and peaks of small schedules, worked out by hand.
#include "parsed.h"

namespace hilo {
namespace {

using testing_analysis::Parsed;

struct Lived : Parsed {
  Liveness liveness;
  explicit Lived(std::string_view text)
      : Parsed(text), liveness(find_liveness(module, aliases, schedule_of(module))) {}

  LiveRange range(std::string_view name, const Dims& index = {}) const {
    return liveness.ranges[aliases.at((*this)[name], index)[0].value];
  }
  std::string sequence() const {
    std::string out;
    for (InstructionId id : liveness.sequence) out += std::string(module[id].name) + " ";
    return out;
  }
};

TEST(Liveness, FromDefinitionToLastUse) {
  const Lived m(R"(HloModule m, is_scheduled=true
ENTRY e { p = f32[4] parameter(0)
  a = f32[4] negate(p)
  b = f32[4] negate(a)
  c = f32[4] add(a, b)
  ROOT r = f32[4] negate(c)
  last = f32[4] negate(p) }
)");
  EXPECT_EQ(m.range("p"), (LiveRange{0, 6}));  // nothing may be written over it
  EXPECT_EQ(m.range("a"), (LiveRange{1, 3}));
  EXPECT_EQ(m.range("b"), (LiveRange{2, 3}));
  EXPECT_EQ(m.range("r"), (LiveRange{4, 6}));  // the result lives to the end
  EXPECT_EQ(m.range("last"), (LiveRange{5, 5}));
  EXPECT_EQ(m.liveness.moments[m["c"].value], 3);
}

TEST(Liveness, DonatedParametersEndWhereTheyAreWrittenOver) {
  const Lived m(R"(HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, must-alias) }
ENTRY e { p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  a = f32[4] add(p, q)
  ROOT r = f32[4] negate(a) }
)");
  EXPECT_EQ(m.range("p"), (LiveRange{0, 2}));
  EXPECT_EQ(m.range("r"), (LiveRange{3, 4}));
}

TEST(Liveness, LoopsRunConditionsFirstAndHandTheirStateOn) {
  const Lived m(R"(HloModule m, is_scheduled=true
body { s = (f32[4]) parameter(0)
  x = f32[4] get-tuple-element(s), index=0
  y = f32[4] negate(x)
  ROOT t = (f32[4]) tuple(y) }
condition { s2 = (f32[4]) parameter(0)
  ROOT c = pred[] constant(false) }
ENTRY e { p = f32[4] parameter(0)
  k = f32[4] copy(p)
  init = (f32[4]) tuple(k)
  w = (f32[4]) while(init), condition=condition, body=body
  ROOT r = f32[4] get-tuple-element(w), index=0 }
)");
  EXPECT_EQ(m.sequence(), "p k init s2 c s x y t w r ");
  EXPECT_EQ(m.range("k"), (LiveRange{1, 3}));
  EXPECT_EQ(m.range("s2", {0}), (LiveRange{3, 5}));
  EXPECT_EQ(m.range("s", {0}), (LiveRange{5, 7}));
  EXPECT_EQ(m.range("y"), (LiveRange{7, 9}));
  EXPECT_EQ(m.range("w", {0}), (LiveRange{9, 11}));
}

TEST(Liveness, CallsAndBranchesStandBeforeTheirCaller) {
  const Lived m(R"(HloModule m, is_scheduled=true
f { a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a) }
yes { y = f32[4] parameter(0)
  ROOT ny = f32[4] negate(y) }
no { n = f32[4] parameter(0)
  ROOT nn = f32[4] negate(n) }
ENTRY e { p = f32[4] parameter(0)
  q = pred[] parameter(1)
  v = f32[4] negate(p)
  x = f32[4] call(v), to_apply=f
  ROOT r = f32[4] conditional(q, x, x), true_computation=yes, false_computation=no }
)");
  EXPECT_EQ(m.sequence(), "p q v a b x y ny n nn r ");
  EXPECT_EQ(m.range("v"), (LiveRange{2, 4}));  // the call itself reads nothing
  EXPECT_EQ(m.range("b"), (LiveRange{4, 10}));
  EXPECT_EQ(m.range("r"), (LiveRange{10, 11}));
}

TEST(Liveness, FusedValuesAreNeverAlive) {
  const Lived m(R"(HloModule m, is_scheduled=true
f { a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a) }
ENTRY e { p = f32[4] parameter(0)
  ROOT r = f32[4] fusion(p), kind=kLoop, calls=f }
)");
  EXPECT_EQ(m.sequence(), "p r ");
  EXPECT_FALSE(m.liveness.has_range(m.aliases.at(m["b"])[0]));
  EXPECT_TRUE(m.liveness.has_range(m.aliases.at(m["r"])[0]));
}

TEST(Liveness, AsynchronousWorkLastsUntilItIsDone) {
  const Lived m(R"(HloModule m, is_scheduled=true
wrapped { a = f32[8] parameter(0)
  half = f32[8] negate(a)
  ROOT s = f32[8] negate(half) }
ENTRY e { p = f32[8] parameter(0)
  start = ((f32[8]), f32[8]) async-start(p), calls=wrapped
  other = f32[8] negate(p)
  done = f32[8] async-done(start)
  ROOT r = f32[8] add(done, other) }
)");
  EXPECT_EQ(m.sequence(), "p a half s start other done r ");
  EXPECT_EQ(m.range("half"), (LiveRange{2, 6}));
  EXPECT_EQ(m.range("s"), (LiveRange{3, 7}));
}

// `big` ends at 2 and is still counted at 3, as XLA does, but it is not listed there.
TEST(Peak, EarliestLargestSumOfUnpaddedSizes) {
  const Lived m(R"(HloModule m, is_scheduled=true
ENTRY e { p = f32[4] parameter(0)
  big = f32[4,4] broadcast(p), dimensions={0}
  bigger = f32[4,8] concatenate(big, big), dimensions={1}
  sliced = f32[1,4] slice(bigger), slice={[0:1], [0:4]}
  small = f32[4] reshape(sliced)
  t = (f32[4], f32[4]) tuple(small, p)
  ROOT r = f32[4] get-tuple-element(t), index=0 }
)");
  const Peak peak = find_peak(m.module, m.aliases, m.liveness);
  EXPECT_EQ(peak.moment, 3);
  EXPECT_EQ(peak.bytes, 16 + 128 + 16);
  ASSERT_EQ(peak.values.size(), 3u);
  EXPECT_EQ(name_of(m.module, m.aliases[peak.values[0]]), "bigger{}");
  EXPECT_EQ(name_of(m.module, m.aliases[peak.values[1]]), "p{}");
  EXPECT_EQ(name_of(m.module, m.aliases[peak.values[2]]), "sliced{}");
}

TEST(Peak, EqualSizesByName) {
  const Lived m(R"(HloModule m, is_scheduled=true
ENTRY e { z = f32[4] parameter(0)
  a = f32[4] parameter(1)
  ROOT t = (f32[4], f32[4]) tuple(z, a) }
)");
  const Peak peak = find_peak(m.module, m.aliases, m.liveness);
  ASSERT_EQ(peak.values.size(), 3u);
  EXPECT_EQ(name_of(m.module, m.aliases[peak.values[0]]), "a{}");
  EXPECT_EQ(peak.bytes, 16 + 16 + 16);
}

TEST(Peak, UnboundedShapesHaveNone) {
  const Lived m(R"(HloModule m, is_scheduled=true
ENTRY e { p = f32[?] parameter(0)
  ROOT r = f32[?] negate(p) }
)");
  EXPECT_EQ(find_peak(m.module, m.aliases, m.liveness).moment, -1);
}

}  // namespace
}  // namespace hilo
