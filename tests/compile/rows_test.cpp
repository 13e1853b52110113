// Fusions that work row by row, and reductions that come in two steps.
#include "both.h"

namespace hilo::test {
namespace {

const char* const reducers = R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
max { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] maximum(a, b) }
most { a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  k = s32[] parameter(3)
  g = pred[] compare(a, b), direction=GE
  v = f32[] select(g, a, b)
  w = s32[] select(g, i, k)
  ROOT t = (f32[], s32[]) tuple(v, w) }
)";

// One kernel, and equal to the evaluator's values.
void expect_one_kernel(const std::string& entry, double tolerance) {
  const auto both = run_both(std::string(reducers) + entry);
  ASSERT_TRUE(both) << to_string(both.error()) << entry;
  EXPECT_LE(largest_difference(both->compiled, both->evaluated), tolerance) << entry;
  EXPECT_TRUE(both->report.evaluated.empty()) << entry;
  EXPECT_EQ(both->report.kernels, 1) << entry;
  EXPECT_LT(both->report.temp_bytes, 4096) << entry;
}

std::string softmax(int64_t rows, int64_t columns) {
  return fmt::format(R"(ENTRY e {{
  x = f32[{0},{1}] parameter(0)
  n = f32[] constant(-inf)
  z = f32[] constant(0)
  m = f32[{0}] reduce(x, n), dimensions={{1}}, to_apply=max
  mb = f32[{0},{1}] broadcast(m), dimensions={{0}}
  d = f32[{0},{1}] subtract(x, mb)
  p = f32[{0},{1}] exponential(d)
  s = f32[{0}] reduce(p, z), dimensions={{1}}, to_apply=add
  sb = f32[{0},{1}] broadcast(s), dimensions={{0}}
  ROOT q = f32[{0},{1}] divide(p, sb) }}
)",
                     rows, columns);
}

TEST(Rows, SoftmaxIsOneKernel) {
  for (const int64_t columns : {2, 10, 64, 100, 1024})
    expect_one_kernel(softmax(columns == 1024 ? 300 : 7, columns), 1e-6);
}

// Scores of attention: softmax writes over them, whatever else is read of them row by row; not
// where another row is.
TEST(Rows, AreWrittenOverWhatTheyRead) {
  const auto temp_bytes = [](std::string_view last) {
    const std::string text = fmt::format(R"({0}ENTRY e {{
  q = f32[4,70,16] parameter(0)
  k = f32[4,70,16] parameter(1)
  n = f32[] constant(-inf)
  z = f32[] constant(0)
  g = f32[4,70,70] dot(q, k), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, lhs_contracting_dims={{2}}, rhs_contracting_dims={{2}}
  m = f32[4,70] reduce(g, n), dimensions={{2}}, to_apply=max
  mb = f32[4,70,70] broadcast(m), dimensions={{0,1}}
  d = f32[4,70,70] subtract(g, mb)
  p = f32[4,70,70] exponential(d)
  s = f32[4,70] reduce(p, z), dimensions={{2}}, to_apply=add
  sb = f32[4,70,70] broadcast(s), dimensions={{0,1}}
  a = f32[4,70,70] divide(p, sb)
  t = f32[4,70,70] transpose(g), dimensions={{0,2,1}}
  w = f32[4,70,70] {1}
  ROOT r = f32[4,70,16] dot(w, k), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}} }}
)",
                                         reducers, last);
    for (const int threads : {1, 7}) {
      const auto both = run_both(text, 1, threads);
      expect_native(both, text, 1e-6);
      if (threads == 7 && both) return both->report.temp_bytes;
    }
    return INT64_MAX;
  };
  constexpr int64_t scores = 4 * 70 * 70 * 4;  // bytes
  EXPECT_LT(temp_bytes("multiply(a, g)"), scores + scores / 2);
  EXPECT_GE(temp_bytes("multiply(a, t)"), 2 * scores);
}

