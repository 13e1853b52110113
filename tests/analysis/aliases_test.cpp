// One rule of dataflow and aliasing each; what is expected follows from the meaning of the ops.
#include "parsed.h"

namespace hilo {
namespace {

using testing_analysis::Parsed;

TEST(Aliases, TuplesPassTheirElementsOn) {
  const Parsed m(R"(HloModule m
ENTRY e { p = f32[4] parameter(0)
  a = f32[4] negate(p)
  inner = (f32[4]) tuple(a)
  empty = () tuple()
  outer = ((f32[4]), f32[4], ()) tuple(inner, p, empty)
  g = (f32[4]) get-tuple-element(outer), index=0
  h = f32[4] get-tuple-element(g), index=0
  ROOT r = f32[4] add(h, p) }
)");
  EXPECT_EQ(m.at("outer"), "outer{}");
  EXPECT_EQ(m.at("outer", {0}), "inner{}");
  EXPECT_EQ(m.at("outer", {0, 0}), "a{}");
  EXPECT_EQ(m.at("outer", {1}), "p{}");
  EXPECT_EQ(m.at("outer", {2}), "empty{}");
  EXPECT_EQ(m.at("g"), "inner{}");
  EXPECT_EQ(m.at("h"), "a{}");
  const Value& a = m.aliases[m.aliases.at(m["a"])[0]];
  EXPECT_EQ(a.positions.size(), 5u);  // a, inner{0}, outer{0,0}, g{0}, h
  ASSERT_EQ(a.uses.size(), 1u);
  EXPECT_EQ(a.uses[0].instruction, m["r"]);
  EXPECT_FALSE(a.live_out);
  EXPECT_TRUE(m.aliases[m.aliases.at(m["r"])[0]].live_out);
}

TEST(Aliases, RootsReadWhatTheyPassOn) {
  const Parsed m(R"(HloModule m
ENTRY e { p = f32[4] parameter(0)
  a = f32[4] negate(p)
  t = (f32[4], f32[4]) tuple(a, p)
  ROOT g = f32[4] get-tuple-element(t), index=0 }
)");
  const Value& a = m.aliases[m.aliases.at(m["a"])[0]];
  ASSERT_EQ(a.uses.size(), 1u);
  EXPECT_EQ(a.uses[0], (ValueUse{m["g"], 0, {0}}));
  EXPECT_TRUE(a.live_out);
  EXPECT_TRUE(m.aliases[m.aliases.at(m["p"])[0]].uses.size() == 1);  // negate; not the tuple
}

TEST(Aliases, BitcastsAndBarriersMakeNothing) {
  const Parsed m(R"(HloModule m
ENTRY e { p = f32[4,2] parameter(0)
  b = f32[8] bitcast(p)
  token = token[] after-all()
  d = f32[8] add-dependency(b, token)
  t = (f32[8], f32[4,2]) tuple(d, p)
  o = (f32[8], f32[4,2]) opt-barrier(t)
  c = (f32[8], f32[4,2]) copy(o)
  ROOT g = f32[8] get-tuple-element(c), index=0 }
)");
  EXPECT_EQ(m.at("g"), "p{}");
  EXPECT_EQ(m.at("o"), "t{}");
  EXPECT_EQ(m.at("c"), "c{}");
  EXPECT_EQ(m.at("c", {1}), "p{}");
}

TEST(Aliases, WhatLoopsCarrySharesABuffer) {
  const Parsed m(R"(HloModule m
body { s = (s32[], f32[4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4] get-tuple-element(s), index=1
  k = f32[4] get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[4] add(x, k)
  ROOT t = (s32[], f32[4], f32[4]) tuple(j, y, k) }
condition { s2 = (s32[], f32[4], f32[4]) parameter(0)
  i2 = s32[] get-tuple-element(s2), index=0
  n = s32[] constant(9)
  ROOT less = pred[] compare(i2, n), direction=LT }
ENTRY e { p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  zero = s32[] constant(0)
  init = (s32[], f32[4], f32[4]) tuple(zero, p, q)
  w = (s32[], f32[4], f32[4]) while(init), condition=condition, body=body
  ROOT r = f32[4] get-tuple-element(w), index=1 }
)");
  EXPECT_EQ(m.at("w", {1}), "w{1}");
  EXPECT_EQ(m.at("s", {1}), "s{1}");
  EXPECT_EQ(m.at("s", {2}), "q{}");  // never changes: no phi
  EXPECT_EQ(m.at("w", {2}), "q{}");
  EXPECT_EQ(m.buffer("p"), "p{} s2{1} s{1} w{1} y{}");
  EXPECT_EQ(m.buffer("zero"), "j{} s2{0} s{0} w{0} zero{}");
  EXPECT_EQ(m.buffer("q"), "q{}");
  EXPECT_EQ(m.buffer("init"), "init{} s2{} s{} t{} w{}");
  EXPECT_TRUE(m.aliases[m.aliases.at(m["s"], {1})[0]].is_phi);
}

TEST(Aliases, LoopsThatSwapKeepPhis) {
  const Parsed m(R"(HloModule m
body { s = (f32[4], f32[4]) parameter(0)
  x = f32[4] get-tuple-element(s), index=0
  y = f32[4] get-tuple-element(s), index=1
  ROOT t = (f32[4], f32[4]) tuple(y, x) }
condition { s2 = (f32[4], f32[4]) parameter(0)
  ROOT never = pred[] constant(false) }
ENTRY e { p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  init = (f32[4], f32[4]) tuple(p, q)
  ROOT w = (f32[4], f32[4]) while(init), condition=condition, body=body }
)");
  EXPECT_EQ(m.at("w", {0}), "w{0}");
  EXPECT_EQ(m.at("t", {0}), "s{1}");
  EXPECT_EQ(m.buffer("p"), m.buffer("q"));
}

TEST(Aliases, BranchesOfAConditionalShareTheResult) {
  const Parsed m(R"(HloModule m
yes { a = f32[4] parameter(0)
  ROOT y = f32[4] negate(a) }
no { b = (f32[4]) parameter(0)
  ROOT n = f32[4] get-tuple-element(b), index=0 }
ENTRY e { c = pred[] parameter(0)
  p = f32[4] parameter(1)
  q = f32[4] parameter(2)
  t = (f32[4]) tuple(q)
  ROOT r = f32[4] conditional(c, p, t), true_computation=yes, false_computation=no }
)");
  EXPECT_EQ(m.at("a"), "p{}");
  EXPECT_EQ(m.at("n"), "q{}");
  EXPECT_EQ(m.at("r"), "r{}");
  EXPECT_EQ(m.buffer("r"), "q{} r{} y{}");
}

TEST(Aliases, CallsUniteWhatTheyPass) {
  const Parsed m(R"(HloModule m
f { a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a) }
ENTRY e { p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  x = f32[4] call(p), to_apply=f
  y = f32[4] call(q), to_apply=f
  ROOT r = f32[4] add(x, y) }
)");
  EXPECT_EQ(m.at("a"), "p{} q{}");
  EXPECT_EQ(m.at("x"), "b{}");
  EXPECT_EQ(m.at("y"), "b{}");
}

TEST(Aliases, AppliedComputationsStandForThemselves) {
  const Parsed m(R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY e { p = f32[4] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=add }
)");
  EXPECT_EQ(m.at("a"), "a{}");
  EXPECT_EQ(m.aliases.values.size(), 6u);
  EXPECT_EQ(m.aliases.buffers.size(), 6u);
}

TEST(Aliases, UpdatesInPlace) {
  const Parsed m(R"(HloModule m
set { a = f32[] parameter(0)
  ROOT b = f32[] parameter(1) }
ENTRY e { p = f32[8] parameter(0)
  u = f32[2] parameter(1)
  i = s32[] parameter(2)
  indices = s32[2,1] parameter(3)
  d = f32[8] dynamic-update-slice(p, u, i)
  ROOT s = f32[8] scatter(d, indices, u), to_apply=set, update_window_dims={},
    inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1 }
)");
  EXPECT_EQ(m.buffer("p"), "d{} p{} s{}");
  ASSERT_EQ(m.aliases.in_place_of(m["d"]).size(), 1u);
  EXPECT_EQ(m.aliases.in_place_of(m["d"])[0], (InPlace{m["d"], 0, {}, {}}));
  EXPECT_TRUE(m.aliases.in_place_of(m["u"]).empty());
}

TEST(Aliases, FusionsThatEndInUpdates) {
  const Parsed m(R"(HloModule m
inner { a = f32[8] parameter(0)
  u1 = f32[2] parameter(1)
  i1 = s32[] parameter(2)
  ROOT d = f32[8] dynamic-update-slice(a, u1, i1) }
outer { x = f32[8] parameter(0)
  u2 = f32[2] parameter(1)
  i2 = s32[] parameter(2)
  flat = f32[8] bitcast(x)
  f = f32[8] fusion(flat, u2, i2), kind=kLoop, calls=inner
  neg = f32[2] negate(u2)
  ROOT t = (f32[2], f32[8]) tuple(neg, f) }
ENTRY e { p = f32[8] parameter(0)
  u = f32[2] parameter(1)
  i = s32[] parameter(2)
  ROOT r = (f32[2], f32[8]) fusion(p, u, i), kind=kLoop, calls=outer }
)");
  EXPECT_EQ(m.buffer("p"), "p{} r{1}");
  EXPECT_EQ(m.buffer("r", {0}), "r{0}");
  ASSERT_EQ(m.aliases.in_place_of(m["r"]).size(), 1u);
  EXPECT_EQ(m.aliases.in_place_of(m["r"])[0], (InPlace{m["r"], 0, {}, {1}}));
}

TEST(Aliases, WhatInstructionsDeclare) {
  const Parsed m(R"(HloModule m, input_output_alias={ {1}: (1, {}, may-alias) }
id { a = f32[8] parameter(0)
  b = f32[8] parameter(1)
  na = f32[8] negate(a)
  ROOT t = (f32[8], f32[8]) tuple(na, b) }
ENTRY e { p = f32[8] parameter(0)
  q = f32[8] parameter(1)
  f = (f32[8], f32[8]) fusion(p, q), kind=kCustom, output_to_operand_aliasing={{0}: (0, {})}, calls=id
  x = f32[8] get-tuple-element(f), index=0
  c = f32[8] custom-call(x), custom_call_target="t", output_to_operand_aliasing={{}: (0, {})}
  n = f32[8] negate(c)
  ROOT r = (f32[8], f32[8]) tuple(c, n) }
)");
  EXPECT_EQ(m.buffer("p"), "c{} f{0} p{}");
  EXPECT_EQ(m.buffer("q"), "n{} q{}");
}

TEST(Aliases, AsynchronousStepsPassArrays) {
  const Parsed m(R"(HloModule m
wrapped { a = f32[8] parameter(0)
  ROOT s = f32[2] slice(a), slice={[0:2]} }
ENTRY e { p = f32[8] parameter(0)
  start = ((f32[8]), f32[2], u32[]) async-start(p), calls=wrapped
  update = ((f32[8]), f32[2], u32[]) async-update(start)
  done = f32[2] async-done(update)
  cs = (f32[2], f32[2], u32[]) copy-start(done)
  ROOT cd = f32[2] copy-done(cs) }
)");
  EXPECT_EQ(m.at("a"), "p{}");
  EXPECT_EQ(m.at("start"), "start{}");
  EXPECT_EQ(m.at("start", {0}), "start{0}");
  EXPECT_EQ(m.at("start", {0, 0}), "p{}");
  EXPECT_EQ(m.at("start", {1}), "s{}");
  EXPECT_EQ(m.at("start", {2}), "start{2}");
  EXPECT_EQ(m.at("update"), "update{}");
  EXPECT_EQ(m.at("update", {2}), "start{2}");
  EXPECT_EQ(m.at("done"), "s{}");
  EXPECT_EQ(m.at("cs", {0}), "cs{0}");
  EXPECT_EQ(m.at("cs", {1}), "s{}");
  EXPECT_EQ(m.at("cd"), "cs{0}");
}

TEST(Aliases, ContextsThatAnUpdateKeeps) {
  const Parsed m(R"(HloModule m
wrapped { a = f32[8] parameter(0)
  ROOT n = f32[8] negate(a) }
ENTRY e { p = f32[8] parameter(0)
  start = ((), (), (s32[9], s32[3])) async-start(), calls=wrapped
  update = ((f32[8]), f32[8], (s32[9])) async-update(start, p), output_to_operand_aliasing={{2,0}: (0, {2,0})}
  ROOT done = f32[8] async-done(update) }
)");
  EXPECT_EQ(m.buffer("start", {2, 0}), "start{2,0} update{2,0}");
  EXPECT_EQ(m.buffer("start", {2, 1}), "start{2,1}");
  EXPECT_EQ(m.at("done"), "n{}");
}

TEST(Aliases, OperandsBoundLater) {
  const Parsed m(R"(HloModule m
wrapped { a = f32[8] parameter(0)
  b = f32[8] parameter(1)
  ROOT s = f32[8] add(a, b) }
ENTRY e { p = f32[8] parameter(0)
  q = f32[8] parameter(1)
  start = ((f32[8]), f32[8]) async-start(p), calls=wrapped
  update = ((f32[8], f32[8]), f32[8]) async-update(start, q)
  ROOT done = f32[8] async-done(update) }
)");
  EXPECT_EQ(m.at("b"), "q{}");
  EXPECT_EQ(m.at("update", {0, 0}), "p{}");
  EXPECT_EQ(m.at("update", {0, 1}), "q{}");
  EXPECT_EQ(m.at("update", {1}), "s{}");
  EXPECT_EQ(m.at("done"), "s{}");
}

TEST(Aliases, CollectivesInTwoParts) {
  const Parsed m(R"(HloModule m, num_partitions=2
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY e { p = f32[8] parameter(0)
  ag = (f32[8], f32[16]) all-gather-start(p), channel_id=1, replica_groups={{0,1}}, dimensions={0}, use_global_device_ids=true
  agd = f32[16] all-gather-done(ag)
  cp = (f32[8], f32[8], u32[], u32[]) collective-permute-start(p), channel_id=2, source_target_pairs={{0,1}}
  cpd = f32[8] collective-permute-done(cp)
  n = f32[8] negate(p)
  ar = f32[8] all-reduce-start(n), channel_id=3, replica_groups={{0,1}}, to_apply=add, use_global_device_ids=true
  ard = f32[8] all-reduce-done(ar)
  ROOT r = (f32[16], f32[8], f32[8]) tuple(agd, cpd, ard) }
)");
  EXPECT_EQ(m.at("ag", {0}), "p{}");
  EXPECT_EQ(m.at("agd"), "ag{1}");
  EXPECT_EQ(m.at("cp", {0}), "p{}");
  EXPECT_EQ(m.at("cpd"), "cp{1}");
  EXPECT_EQ(m.at("ard"), "ar{}");
  EXPECT_EQ(m.buffer("n"), "ar{} n{}");
}

TEST(Aliases, TransfersPassTheirOperand) {
  const Parsed m(R"(HloModule m
ENTRY e { p = f32[8] parameter(0)
  t = token[] after-all()
  s = (f32[8], u32[], token[]) send(p, t), channel_id=1
  sd = token[] send-done(s), channel_id=1
  v = (f32[8], u32[], token[]) recv(sd), channel_id=2
  vd = (f32[8], token[]) recv-done(v), channel_id=2
  ROOT r = f32[8] get-tuple-element(vd), index=0 }
)");
  EXPECT_EQ(m.at("s", {0}), "p{}");
  EXPECT_EQ(m.at("s", {1}), "s{1}");
  EXPECT_EQ(m.at("vd", {0}), "v{0}");
  EXPECT_EQ(m.at("r"), "v{0}");
}

TEST(Aliases, ComputationsThatAreCalledAndApplied) {
  const Result<Module> module = parse(R"(HloModule m
f { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY e { p = f32[4] parameter(0)
  z = f32[] constant(0)
  r = f32[] reduce(p, z), dimensions={0}, to_apply=f
  ROOT c = f32[] call(r, z), to_apply=f }
)");
  ASSERT_TRUE(module.has_value());
  const Result<Aliases> aliases = find_aliases(*module);
  ASSERT_FALSE(aliases.has_value());
  EXPECT_EQ(aliases.error().kind, ErrorKind::Unsupported);
}

}  // namespace
}  // namespace hilo
