// Products whose left operand is made row by row, where it is multiplied.
#include <fmt/ranges.h>

#include "both.h"

namespace hilo::test {
namespace {

// A left operand of `batches`, rows and terms, made of two arrays, times a right one.
std::string product(std::string_view type, const Dims& batches, int64_t rows, int64_t terms,
                    int64_t columns) {
  Dims left = batches, line = batches, right = batches, result = batches;
  left.insert(left.end(), {rows, terms});
  line.push_back(rows);
  right.push_back(terms);
  result.push_back(rows);
  if (columns > 0) right.push_back(columns), result.push_back(columns);
  Dims batch, all;
  for (int64_t d = 0; d <= std::ssize(batches); ++d) {
    all.push_back(d);
    if (d < std::ssize(batches)) batch.push_back(d);
  }
  const auto shape = [&](const Dims& dims) {
    return fmt::format("{}[{}]", type, fmt::join(dims, ","));
  };
  const auto n = std::ssize(batches);
  return fmt::format(
      "HloModule m\nENTRY e {{\n  x = {0} parameter(0)\n  y = {1} parameter(1)\n"
      "  w = {2} parameter(2)\n  z = {0} broadcast(y), dimensions={{{3}}}\n"
      "  q = {0} subtract(x, z)\n  a = {0} abs(q)\n  s = {0} sqrt(a)\n  ROOT r = {4} dot(s, w), "
      "lhs_batch_dims={{{5}}}, rhs_batch_dims={{{5}}}, lhs_contracting_dims={{{6}}}, "
      "rhs_contracting_dims={{{7}}}\n}}\n",
      shape(left), shape(line), shape(right), fmt::join(all, ","), shape(result),
      fmt::join(batch, ","), n + 1, n);
}

TEST(FuseDotProducerRows, NothingIsStored) {
  for (std::string_view type : {"f32", "f64"})
    for (const Dims& batches : {Dims{}, Dims{3}, Dims{2, 2}})
      for (int64_t rows : {2, 63, 130})
        for (int64_t terms : {37, 300})
          for (int64_t columns : {0, 1, 3, 8}) {
            const std::string text = product(type, batches, rows, terms, columns);
            const int64_t made = rows * terms * (batches.empty() ? 1 : batches.size() == 1 ? 3 : 4);
            if (made < 1 << 14) continue;
            const auto one = run_both(text, 1, 1), three = run_both(text, 1, 3);
            expect_native(one, text, type == "f32" ? 1e-5 : 1e-13);
            ASSERT_TRUE(one && three) << text;
            EXPECT_TRUE(same_bits(one->compiled, three->compiled)) << text;
            EXPECT_LE(one->report.temp_bytes, 4096) << text;
          }
}

TEST(FuseDotProducerRows, OnLesserProcessors) {
  for (uint64_t seed : {0, 3, 6})
    for (int64_t columns : {0, 5, 8}) {
      const std::string text = product("f32", {}, 301, 129, columns);
      expect_native(run_both(text, 1, 2, processor_of(seed)), text, 1e-5);
    }
}

// What others read, too, is stored once and not made again.
TEST(FuseDotProducerRows, WhatOthersReadStays) {
  const std::string text = R"(HloModule m
ENTRY e {
  x = f32[300,200] parameter(0)
  w = f32[200,4] parameter(1)
  s = f32[300,200] sqrt(x)
  d = f32[300,4] dot(s, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = (f32[300,200], f32[300,4]) tuple(s, d)
}
)";
  expect_native(run_both(text), text, 1e-5);
}

// Distances of points, which are sums of three, and what comes of them.
TEST(FuseDotProducerRows, KernelsOfDistances) {
  for (int64_t columns : {1, 8}) {
    const std::string text = fmt::format(R"(HloModule m
add {{ a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }}
ENTRY e {{
  x = f32[400,3] parameter(0)
  y = f32[300,3] parameter(1)
  w = f32[300,{0}] parameter(2)
  p = f32[400,300,3] broadcast(x), dimensions={{0,2}}
  q = f32[400,300,3] broadcast(y), dimensions={{1,2}}
  d = f32[400,300,3] subtract(p, q)
  s = f32[400,300,3] multiply(d, d)
  z = f32[] constant(0)
  t = f32[400,300] reduce(s, z), dimensions={{2}}, to_apply=add
  n = f32[400,300] negate(t)
  k = f32[400,300] exponential(n)
  ROOT r = f32[400,{0}] dot(k, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}
)",
                                         columns);
    const auto both = run_both(text);
    expect_native(both, text, 1e-5);
    ASSERT_TRUE(both);
    EXPECT_LE(both->report.temp_bytes, 4096) << text;
  }
}

}  // namespace
}  // namespace hilo::test