// Element by element, an array of other dimensions is written over like one of the same: gradients
// of means over kept dimensions. Not where another place is read.
TEST(Rows, AreWrittenOverArraysOfOtherDimensions) {
  const auto temp_bytes = [](std::string_view read) {
    const std::string text = fmt::format(R"(HloModule m
ENTRY e {{
  q = f32[4,70,16] parameter(0)
  k = f32[4,70,16] parameter(1)
  c = f32[4,70] parameter(2)
  g = f32[4,70,70] dot(q, k), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, lhs_contracting_dims={{2}}, rhs_contracting_dims={{2}}
  t = f32[4,70,70] reverse(g), dimensions={{1}}
  h = f32[280,70] reshape({0})
  b = f32[4,70,70] broadcast(c), dimensions={{0,2}}
  i = f32[280,70] reshape(b)
  s = f32[280,70] multiply(h, i)
  w = f32[4,1,70,70] reshape(s)
  v = f32[4,1,70,70] tanh(w)
  u = f32[4,70,70] reshape(v)
  ROOT r = f32[4,70,16] dot(u, k), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}} }}
)",
                                         read);
    for (const int threads : {1, 7}) {
      const auto both = run_both(text, 1, threads);
      expect_native(both, text, 1e-6);
      if (threads == 7 && both) return both->report.temp_bytes;
    }
    return INT64_MAX;
  };
  constexpr int64_t scores = 4 * 70 * 70 * 4;  // bytes
  EXPECT_LT(temp_bytes("g"), scores + scores / 2);
  EXPECT_GE(temp_bytes("t"), 2 * scores);
}

// Rows of up to 16 steps have no loops: counted by one loop, or by one for each line of rows.
TEST(Rows, ShortRowsKeepWhatTheirStepsShare) {
  expect_one_kernel(softmax(641, 3), 1e-6);
  expect_one_kernel(softmax(641, 5), 1e-6);
  expect_one_kernel(R"(ENTRY e {
  x = f32[17,16,3] parameter(0)
  y = f32[17,3] parameter(1)
  yb = f32[17,16,3] broadcast(y), dimensions={0,2}
  d = f32[17,16,3] divide(x, yb)
  q = f32[17,16,3] multiply(d, d)
  z = f32[] constant(0)
  s = f32[17,16] reduce(q, z), dimensions={2}, to_apply=add
  r = f32[17,16] rsqrt(s)
  rb = f32[17,16,3] broadcast(r), dimensions={0,1}
  ROOT o = f32[17,16,3] multiply(d, rb) }
)",
                    1e-5);
}

TEST(Rows, ThreadsDoNotChangeBits) {
  const std::string text = std::string(reducers) + softmax(700, 1000);
  const auto one = run_both(text, 3, 1), five = run_both(text, 3, 5);
  ASSERT_TRUE(one && five);
  EXPECT_TRUE(same_bits(one->compiled, five->compiled));
}

