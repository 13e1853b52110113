// Orders of instructions: legal ones for whatever module, and low peaks.
#include "planned.h"
#include "random_module.h"

namespace hilo::test {
namespace {

Schedule schedule_found(const Module& module) {
  const auto aliases = find_aliases(module);
  EXPECT_TRUE(aliases) << (aliases ? "" : to_string(aliases.error()));
  return aliases ? find_schedule(module, cpu(), *aliases) : Schedule();
}

// Whether every computation has each of its instructions once, after all that it waits for.
void expect_legal(const Module& module, const Schedule& schedule) {
  for (ComputationId computation : module.post_order()) {
    std::vector<InstructionId> before;
    const auto stands_before = [&](InstructionId id) {
      return std::ranges::find(before, id) != before.end();
    };
    for (InstructionId id : schedule.orders[computation.value]) {
      EXPECT_FALSE(stands_before(id));
      for (InstructionId operand : module.operands(id)) EXPECT_TRUE(stands_before(operand));
      for (InstructionId other : module.extra(module[id]).control_predecessors)
        EXPECT_TRUE(stands_before(other));
      before.push_back(id);
    }
    EXPECT_EQ(before.size(), module[computation].instructions.size());
  }
}

// Without copies as well, where aliases contradict each other.
TEST(FindSchedule, IsLegalForWhateverModule) {
  for (uint64_t seed = 1; seed <= 60 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Module module = *parse(RandomModule(seed).text());
    expect_legal(module, schedule_found(module));
    ASSERT_TRUE(insert_copies(module, {.machine = &cpu()}));
    expect_legal(module, schedule_found(module));
  }
}

TEST(FindSchedule, OrdersWhatTakesNoMemory) {
  const Module module = *parse(R"(HloModule empty
ENTRY main {
  x = f32[0] parameter(0)
  a = f32[0] negate(x)
  b = f32[0] exponential(x)
  ROOT c = f32[0] add(a, b)
})");
  expect_legal(module, schedule_found(module));
}

TEST(FindSchedule, IsTheSameTwice) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Module module = *parse(RandomModule(seed).text());
    EXPECT_EQ(schedule_found(module).orders, schedule_found(module).orders);
  }
}

// Wide values, each of which is soon narrow: in an order that takes memory for all of them.
constexpr std::string_view wide_values = R"(
  p = f32[] parameter(0)
  a = f32[4096] broadcast(p), dimensions={}
  b = f32[4096] negate(a)
  c = f32[4096] sine(a)
  d = f32[4096] cosine(a)
  i = f32[2] slice(b), slice={[0:2]}
  j = f32[2] slice(c), slice={[0:2]}
  k = f32[2] slice(d), slice={[0:2]}
  s = f32[2] add(i, j)
  ROOT t = f32[2] add(s, k) }
)";

TEST(FindSchedule, LooksForBetterOrdersOnlyOfWhatTakesMemory) {
  const std::string body(wide_values);
  const Module steps = *parse("HloModule m\nENTRY e {" + body);
  EXPECT_NE(schedule_found(steps).orders[steps.entry.value], steps[steps.entry].instructions);
  const Module fused = *parse("HloModule m\nfused {" + body + R"(ENTRY e {
  x = f32[] parameter(0)
  ROOT f = f32[2] fusion(x), kind=kLoop, calls=fused })");
  const Schedule found = schedule_found(fused);
  for (ComputationId computation : fused.post_order())
    EXPECT_EQ(found.orders[computation.value], fused[computation].instructions);
}

constexpr std::string_view waits = R"(HloModule m
plus {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}
ENTRY e {
  p = f32[16] parameter(0)
  token = token[] after-all()
  a = f32[16] sine(p)
  sent = (f32[16], u32[], token[]) send(a, token), channel_id=1
  got = (f32[16], u32[], token[]) recv(token), channel_id=1
  value = (f32[16], token[]) recv-done(got), channel_id=1, control-predecessors={sent}
  end = token[] send-done(sent), channel_id=1
  moved = (f32[16], f32[16], u32[]) copy-start(a)
  sum = f32[16] all-reduce-start(p), replica_groups={{0}}, to_apply=plus
  b = f32[16] cosine(a), control-predecessors={moved}
  there = f32[16] copy-done(moved), control-predecessors={b}
  all = f32[16] all-reduce-done(sum), control-predecessors={there}
  c = f32[16] get-tuple-element(value), index=0
  d = f32[16] add(c, b)
  ROOT r = f32[16] add(d, all)
}
)";

TEST(FindSchedule, KeepsStepsThatBeginAndEndInTheirOrder) {
  const Planned planned = sound_plan(waits);
  expect_legal(planned.module, planned.plan.schedule);
  const char* order[] = {"moved", "b", "there", "all"};
  for (int i = 0; i < 3; ++i)
    EXPECT_LT(place_in_order(planned, order[i]), place_in_order(planned, order[i + 1]));
  EXPECT_LT(place_in_order(planned, "sent"), place_in_order(planned, "value"));
}

