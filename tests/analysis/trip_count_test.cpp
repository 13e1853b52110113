// Trip counts of loops written for the purpose; the expected numbers are counted by hand.
#include <gtest/gtest.h>

#include "analysis/analysis.h"
#include "text/text.h"

namespace hilo {
namespace {

// A loop over (counter, limit, data): `init` and `limit` start it, `next` makes the new counter
// from %i and %one, `test` is the condition over %i and %n.
struct Loop {
  std::string type = "s32";
  std::string init = "constant(0)", limit = "constant(10)";
  std::string next = "add(i, one)", test = "compare(i, n), direction=LT";
  std::string config;
};

using Count = std::optional<int64_t> (*)(const Module&, InstructionId);

std::optional<int64_t> count(const Loop& loop, Count count_of = trip_count) {
  const std::string text = fmt::format(
      R"(HloModule m
body {{
  state = ({0}[], {0}[], f32[4]) parameter(0)
  i = {0}[] get-tuple-element(state), index=0
  n = {0}[] get-tuple-element(state), index=1
  data = f32[4] get-tuple-element(state), index=2
  one = {0}[] constant(1)
  next = {0}[] {3}
  ROOT out = ({0}[], {0}[], f32[4]) tuple(next, n, data)
}}
condition {{
  state = ({0}[], {0}[], f32[4]) parameter(0)
  i = {0}[] get-tuple-element(state), index=0
  n = {0}[] get-tuple-element(state), index=1
  three = {0}[] constant(3)
  ROOT test = pred[] {4}
}}
ENTRY e {{
  p = f32[4] parameter(0)
  q = {0}[] parameter(1)
  i = {0}[] {1}
  n = {0}[] {2}
  start = ({0}[], {0}[], f32[4]) tuple(i, n, p)
  ROOT loop = ({0}[], {0}[], f32[4]) while(start), condition=condition, body=body{5}
}}
)",
      loop.type, loop.init, loop.limit, loop.next, loop.test, loop.config);
  const Result<Module> module = parse(text);
  EXPECT_TRUE(module.has_value()) << (module ? "" : to_string(module.error()));
  return module ? count_of(*module, (*module)[module->entry].root) : std::nullopt;
}

TEST(TripCount, CountsTowardsALimit) {
  EXPECT_EQ(count({}), 10);
  EXPECT_EQ(count({.test = "compare(i, n), direction=LE"}), 11);
  EXPECT_EQ(count({.test = "compare(i, n), direction=NE"}), 10);
  EXPECT_EQ(count({.test = "compare(n, i), direction=GT"}), 10);
  EXPECT_EQ(count({.test = "compare(i, three), direction=LT"}), 3);
  EXPECT_EQ(count({.init = "constant(20)"}), 0);
  EXPECT_EQ(count({.init = "constant(-4)"}), 14);
  EXPECT_EQ(count({.test = "compare(i, n), direction=EQ"}), 0);
  EXPECT_EQ(count({.init = "constant(10)", .test = "compare(i, n), direction=EQ"}), 1);
}

TEST(TripCount, CountsInOtherSteps) {
  EXPECT_EQ(count({.next = "subtract(i, one)", .test = "compare(i, three), direction=GE"}), 0);
  EXPECT_EQ(count({.init = "constant(9)",
                   .next = "subtract(i, one)",
                   .test = "compare(i, three), direction=GT"}),
            6);
  EXPECT_EQ(
      count(
          {.init = "constant(9)", .next = "add(i, n)", .test = "compare(i, three), direction=GT"}),
      std::nullopt);
}

TEST(TripCount, UnknownWhenItNeedNotEnd) {
  EXPECT_EQ(count({.init = "copy(q)"}), std::nullopt);
  EXPECT_EQ(count({.limit = "copy(q)"}), std::nullopt);
  EXPECT_EQ(count({.next = "multiply(i, one)"}), std::nullopt);
  EXPECT_EQ(count({.next = "copy(i)"}), std::nullopt);
  EXPECT_EQ(count({.next = "subtract(i, one)"}), std::nullopt);
  EXPECT_EQ(count({.type = "s8", .limit = "constant(127)", .test = "compare(i, n), direction=LE"}),
            std::nullopt);
  EXPECT_EQ(count({.type = "u8", .limit = "constant(255)"}), 255);
}

// What a back end wrote need not be true: costs take it, values do not depend on it.
TEST(TripCount, WhatTheBackEndStatesIsNoProof) {
  const Loop unknown = {.init = "copy(q)",
                        .config = R"(, backend_config={"known_trip_count":{"n":"20"},"x":[]})"};
  EXPECT_EQ(count(unknown), std::nullopt);
  EXPECT_EQ(count(unknown, stated_trip_count), 20);
  const Loop wrong = {.config = R"(, backend_config={"known_trip_count":{"n":"3"}})"};
  EXPECT_EQ(count(wrong), 10);
  EXPECT_EQ(count(wrong, stated_trip_count), 3);
  EXPECT_EQ(count({.config = R"(, backend_config={"known_trip_count":{}})"}, stated_trip_count),
            10);
}

// A counter of a narrow type that is compared in a wide one wraps around before it gets there.
TEST(TripCount, NarrowCountersWrapAround) {
  const auto of = [](const std::string& type, const std::string& limit) {
    const Result<Module> module = parse(fmt::format(R"(HloModule m
body {{ i = {0}[] parameter(0)
  one = {0}[] constant(1)
  ROOT r = {0}[] add(i, one) }}
condition {{ i = {0}[] parameter(0)
  w = s32[] convert(i)
  limit = s32[] constant({1})
  ROOT r = pred[] compare(w, limit), direction=LT }}
ENTRY e {{ z = {0}[] constant(0)
  ROOT loop = {0}[] while(z), condition=condition, body=body }}
)",
                                                    type, limit));
    EXPECT_TRUE(module.has_value()) << (module ? "" : to_string(module.error()));
    return trip_count(*module, (*module)[module->entry].root);
  };
  EXPECT_EQ(of("s8", "100"), 100);
  EXPECT_EQ(of("s8", "127"), 127);
  EXPECT_EQ(of("s8", "128"), std::nullopt);
  EXPECT_EQ(of("u8", "255"), 255);
  EXPECT_EQ(of("u8", "300"), std::nullopt);
}

TEST(TripCount, LooksIntoFusionsAndCopies) {
  const Result<Module> module = parse(R"(HloModule m
increment { p = s64[] parameter(0)
  one = s64[] constant(2)
  ROOT r = s64[] add(p, one) }
less { p = s64[] parameter(0)
  limit = s64[] parameter(1)
  ROOT r = pred[] compare(p, limit), direction=LT }
body { i = s64[] parameter(0)
  c = s64[] copy(i)
  ROOT r = s64[] fusion(c), kind=kLoop, calls=increment }
condition { i = s64[] parameter(0)
  limit = s64[] constant(9)
  ROOT r = pred[] fusion(i, limit), kind=kLoop, calls=less }
ENTRY e { z = s64[] constant(0)
  c = s64[] copy(z)
  ROOT loop = s64[] while(c), condition=condition, body=body }
)");
  ASSERT_TRUE(module.has_value()) << to_string(module.error());
  EXPECT_EQ(trip_count(*module, (*module)[module->entry].root), 5);
}

}  // namespace
}  // namespace hilo