// What is left of several rows is combined in vectors of them all, of every type; what is made of
// it waits for one reduction or for another.
TEST(Rows, NumbersOfSeveralRowsAreLanes) {
  for (const auto& [rows, columns] : {std::pair(1024, 24), std::pair(1024, 100), std::pair(516, 40),
                                      std::pair(1040, 7), std::pair(4096, 33)}) {
    const std::string text = std::string(reducers) + fmt::format(R"(
sum {{ a = f64[] parameter(0)
  b = f64[] parameter(1)
  ROOT r = f64[] add(a, b) }}
least {{ a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] minimum(a, b) }}
any {{ a = pred[] parameter(0)
  b = pred[] parameter(1)
  ROOT r = pred[] or(a, b) }}
greatest {{ a = f16[] parameter(0)
  b = f16[] parameter(1)
  ROOT r = f16[] maximum(a, b) }}
ENTRY e {{
  x = f64[{0},{1}] parameter(0)
  y = f16[{0},{1}] parameter(1)
  w = f32[{0}] parameter(2)
  z = f64[] constant(1.5)
  zero = f32[] constant(0)
  most = s32[] constant(1000000)
  no = pred[] constant(false)
  low = f16[] constant(-inf)
  thousand = f64[] constant(1000)
  thousands = f64[{0},{1}] broadcast(thousand), dimensions={{}}
  scaled = f64[{0},{1}] multiply(x, thousands)
  i = s32[{0},{1}] convert(scaled)
  far = f64[{0},{1}] broadcast(z), dimensions={{}}
  p = pred[{0},{1}] compare(x, far), direction=GT
  s = f64[{0}] reduce(x, z), dimensions={{1}}, to_apply=sum
  l = s32[{0}] reduce(i, most), dimensions={{1}}, to_apply=least
  a = pred[{0}] reduce(p, no), dimensions={{1}}, to_apply=any
  g = f16[{0}] reduce(y, low), dimensions={{1}}, to_apply=greatest
  gb = f16[{0},{1}] broadcast(g), dimensions={{0}}
  d = f16[{0},{1}] subtract(y, gb)
  q = f32[{0},{1}] convert(d)
  e = f32[{0},{1}] exponential(q)
  t = f32[{0}] reduce(e, zero), dimensions={{1}}, to_apply=add
  u = f32[{0}] log(t)
  v = f32[{0}] multiply(u, w)
  narrow = f32[{0}] convert(s)
  n = f32[{0}] add(narrow, v)
  m = f16[{0}] convert(n)
  mb = f16[{0},{1}] broadcast(m), dimensions={{0}}
  o = f16[{0},{1}] multiply(d, mb)
  ROOT r = (f16[{0},{1}], f64[{0}], s32[{0}], pred[{0}], f32[{0}]) tuple(o, s, l, a, v) }}
)",
                                                                 rows, columns);
    expect_native_on_threads(text, 1e-2);
  }
}

// Rows whose steps are done in turn, 8 or 4 together or each alone, by shape: numbers of several
// reductions of a row, of f32, s32 and bf16, a kept array, and results of a row and of numbers.
TEST(Rows, StepsOfSeveralRowsInTurn) {
  for (const auto& [rows, columns] :
       {std::pair(512, 50), std::pair(516, 37), std::pair(513, 40), std::pair(520, 128),
        std::pair(2048, 17), std::pair(512, 70), std::pair(256, 200), std::pair(1024, 10),
        std::pair(1024, 6), std::pair(1024, 128)}) {
    const std::string text = std::string(reducers) + fmt::format(R"(ENTRY e {{
  x = bf16[{0},{1}] parameter(0)
  y = f32[{0},{1}] parameter(1)
  n = f32[] constant(-inf)
  z = f32[] constant(0)
  none = s32[] constant(-1)
  places = s32[{0},{1}] iota(), iota_dimension=1
  w = f32[{0},{1}] convert(x)
  v = f32[{0},{1}] add(w, y)
  best = (f32[{0}], s32[{0}]) reduce(v, places, n, none), dimensions={{1}}, to_apply=most
  m = f32[{0}] get-tuple-element(best), index=0
  i = s32[{0}] get-tuple-element(best), index=1
  mb = f32[{0},{1}] broadcast(m), dimensions={{0}}
  d = f32[{0},{1}] subtract(v, mb)
  p = f32[{0},{1}] exponential(d)
  s = f32[{0}] reduce(p, z), dimensions={{1}}, to_apply=add
  l = f32[{0}] log(s)
  t = f32[{0}] add(l, m)
  h = bf16[{0}] convert(s)
  hb = bf16[{0},{1}] broadcast(h), dimensions={{0}}
  q = bf16[{0},{1}] convert(p)
  a = bf16[{0},{1}] divide(q, hb)
  ROOT r = (bf16[{0},{1}], f32[{0}], s32[{0}]) tuple(a, t, i) }}
)",
                                                                 rows, columns);
    expect_native_on_threads(text, 1e-2);
  }
  for (const auto& [rows, columns] : {std::pair(512, 50), std::pair(516, 37), std::pair(512, 128)})
    expect_one_kernel(softmax(rows, columns), 1e-6);
}

