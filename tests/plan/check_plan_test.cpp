// A right plan is broken in one way after the other, and the checker must say so each time.
#include "planned.h"

namespace hilo::test {
namespace {

constexpr std::string_view text =
    R"(HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }
plus {
  left = f32[] parameter(0)
  right = f32[] parameter(1)
  ROOT s = f32[] add(left, right)
}
ENTRY e {
  p = f32[16] parameter(0)
  kept = f32[16] parameter(1)
  zero = f32[] constant(0)
  at = s32[] constant(2)
  a = f32[16] sine(kept)
  b = f32[16] reverse(kept), dimensions={0}, control-predecessors={a}
  c = f32[16] add(a, b)
  d = f32[16] reverse(c), dimensions={0}
  part = f32[4] slice(kept), slice={[0:4]}
  x = f32[16] reverse(d), dimensions={0}
  u = f32[16] dynamic-update-slice(d, part, at)
  sum = f32[] reduce(u, zero), dimensions={0}, to_apply=plus
  wide = f32[16] broadcast(sum), dimensions={}
  y = f32[16] add(x, wide)
  r = f32[16] add(p, y)
  ROOT t = (f32[16], f32[16]) tuple(r, u)
}
)";

struct Broken {
  Planned planned;
  Plan& plan = planned.plan;

  ValueId value(std::string_view name) const {
    return plan.aliases.at(instruction(planned.module, name))[0];
  }
  Allocation& allocation(std::string_view name) {
    return plan.allocations[plan.where[value(name).value].first];
  }
  Slot& slot(std::string_view name) {
    return allocation(name).slots[plan.where[value(name).value].second];
  }
  void move(std::string_view name, std::string_view to, int64_t offset) {
    Slot moved = slot(name);
    moved.offset = offset;
    const uint32_t number = plan.where[value(to).value].first;
    plan.allocations[number].slots.push_back(moved);
    plan.where[moved.value.value] = {
        number, static_cast<uint32_t>(plan.allocations[number].slots.size() - 1)};
  }
  std::vector<InstructionId>& order() { return plan.schedule.orders[planned.module.entry.value]; }
  void swap(std::string_view a, std::string_view b) {
    std::swap(order()[place_in_order(planned, a)], order()[place_in_order(planned, b)]);
  }
};

struct Violation {
  const char* name;
  const char* message;
  void (*make)(Broken&);
};
const Violation violations[] = {
    {"OtherValues", "the plan is for", [](Broken& is) { is.plan.where.pop_back(); }},
    {"NoOrder", "the computation is not scheduled",
     [](Broken& is) { is.plan.schedule.orders.clear(); }},
    {"Twice", "scheduled twice", [](Broken& is) { is.order()[1] = is.order()[0]; }},
    {"BeforeOperand", "before one of its operands", [](Broken& is) { is.swap("c", "d"); }},
    {"BeforeControl", "before a control predecessor", [](Broken& is) { is.swap("a", "b"); }},
    {"Missing", "15 of 16 instructions are scheduled", [](Broken& is) { is.order().pop_back(); }},
    {"NoPlace", "a{} has no place",
     [](Broken& is) { is.plan.where[is.value("a").value] = {UINT32_MAX, UINT32_MAX}; }},
    {"OtherSlot", "the slot of a{} holds another value",
     [](Broken& is) { is.slot("a").value = is.value("b"); }},
    {"OtherSize", "a{} takes 64 bytes, its slot has 32",
     [](Broken& is) { is.slot("a").bytes = 32; }},
    {"BehindTheEnd", "a{} ends outside its allocation",
     [](Broken& is) { is.slot("a").offset = is.allocation("a").bytes; }},
    {"BeforeTheBeginning", "a{} ends outside its allocation",
     [](Broken& is) { is.slot("a").offset = -64; }},
    {"ShortAllocation", "ends outside its allocation",
     [](Broken& is) { --is.allocation("kept").bytes; }},
    {"Misaligned", "part{} is not aligned", [](Broken& is) { is.slot("part").offset += 16; }},
    {"Apart", "must share a buffer and lie apart",
     [](Broken& is) { is.move("d", "a", is.slot("a").offset); }},
    {"OtherSpace", "belongs to memory space 0 and lies in 5",
     [](Broken& is) { is.allocation("a").space = 5; }},
    {"NotLiveOut", "u{} is part of the result and lies in an allocation that is not",
     [](Broken& is) { is.allocation("u").is_live_out = false; }},
    {"ConstantAmongOthers", "zero{} is a constant and lies where others are written",
     [](Broken& is) { is.allocation("zero").is_constant = false; }},
    {"OverConstant", "a{} lies over a constant",
     [](Broken& is) { is.allocation("a").is_constant = true; }},
    {"OtherParameter", "p{} lies in the allocation of something else",
     [](Broken& is) { is.allocation("p").parameter = 1; }},
    {"KeptParameter", "x{} lies over a parameter that the caller keeps",
     [](Broken& is) { is.move("x", "kept", 0); }},
    {"ThreadLocal", "a{} is run, and lies in a thread's own memory",
     [](Broken& is) { is.allocation("a").is_thread_local = true; }},
    {"Overlap", "b{} lies over a{} while both are alive",
     [](Broken& is) { is.move("b", "a", is.slot("a").offset); }},
    {"OneBuffer", "u{} lies over d{} while both are alive; they share a buffer",
     [](Broken& is) { is.swap("x", "u"); }},
    {"Sums", "the plan says", [](Broken& is) { ++is.plan.spaces[0].total_bytes; }},
    {"Temporaries", "the plan says", [](Broken& is) { --is.plan.spaces[0].temp_bytes; }},
    {"NoSums", "the plan has no sums of memory space 0",
     [](Broken& is) { is.plan.spaces.clear(); }},
};

class CheckPlan : public testing::TestWithParam<Violation> {};

TEST_P(CheckPlan, SaysSo) {
  Broken broken{sound_plan(text)};
  GetParam().make(broken);
  const std::string faults = faults_of(broken.planned.module, broken.plan);
  EXPECT_NE(faults.find(GetParam().message), std::string::npos)
      << "expected: " << GetParam().message << "\nfound: " << faults;
}

INSTANTIATE_TEST_SUITE_P(Violations, CheckPlan, testing::ValuesIn(violations),
                         [](const auto& info) { return std::string(info.param.name); });

// 2^24 calls.
TEST(CheckPlan, RefusesWalksThatNeverEnd) {
  std::string calls = "HloModule m\nc0 { p = f32[] parameter(0)\n ROOT n = f32[] negate(p) }\n";
  for (int depth = 1; depth <= 24; ++depth)
    calls += fmt::format(
        "{0}c{1} {{ p = f32[] parameter(0)\n a = f32[] call(p), to_apply=c{2}\n ROOT b = f32[] "
        "call(a), to_apply=c{2} }}\n",
        depth == 24 ? "ENTRY " : "", depth, depth - 1);
  const Module module = *parse(calls);
  Plan made;
  made.schedule = schedule_of(module);
  EXPECT_NE(faults_of(module, made).find("the schedule runs more than"), std::string::npos);
}

}  // namespace
}  // namespace hilo::test
