// What is repeated or converted at last, with what it is made of.
#include <algorithm>

#include "judge.h"

namespace hilo {
namespace {

struct Row {
  const char* name;
  int64_t steps;  // of the entry afterwards
  const char* body;
};

const Row rows[] = {
    {"cheap arithmetic of two copies", 1, R"(x = f32[4,4] parameter(0)
 m = f32[4,4] multiply(x, x)
 a = f32[4,4] add(m, x)
 ROOT r = f32[2,4,4] broadcast(a), dimensions={1,2})"},
    {"no cheap arithmetic of five copies", 2, R"(x = f32[4,4] parameter(0)
 m = f32[4,4] multiply(x, x)
 ROOT r = f32[5,4,4] broadcast(m), dimensions={1,2})"},
    {"no exponential twice", 2, R"(x = f32[4,4] parameter(0)
 m = f32[4,4] exponential(x)
 ROOT r = f32[2,4,4] broadcast(m), dimensions={1,2})"},
    {"a last conversion with what it reads", 1, R"(x = s8[6,4] parameter(0)
 s = s8[4,4] slice(x), slice={[1:5], [0:4]}
 ROOT r = f32[4,4] convert(s))"},
    {"no transpose for copies", 2, R"(x = f32[4,5] parameter(0)
 t = f32[5,4] transpose(x), dimensions={1,0}
 ROOT r = f32[2,5,4] broadcast(t), dimensions={1,2})"},
};

TEST(FusedCopies, AreOfCheapArithmetic) {
  for (const Row& row : rows) {
    const Module before = test::parsed(std::string("HloModule m\nENTRY e {\n ") + row.body + "\n}");
    const Module after = test::after_passes(before, "fusion, dce");
    const int64_t steps = std::ranges::count_if(
        after[after.entry].instructions,
        [&](InstructionId id) { return !after[id].removed && after[id].op != Op::Parameter; });
    EXPECT_EQ(steps, row.steps) << row.name << print(after);
    EXPECT_EQ(test::difference_in_values(before, after, Keeps::Bits, 1, 1), "") << row.name;
  }
}

}  // namespace
}  // namespace hilo