TEST(Rows, ScaledAndMovedRowsOfSeveralDimensions) {
  expect_one_kernel(R"(ENTRY e {
  x = bf16[4,3,5,40] parameter(0)
  w = f32[5,40] parameter(1)
  y = f32[4,3,5,40] parameter(2)
  f = f32[4,3,5,40] convert(x)
  g = f32[4,3,5,40] multiply(f, f)
  z = f32[] constant(0)
  s = f32[4,3] reduce(g, z), dimensions={2,3}, to_apply=add
  c = f32[] constant(0.005)
  cb = f32[4,3] broadcast(c), dimensions={}
  m = f32[4,3] multiply(s, cb)
  e = f32[4,3] add(m, cb)
  r = f32[4,3] rsqrt(e)
  rb = f32[4,3,5,40] broadcast(r), dimensions={0,1}
  o = f32[4,3,5,40] multiply(f, rb)
  wb = f32[4,3,5,40] broadcast(w), dimensions={2,3}
  v = f32[4,3,5,40] multiply(o, wb)
  ROOT a = f32[4,3,5,40] add(v, y) }
)",
                    1e-6);
}

TEST(Rows, OneRowIsEverything) {
  expect_one_kernel(R"(ENTRY e {
  x = f32[12,30] parameter(0)
  g = f32[12,30] multiply(x, x)
  z = f32[] constant(0)
  s = f32[] reduce(g, z), dimensions={0,1}, to_apply=add
  r = f32[] sqrt(s)
  rb = f32[12,30] broadcast(r), dimensions={}
  ROOT o = f32[12,30] divide(x, rb) }
)",
                    1e-6);
}

TEST(Rows, SeveralResultsOfOneArray) {
  expect_one_kernel(R"(ENTRY e {
  x = f32[50,130] parameter(0)
  n = f32[] constant(-inf)
  z = s32[] constant(0)
  m = f32[50] reduce(x, n), dimensions={1}, to_apply=max
  i = s32[50,130] iota(), iota_dimension=1
  p = (f32[50], s32[50]) reduce(x, i, n, z), dimensions={1}, to_apply=most
  w = s32[50] get-tuple-element(p), index=1
  ROOT t = (f32[50], s32[50]) tuple(m, w) }
)",
                    0);
}

// Of two arrays that are reduced together, one is read.
TEST(Rows, WhatNobodyReadsIsNotStored) {
  for (const int64_t columns : {30, 130}) {
    const auto both = run_both(fmt::format(R"({}ENTRY e {{
  x = f32[50,{}] parameter(0)
  n = f32[] constant(-inf)
  z = s32[] constant(0)
  i = s32[50,{}] iota(), iota_dimension=1
  p = (f32[50], s32[50]) reduce(x, i, n, z), dimensions={{1}}, to_apply=most
  ROOT w = s32[50] get-tuple-element(p), index=1 }}
)",
                                           reducers, columns, columns));
    ASSERT_TRUE(both) << to_string(both.error());
    EXPECT_TRUE(same_bits(both->compiled, both->evaluated));
    EXPECT_EQ(both->report.temp_bytes, 0);
  }
}

// The nearest of some points: distances are summed where the minimum is taken.
TEST(Rows, SumsOfAFewElementsAreNotStored) {
  const auto both = run_both(std::string(reducers) + R"(ENTRY e {
  x = f32[40,3] parameter(0)
  y = f32[70,3] parameter(1)
  a = f32[40,70,3] broadcast(x), dimensions={0,2}
  b = f32[40,70,3] broadcast(y), dimensions={1,2}
  d = f32[40,70,3] subtract(a, b)
  q = f32[40,70,3] multiply(d, d)
  z = f32[] constant(0.25)
  s = f32[40,70] reduce(q, z), dimensions={2}, to_apply=add
  e = f32[40,70] sqrt(s)
  n = f32[] constant(-inf)
  ROOT r = f32[40] reduce(e, n), dimensions={1}, to_apply=max }
)");
  ASSERT_TRUE(both) << to_string(both.error());
  EXPECT_LE(largest_difference(both->compiled, both->evaluated), 1e-6);
  EXPECT_EQ(both->report.kernels, 1);
  EXPECT_EQ(both->report.temp_bytes, 0);
}