// The file makes all wide arrays first; one at a time takes an eighth of the memory.
TEST(FindSchedule, MakesWhatIsWideWhenItIsReduced) {
  std::string wide, narrow, sum = " none = f32[] constant(0)\n s0 = f32[] add(none, none)\n";
  for (int i = 1; i <= 8; ++i) {
    wide += fmt::format(" w{} = f32[4096] broadcast(p), dimensions={{}}\n", i);
    narrow += fmt::format(" n{0} = f32[] reduce(w{0}, none), dimensions={{0}}, to_apply=plus\n", i);
    sum += fmt::format(" {}s{} = f32[] add(s{}, n{})\n", i == 8 ? "ROOT " : "", i, i - 1, i);
  }
  const size_t first = sum.find(" s0");
  const auto text = [&](std::string_view header) {
    return fmt::format(
        "HloModule m{}\nplus {{ x = f32[] parameter(0)\n y = f32[] parameter(1)\n "
        "ROOT s = f32[] add(x, y) }}\nENTRY e {{ p = f32[] parameter(0)\n{}{}{}{}}}\n",
        header, sum.substr(0, first), wide, narrow, sum.substr(first));
  };
  const Planned as_written = sound_plan(text(", is_scheduled=true"));
  const Planned found = sound_plan(text(""));
  EXPECT_GE(as_written.plan.spaces[0].temp_bytes, 8 * 4096 * 4);
  EXPECT_LT(found.plan.spaces[0].temp_bytes, 2 * 4096 * 4);
}

// A training step. By the graph several orders are alike, for it does not say what is written over
// operands: that of these which is best by the graph needs room for a mask more.
constexpr std::string_view training_step =
    R"(HloModule step, input_output_alias={ {1}: (0, {}, may-alias), {2}: (1, {}, may-alias) }
plus { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT s = f32[] add(x, y) }
ENTRY e { a = f32[32,16] parameter(0)
 b = f32[16,32] parameter(1)
 x = f32[16,32] parameter(2)
 y = f32[16,32] parameter(3)
 zero = f32[] constant(0)
 one = f32[] constant(1)
 two = f32[] constant(2)
 rate = f32[] constant(0.01)
 p = f32[16,16] dot(x, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 z0 = f32[16,16] broadcast(zero), dimensions={}
 max = f32[16,16] maximum(p, z0)
 q = f32[16,32] dot(max, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 sums = f32[16,32] all-reduce(q), replica_groups={}, to_apply=plus
 error = f32[16,32] subtract(sums, y)
 square = f32[16,32] multiply(error, error)
 loss = f32[] reduce(square, zero), dimensions={0,1}, to_apply=plus
 t0 = f32[16,32] broadcast(two), dimensions={}
 e2 = f32[16,32] multiply(error, t0)
 r0 = f32[16,32] broadcast(rate), dimensions={}
 g = f32[16,32] multiply(e2, r0)
 h = f32[16,16] dot(g, b), lhs_contracting_dims={1}, rhs_contracting_dims={1}
 is_max = pred[16,16] compare(p, max), direction=EQ
 o0 = f32[16,16] broadcast(one), dimensions={}
 z1 = f32[16,16] broadcast(zero), dimensions={}
 s0 = f32[16,16] select(is_max, o0, z1)
 z2 = f32[16,16] broadcast(zero), dimensions={}
 is_zero = pred[16,16] compare(z2, max), direction=EQ
 t1 = f32[16,16] broadcast(two), dimensions={}
 o1 = f32[16,16] broadcast(one), dimensions={}
 s1 = f32[16,16] select(is_zero, t1, o1)
 share = f32[16,16] divide(s0, s1)
 k = f32[16,16] multiply(h, share)
 da = f32[16,32] dot(k, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}
 ta = f32[32,16]{0,1} transpose(da), dimensions={1,0}
 r1 = f32[32,16]{0,1} broadcast(rate), dimensions={}
 ua = f32[32,16]{0,1} multiply(ta, r1)
 na = f32[32,16] subtract(a, ua)
 db = f32[32,16] dot(g, max), lhs_contracting_dims={0}, rhs_contracting_dims={0}
 tb = f32[16,32]{0,1} transpose(db), dimensions={1,0}
 r2 = f32[16,32]{0,1} broadcast(rate), dimensions={}
 ub = f32[16,32]{0,1} multiply(tb, r2)
 nb = f32[16,32] subtract(b, ub)
 ROOT t = (f32[], f32[32,16], f32[16,32]) tuple(loss, na, nb) }
)";

TEST(FindSchedule, IsJudgedByWhatLiesOverOperands) {
  const Planned found = sound_plan(training_step);
  EXPECT_LE(found.plan.spaces[0].temp_bytes, 3 * 16 * 32 * 4);
}

}  // namespace
}  // namespace hilo::test
