// Work of instructions, and how long it takes: each rate bounds where it should, estimates grow
// with work, and nothing overflows.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "analysis/analysis.h"
#include "parsed.h"

namespace hilo {
namespace {

const Machine& chip() { return find_cpu("znver3"); }

Machine with_cores(int64_t count) {
  Machine out = chip();
  out.cores.count = count;
  return out;
}

TEST(Estimate, EachKindOfWorkIsBoundByItsRate) {
  const Machine one = with_cores(1);
  const Cores& cores = one.cores;
  const auto expect = [&](const Work& work, double seconds, Bound bound) {
    const Estimate found = estimate(work, one);
    EXPECT_NEAR(found.seconds, seconds, 1e-9 * seconds) << text_of(bound);
    EXPECT_EQ(found.bound, bound) << text_of(found.bound);
  };
  expect({.operations = {1e6, 0}}, 1e6 / cores.multiply_adds.f32, Bound::Arithmetic);
  expect({.multiply_adds = {0, 1e6}}, 1e6 / cores.multiply_adds.f64, Bound::Arithmetic);
  expect({.divisions = {1e6, 0}}, 1e6 / cores.divisions.f32, Bound::Divisions);
  expect({.square_roots = {1e6, 0}}, 1e6 / cores.square_roots.f32, Bound::SquareRoots);
  expect({.transcendentals = {1e6, 0}}, 1e6 / cores.transcendentals.f32, Bound::Transcendentals);
  expect({.gathers = 1e6}, 1e6 / cores.gathers, Bound::Gathers);
  expect({.kernels = 3}, 3 * cores.kernel_seconds, Bound::Start);
  expect({}, 0, Bound::Nothing);
}

TEST(Estimate, BytesComeFromTheFirstCacheThatHoldsThem) {
  const Machine eight = with_cores(8), one = with_cores(1);
  const auto bound = [&](double distance, const Machine& machine) {
    return estimate({.accesses = {{1e3, distance, false}}}, machine).bound;
  };
  EXPECT_EQ(bound(32 << 10, eight), Bound::FirstCache);
  EXPECT_EQ(bound((32 << 10) + 1, eight), Bound::SecondCache);
  EXPECT_EQ(bound(1 << 20, eight), Bound::ThirdCache);
  EXPECT_EQ(bound(1e9, eight), Bound::Memory);
  EXPECT_EQ(bound(std::numeric_limits<double>::infinity(), eight), Bound::Memory);
  // Seven cores that are not this machine's have their part of the third cache.
  EXPECT_EQ(bound(31 << 20, eight), Bound::ThirdCache);
  EXPECT_EQ(bound(31 << 20, one), Bound::Memory);
}

TEST(Estimate, LinesThatNothingFetchesAheadAreWaitedFor) {
  const Machine one = with_cores(1);
  for (const auto& [distance, level] : {std::pair{1e5, size_t{1}}, {1e6, 2}, {1e9, 3}}) {
    const Access in_order = {6400, distance, false};
    Access apart = in_order;
    apart.waits = 100;
    EXPECT_NEAR(estimate({.accesses = {apart}}, one).seconds,
                estimate({.accesses = {in_order}}, one).seconds + 100 * Cores::line_seconds[level],
                1e-15);
  }
}

// A way of Zen 3's second cache is 64 KB: of lines 16 KB apart it holds four in each way.
TEST(Estimate, LinesAPowerOfTwoApartShareFewSets) {
  const Machine eight = with_cores(8);
  const auto& [first, second, third] = eight.cores.caches;
  EXPECT_EQ(held_bytes(second, eight.cores, 16 << 10), 4 * 8 * 64);
  for (int64_t stride : {0, 40, 64, 192, (16 << 10) + 64})
    EXPECT_EQ(held_bytes(second, eight.cores, stride), 512 << 10) << stride;
  EXPECT_EQ(held_bytes(first, eight.cores, 4096), 8 * 64);
  EXPECT_EQ(held_bytes(third, eight.cores, 16 << 10), 32 << 20);
  const Access lines = {64e3, 64e3, false, 0, 16 << 10};
  EXPECT_EQ(estimate({.accesses = {lines}}, eight).bound, Bound::ThirdCache);
}

TEST(Estimate, ThreadsShareWhatIsWorthHandingOver) {
  const Machine eight = with_cores(8);
  EXPECT_EQ(estimate({.operations = {1e3, 0}}, eight).threads, 1);
  const Work large = {.operations = {1e9, 0}};
  const Estimate found = estimate(large, eight);
  EXPECT_EQ(found.threads, 8);
  EXPECT_NEAR(found.seconds, estimate(large, with_cores(1)).seconds / 8, 1e-5);
}

TEST(Estimate, KnowsWhatOneThreadTakes) {
  const Work large = {.operations = {1e9, 0}};
  EXPECT_EQ(estimate(large, with_cores(8)).serial_seconds, estimate(large, with_cores(1)).seconds);
}

TEST(Estimate, ChipsThatAreKnownByTheirPeaksHaveARoofline) {
  const Machine& v5e = *find_machine("v5e");
  const Cost cost = {.flops = 197e12, .bytes_read = 1, .bytes_written = 1};
  EXPECT_DOUBLE_EQ(estimate(work_of(cost), v5e).seconds, 1);
  EXPECT_EQ(estimate(work_of(cost), v5e).bound, Bound::Arithmetic);
  EXPECT_DOUBLE_EQ(estimate(work_of({.bytes_read = 819e9}), v5e).seconds, 1);
  EXPECT_EQ(estimate(work_of(cost), *find_machine("cpu")).bound, Bound::Unknown);
}

TEST(Estimate, SaturatesAndIsNeverNaN) {
  constexpr double huge = std::numeric_limits<double>::infinity();
  for (double amount : {huge, std::numeric_limits<double>::max(), -1.0, std::nan("")})
    for (double rate : {0.0, huge, 1e-300, -1.0, std::nan("")}) {
      Machine machine = chip();
      machine.cores.multiply_adds = machine.cores.divisions = {rate, rate};
      machine.cores.caches.fill({1 << 10, 8, 1, rate});
      machine.cores.bytes_per_second = machine.cores.thread_seconds = rate;
      machine.cores.kernel_seconds = rate;
      Work work = {.operations = {amount, amount},
                   .multiply_adds = {amount, amount},
                   .divisions = {amount, amount},
                   .gathers = amount};
      work.accesses = {{amount, amount, false}, {amount, 0, true}};
      work.kernels = amount;
      const Estimate found = estimate(work, machine);
      EXPECT_TRUE(std::isfinite(found.seconds) && found.seconds >= 0) << amount << " " << rate;
    }
}

Work work_named(const Module& module, std::string_view name) {
  const std::vector<Work> works = count_work(module);
  for (uint32_t i = 0; i < works.size(); ++i)
    if (module[InstructionId{i}].name == name) return works[i];
  ADD_FAILURE() << name;
  return {};
}

TEST(Work, KindsOfArithmetic) {
  const testing_analysis::Parsed parsed(R"(HloModule m
fused {
  p = f32[64] parameter(0)
  e = f32[64] exponential(p)
  r = f32[64] sqrt(e)
  s = f32[8] slice(r), slice={[0:8]}
  ROOT d = f32[8] divide(s, s)
}
ENTRY main {
  x = f32[64] parameter(0)
  f = f32[8] fusion(x), kind=kLoop, calls=fused
  y = f64[8] convert(f)
  z = f64[8] multiply(y, y)
  m = f32[4,2] reshape(f)
  ROOT q = f32[4,4] dot(m, m), lhs_contracting_dims={1}, rhs_contracting_dims={1}
})");
  const Module& module = parsed.module;
  const Work fusion = work_named(module, "f");
  EXPECT_EQ(fusion.transcendentals.f32, 8);  // a slice of the fused value is wanted
  EXPECT_EQ(fusion.square_roots.f32, 8);
  EXPECT_EQ(fusion.divisions.f32, 8);
  EXPECT_EQ(work_named(module, "z").operations.f64, 8);
  EXPECT_EQ(work_named(module, "q").multiply_adds.f32, 32);
}

TEST(Work, ReductionsNeedAllAndRunningWindowsCombineEachElementOnce) {
  const auto work_of_reduction = [](std::string_view result, std::string_view reduction) {
    const testing_analysis::Parsed parsed(fmt::format(R"(HloModule m
sum {{ a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }}
fused {{ x = f32[4,8] parameter(0)
  zero = f32[] constant(0)
  t = f32[4,8] tanh(x)
  ROOT o = {0} {1}, to_apply=sum }}
ENTRY main {{ x = f32[4,8] parameter(0)
  ROOT r = {0} fusion(x), kind=kLoop, calls=fused }}
)",
                                                      result, reduction));
    return work_named(parsed.module, "r");
  };
  const Work rows = work_of_reduction("f32[4]", "reduce(t, zero), dimensions={1}");
  EXPECT_EQ(rows.transcendentals.f32, 32);
  EXPECT_EQ(rows.operations.f32, 28);
  const auto windows = [&](std::string_view result, std::string_view window) {
    return work_of_reduction(result, fmt::format("reduce-window(t, zero), window={{{}}}", window))
        .operations.f32;
  };
  EXPECT_EQ(windows("f32[4,8]", "size=1x8 pad=0_0x7_0"), 32);  // not seven for each
  EXPECT_EQ(windows("f32[4,8]", "size=1x8 pad=0_0x0_7"), 32);
  EXPECT_EQ(windows("f32[4,6]", "size=1x3"), 2 * 24);
}

TEST(Work, DistancesTellWhatWasTouchedBetween) {
  const testing_analysis::Parsed parsed(R"(HloModule m
ENTRY main {
  x = f32[1024] parameter(0)
  a = f32[1024] negate(x)
  b = f32[1024] cosine(a)
  c = f32[1024] add(b, a)
  ROOT d = f32[1024] multiply(c, x)
})");
  const auto distances = [&](std::string_view name) {
    std::vector<double> out;
    for (const Access& access : work_named(parsed.module, name).accesses)
      out.push_back(access.distance / 4096);
    return out;
  };
  EXPECT_EQ(distances("a"), (std::vector<double>{5, 5}));     // a second run finds what is left
  EXPECT_EQ(distances("b"), (std::vector<double>{2, 2}));     // x, a
  EXPECT_EQ(distances("c"), (std::vector<double>{2, 2, 3}));  // b was just written
}

}  // namespace
}  // namespace hilo