// The place of the largest element, as JAX writes it: the first one, and the first NaN.
TEST(Rows, PlacesOfLargestElements) {
  const std::string text = R"(HloModule m
largest { a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  k = s32[] parameter(3)
  g = pred[] compare(a, b), direction=GT
  n = pred[] compare(a, a), direction=NE
  p = pred[] or(g, n)
  e = pred[] compare(a, b), direction=EQ
  l = pred[] compare(i, k), direction=LT
  m = pred[] and(e, l)
  q = pred[] or(p, m)
  v = f32[] select(p, a, b)
  w = s32[] select(q, i, k)
  ROOT t = (f32[], s32[]) tuple(v, w) }
ENTRY e {
  x = f32[40,300] parameter(0)
  zero = f32[] constant(0)
  zeros = f32[40,300] broadcast(zero), dimensions={}
  r = s32[40,300] iota(), iota_dimension=0
  c = s32[40,300] iota(), iota_dimension=1
  s = s32[40,300] add(r, c)
  five = s32[] constant(5)
  fives = s32[40,300] broadcast(five), dimensions={}
  u = s32[40,300] multiply(r, fives)
  y = pred[40,300] compare(u, s), direction=EQ
  d = f32[40,300] divide(zeros, zeros)
  o = f32[40,300] select(y, d, x)
  n = f32[] constant(-inf)
  f = s32[] constant(0)
  ROOT p = (f32[40], s32[40]) reduce(o, c, n, f), dimensions={1}, to_apply=largest }
)";
  expect_native(text);
}

// A fusion as others make them, which reads a reduction at other rows than its own.
TEST(Rows, AnotherRowIsNotTheOneAtHand) {
  expect_native(std::string(reducers) + R"(
f { x = f32[4,4] parameter(0)
  z = f32[] constant(0)
  s = f32[4] reduce(x, z), dimensions={1}, to_apply=add
  b = f32[4,4] broadcast(s), dimensions={1}
  r = f32[4] reverse(s), dimensions={0}
  c = f32[4,4] broadcast(r), dimensions={0}
  d = f32[4,4] add(b, c)
  ROOT o = f32[4,4] divide(d, x) }
ENTRY e {
  x = f32[4,4] parameter(0)
  y = f32[4,4] exponential(x)
  ROOT o = f32[4,4] fusion(y), kind=kInput, calls=f }
)",
                1e-6);
}

TEST(Rows, LongReductionsHaveTheSameBitsForAnyThreads) {
  const std::string text = std::string(reducers) + R"(ENTRY e {
  x = f32[1000003] parameter(0)
  y = f32[70000,40] parameter(1)
  z = f32[] constant(0)
  n = f32[] constant(-inf)
  a = f32[] reduce(x, z), dimensions={0}, to_apply=add
  b = f32[40] reduce(y, z), dimensions={0}, to_apply=add
  c = f32[] reduce(y, n), dimensions={0,1}, to_apply=max
  ROOT t = (f32[], f32[40], f32[]) tuple(a, b, c) }
)";
  const auto one = run_both(text, 3, 1), five = run_both(text, 3, 5);
  ASSERT_TRUE(one && five);
  EXPECT_TRUE(same_bits(one->compiled, five->compiled));
  EXPECT_LE(largest_difference(one->compiled, one->evaluated), 1e-5);
}

// Few elements in the last dimension: one line of them, lines of lines, and a number of rows that
// is no multiple of vectors; read across, spread and turned round.
TEST(Rows, ArraysOfShortRowsAreLanes) {
  for (const int64_t n : {1, 9, 64, 131})
    for (const int64_t width : {2, 3, 8, 9, 16}) {
      const auto both = run_both(std::string(reducers) + fmt::format(R"(ENTRY e {{
  x = f32[{1},{0}] parameter(0)
  y = f32[20,{1}] parameter(1)
  t = f32[{0},{1}] transpose(x), dimensions={{1,0}}
  xb = f32[20,{0},{1}] broadcast(t), dimensions={{1,2}}
  yb = f32[20,{0},{1}] broadcast(y), dimensions={{0,2}}
  d = f32[20,{0},{1}] subtract(xb, yb)
  q = f32[20,{0},{1}] multiply(d, d)
  z = f32[] constant(0)
  zi = s32[] constant(0)
  i = s32[20,{0},{1}] iota(), iota_dimension=2
  s = f32[20,{0}] reduce(q, z), dimensions={{2}}, to_apply=add
  m = (f32[20,{0}], s32[20,{0}]) reduce(d, i, z, zi), dimensions={{2}}, to_apply=most
  ROOT r = tuple(t, d, s, m) }}
)",
                                                                     n, width));
      ASSERT_TRUE(both) << to_string(both.error());
      EXPECT_LE(largest_difference(both->compiled, both->evaluated), 1e-5) << n << " " << width;
    }
}

// Differences of points: sums over their coordinates, functions of these, and sums over points.
TEST(Rows, ShortRowsAreLanes) {
  const std::string text = std::string(reducers) + R"(ENTRY e {
  x = f32[40,3] parameter(0)
  y = f32[50,3] parameter(1)
  a = f32[40,50,3] broadcast(x), dimensions={0,2}
  b = f32[40,50,3] broadcast(y), dimensions={1,2}
  d = f32[40,50,3] subtract(a, b)
  q = f32[40,50,3] multiply(d, d)
  z = f32[] constant(0)
  s = f32[40,50] reduce(q, z), dimensions={2}, to_apply=add
  e = f32[40,50] exponential(s)
  t = f32[40,3] reduce(d, z), dimensions={1}, to_apply=add
  ROOT r = (f32[40,50], f32[40,3]) tuple(e, t) })";
  const auto one = run_both(text, 3, 1), five = run_both(text, 3, 5);
  ASSERT_TRUE(one && five);
  EXPECT_LE(largest_difference(one->compiled, one->evaluated), 1e-5);
  EXPECT_TRUE(same_bits(one->compiled, five->compiled));
  EXPECT_EQ(one->report.temp_bytes, 0);
}

// The product stands beside another result of the same loop, and is not stored for the sum.
TEST(Rows, WhatIsMadeAgainNeedsNoMemory) {
  const auto both = run_both(std::string(reducers) + R"(ENTRY e {
  x = f32[40,50] parameter(0)
  y = f32[40,50] parameter(1)
  m = f32[40,50] multiply(x, y)
  e = f32[40,50] exponential(m)
  z = f32[] constant(0)
  t = f32[50] reduce(m, z), dimensions={0}, to_apply=add
  ROOT r = (f32[40,50], f32[50]) tuple(e, t) })");
  ASSERT_TRUE(both);
  EXPECT_LE(largest_difference(both->compiled, both->evaluated), 1e-5);
  EXPECT_EQ(both->report.temp_bytes, 0);
}

// Differences of bf16 are computed once and kept as f32, in rows that are longer as bf16. Sums of
// these numbers are exact.
TEST(Rows, DifferencesOfNarrowFloatsAreKept) {
  for (const std::string_view type : {"bf16", "f16"})
    for (const auto& [rows, columns] : {std::pair{5, 64}, {300, 256}, {7, 1024}, {3, 1 << 16}}) {
      const std::string text =
          std::string(reducers) + fmt::format(R"(ENTRY e {{
  x = {0}[{1},{2}] parameter(0)
  w = f32[{1},{2}] convert(x)
  z = f32[] constant(0)
  s = f32[{1}] reduce(w, z), dimensions={{1}}, to_apply=add
  n = f32[] constant({3})
  nb = f32[{1}] broadcast(n), dimensions={{}}
  m = f32[{1}] multiply(s, nb)
  h = {0}[{1}] convert(m)
  hb = {0}[{1},{2}] broadcast(h), dimensions={{0}}
  d = {0}[{1},{2}] subtract(x, hb)
  q = {0}[{1},{2}] multiply(d, d)
  qw = f32[{1},{2}] convert(q)
  v = f32[{1}] reduce(qw, z), dimensions={{1}}, to_apply=max
  vh = {0}[{1}] convert(v)
  vb = {0}[{1},{2}] broadcast(vh), dimensions={{0}}
  f = {0}[{1},{2}] negate(d)
  ROOT e = {0}[{1},{2}] divide(f, vb) }}
)",
                                              type, rows, columns, 1.0 / columns);
      for (const std::string processor : {"native", "x86-64"}) {
        const auto both = run_both(text, 1, 1, processor);
        expect_native(both, text);
        ASSERT_TRUE(both);
        EXPECT_EQ(both->report.kernels, 1) << text;
      }
    }
}

// What is not a number keeps its rows from being numbers, whatever its bits are.
TEST(Rows, DifferencesOfNarrowFloatsThatAreNoNumbers) {
  const std::string text = std::string(reducers) + R"(ENTRY e {
  x = bf16[4,64] parameter(0)
  c = bf16[] constant(1)
  cb = bf16[4,64] broadcast(c), dimensions={}
  d = bf16[4,64] subtract(x, cb)
  w = f32[4,64] convert(d)
  n = f32[] constant(-inf)
  m = f32[4] reduce(w, n), dimensions={1}, to_apply=max
  h = bf16[4] convert(m)
  hb = bf16[4,64] broadcast(h), dimensions={0}
  ROOT e = bf16[4,64] subtract(d, hb) })";
  Literal x = Literal::uninitialized(Shape::array(ElementType::BF16, {4, 64}));
  const auto elements = x.mutable_data<BF16>();
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = BF16(static_cast<float>(i) / 4);
  elements[3] = BF16(HUGE_VALF), elements[70] = BF16(-HUGE_VALF);
  elements[130] = BF16::from_bits(0x7f81), elements[200] = BF16::from_bits(0xffff);
  const auto both = run_both_on(text, {x});
  expect_native(both, text);
}

// A mask of windows, added where images are a dimension of their own: the same rows, numbered in
// other dimensions.
TEST(Rows, NumberedInOtherDimensions) {
  expect_one_kernel(R"(ENTRY e {
  x = f32[12,3,49,49] parameter(0)
  m = f32[6,49,49] parameter(1)
  s = f32[2,6,3,49,49] reshape(x)
  b = f32[2,6,3,49,49] broadcast(m), dimensions={1,3,4}
  a = f32[2,6,3,49,49] add(s, b)
  w = f32[12,3,49,49] reshape(a)
  i = f32[] constant(-inf)
  t = f32[12,3,49] reduce(w, i), dimensions={3}, to_apply=max
  u = f32[12,3,49,49] broadcast(t), dimensions={0,1,2}
  d = f32[12,3,49,49] subtract(w, u)
  ROOT r = f32[12,3,49,49] exponential(d)
}
)",
                    1e-6);
  expect_one_kernel(R"(ENTRY e {
  x = f32[36,5,10] parameter(0)
  m = f32[6,5,10] parameter(1)
  s = f32[2,6,3,5,10] reshape(x)
  b = f32[2,6,3,5,10] broadcast(m), dimensions={1,3,4}
  a = f32[2,6,3,5,10] multiply(s, b)
  w = f32[36,5,10] reshape(a)
  z = f32[] constant(0)
  t = f32[36] reduce(w, z), dimensions={1,2}, to_apply=add
  u = f32[36,5,10] broadcast(t), dimensions={0}
  ROOT r = f32[36,5,10] subtract(w, u)
}
)",
                    1e-5);
}

}  // namespace
}  // namespace hilo::test
