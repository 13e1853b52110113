// Reductions that leave the innermost dimension, several lines of which are combined in one go.
#include "both.h"

namespace hilo::test {
namespace {

constexpr std::string_view combiners = R"(
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
add_bf16 { a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT s = bf16[] add(a, b) }
least { v = s32[] parameter(0)
  i = s32[] parameter(1)
  w = s32[] parameter(2)
  j = s32[] parameter(3)
  p = pred[] compare(v, w), direction=LE
  m = s32[] select(p, v, w)
  k = s32[] select(p, i, j)
  ROOT t = (s32[], s32[]) tuple(m, k) }
)";

// Of lines that are one stream and of lines that are not: sums of f32, of squares of bf16 and the
// least of s32 with its line, over the first dimension and over the first two.
std::string columns(int64_t lines) {
  return fmt::format(R"(HloModule m
{1}
ENTRY e {{
  x = f32[{0},3,70] parameter(0)
  h = bf16[{0},3,70] parameter(1)
  n = s32[{0},3,70] parameter(2)
  zero = f32[] constant(0.5)
  half = bf16[] constant(0.5)
  most = s32[] constant(100)
  none = s32[] constant(-1)
  places = s32[{0},3,70] iota(), iota_dimension=0
  square = bf16[{0},3,70] multiply(h, h)
  p = f32[3,70] reduce(x, zero), dimensions={{0}}, to_apply=add
  q = f32[70] reduce(x, zero), dimensions={{0,1}}, to_apply=add
  r = bf16[3,70] reduce(square, half), dimensions={{0}}, to_apply=add_bf16
  s = (s32[3,70], s32[3,70]) reduce(n, places, most, none), dimensions={{0}}, to_apply=least
  ROOT t = (f32[3,70], f32[70], bf16[3,70], (s32[3,70], s32[3,70])) tuple(p, q, r, s) }}
)",
                     lines, combiners);
}

TEST(Reduce, LinesInAnyNumber) {
  for (int64_t lines : {1, 2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 19, 24, 35}) {
    const auto both = run_both(columns(lines), static_cast<uint64_t>(lines));
    ASSERT_TRUE(both) << to_string(both.error());
    EXPECT_TRUE(both->report.evaluated.empty());
    EXPECT_LE(largest_difference(both->compiled, both->evaluated), 1e-6) << lines;
  }
}

// Rows that are turned, padded and joined on the way: their sums, their largest elements with the
// places of these, and the same of columns.
std::string of_several_places(int64_t size) {
  return fmt::format(R"(HloModule m
{1}
ENTRY e {{
  x = f32[9,{0}] parameter(0)
  n = s32[9,{0}] parameter(1)
  zero = f32[] constant(0.5)
  most = s32[] constant(100)
  none = s32[] constant(-1)
  back = f32[9,3] slice(x), slice={{[0:9], [{2}:{0}]}}
  front = f32[9,{2}] slice(x), slice={{[0:9], [0:{2}]}}
  turned = f32[9,{0}] concatenate(back, front), dimensions={{1}}
  wide = f32[9,{3}] pad(turned, zero), padding=0_0x2_5
  first = s32[9,1] slice(n), slice={{[0:9], [0:1]}}
  doubled = s32[9,{0}] add(n, n)
  joined = s32[9,{4}] concatenate(first, doubled, n), dimensions={{1}}
  places = s32[9,{4}] iota(), iota_dimension=1
  lines = s32[9,{4}] iota(), iota_dimension=0
  p = f32[9] reduce(wide, zero), dimensions={{1}}, to_apply=add
  q = f32[{3}] reduce(wide, zero), dimensions={{0}}, to_apply=add
  r = (s32[9], s32[9]) reduce(joined, places, most, none), dimensions={{1}}, to_apply=least
  s = (s32[{4}], s32[{4}]) reduce(joined, lines, most, none), dimensions={{0}}, to_apply=least
  ROOT t = (f32[9], f32[{3}], (s32[9], s32[9]), (s32[{4}], s32[{4}])) tuple(p, q, r, s) }}
)",
                     size, combiners, size - 3, size + 7, 2 * size + 1);
}

TEST(Reduce, OfSeveralPlaces) {
  for (int64_t size : {5, 17, 25, 26, 32, 33, 57, 61, 64, 100, 121, 128, 200, 259, 1030, 2050}) {
    const auto both = run_both(of_several_places(size), static_cast<uint64_t>(size));
    ASSERT_TRUE(both) << to_string(both.error());
    EXPECT_TRUE(both->report.evaluated.empty());
    EXPECT_LE(largest_difference(both->compiled, both->evaluated), 1e-6) << size;
  }
}

// Rows whose NaN, in turn none, one in each place and all, is all that they give; infinities.
template <class T>
void expect_extrema(ElementType type, int64_t columns) {
  const int64_t rows = columns + 3;
  Literal x = Literal::uninitialized(Shape::array(type, {rows, columns}));
  std::mt19937 random(1);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = 0; k < columns; ++k) {
      const bool is_nan = i == k || i == columns + 1;
      const float number = i == columns + 2 ? -HUGE_VALF : static_cast<float>(random() % 200) - 100;
      x.mutable_data<T>()[i * columns + k] = T(is_nan ? NAN : number);
    }
  for (const std::string_view op : {"maximum", "minimum"}) {
    const std::string element(text_of(type));
    const auto both = run_both_on(
        fmt::format(
            "HloModule m\nc {{ a = {0}[] parameter(0)\n b = {0}[] parameter(1)\n"
            " ROOT s = {0}[] {1}(a, b) }}\nENTRY e {{\n  x = {0}[{2},{3}] parameter(0)\n"
            "  z = {0}[] constant({4})\n  ROOT r = {0}[{2}] reduce(x, z), dimensions={{1}}, "
            "to_apply=c\n}}\n",
            element, op, rows, columns, op == "maximum" ? "-inf" : "inf"),
        {x});
    ASSERT_TRUE(both) << to_string(both.error());
    for (int64_t i = 0; i < rows; ++i) {
      const double found = both->compiled.number_at(i), expected = both->evaluated.number_at(i);
      EXPECT_EQ(std::isnan(expected), i < columns || i == columns + 1);
      if (std::isnan(expected)) EXPECT_TRUE(std::isnan(found)) << op << " of " << element << i;
      else EXPECT_EQ(found, expected) << op << " of " << element << " in row " << i;
    }
  }
}

TEST(Reduce, ExtremaOfRowsWithNaN) {
  for (const int64_t columns : {4, 5, 16, 17, 50, 64, 128, 300}) {
    expect_extrema<float>(ElementType::F32, columns);
    expect_extrema<double>(ElementType::F64, columns);
    expect_extrema<BF16>(ElementType::BF16, columns);
    expect_extrema<F16>(ElementType::F16, columns);
  }
}

// Of rows and of columns that hold each number of 16 bits once, in no order; read and computed.
template <class T>
void expect_extrema_of_all(ElementType type) {
  Literal x = Literal::uninitialized(Shape::array(type, {1024, 64}));
  std::span<T> numbers = x.mutable_data<T>();
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = std::bit_cast<T>(static_cast<uint16_t>(i));
  std::mt19937 random(3);
  std::shuffle(numbers.begin(), numbers.end(), random);
  for (const std::string_view op : {"maximum", "minimum"}) {
    const auto both = run_both_on(
        fmt::format("HloModule m\nc {{ a = {0}[] parameter(0)\n b = {0}[] parameter(1)\n"
                    " ROOT s = {0}[] {1}(a, b) }}\nENTRY e {{\n  x = {0}[1024,64] parameter(0)\n"
                    "  z = {0}[] constant({2})\n  y = {0}[1024,64] negate(x)\n"
                    "  p = {0}[1024] reduce(x, z), dimensions={{1}}, to_apply=c\n"
                    "  l = {0}[32,32,64] reshape(x)\n"
                    "  q = {0}[32,64] reduce(l, z), dimensions={{0}}, to_apply=c\n"
                    "  r = {0}[1024] reduce(y, z), dimensions={{1}}, to_apply=c\n"
                    "  ROOT t = ({0}[1024], {0}[32,64], {0}[1024]) tuple(p, q, r)\n}}\n",
                    text_of(type), op, op == "maximum" ? "-inf" : "inf"),
        {x});
    ASSERT_TRUE(both) << to_string(both.error());
    EXPECT_EQ(largest_difference(both->compiled, both->evaluated), 0) << op << text_of(type);
  }
}

// Sums of a few products whose results, too few for lanes, lie side by side.
TEST(Reduce, ShortRowsWithFewResults) {
  for (const std::string_view type : {"f32", "f64", "s32", "bf16"})
    for (const int64_t terms : {8, 9, 15, 16})
      for (const int64_t results : {2, 3, 7, 12, 15}) {
        const std::string text = fmt::format(R"(HloModule m
c {{ a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  ROOT s = {0}[] add(a, b) }}
ENTRY e {{
  x = {0}[50,{1}] parameter(0)
  y = {0}[{2},{1}] parameter(1)
  z = {0}[] constant(0)
  p = {0}[50,{2},{1}] broadcast(x), dimensions={{0,2}}
  q = {0}[50,{2},{1}] broadcast(y), dimensions={{1,2}}
  m = {0}[50,{2},{1}] multiply(p, q)
  ROOT r = {0}[50,{2}] reduce(m, z), dimensions={{2}}, to_apply=c
}}
)",
                                             type, terms, results);
        for (const uint64_t seed : {1, 3, 6})
          expect_native(run_both(text, seed, 1, processor_of(seed)), text,
                        type == "bf16"  ? 0.01
                        : type == "f64" ? 1e-13
                                        : 1e-5);
      }
}

TEST(Reduce, ExtremaOfAllNumbersOfSixteenBits) {
  expect_extrema_of_all<BF16>(ElementType::BF16);
  expect_extrema_of_all<F16>(ElementType::F16);
}

// Several dimensions behind the one that is reduced, which are columns side by side: read, computed
// of places in line and of numbers of lines; numbers of a column keep them apart.
TEST(Reduce, ColumnsInSeveralDimensions) {
  for (const auto& [outer, lines, middle, inner] :
       {std::array{3, 12, 30, 9}, std::array{1, 7, 3, 2}, std::array{2, 5, 1, 3},
        std::array{5, 16, 130, 1}, std::array{1, 40, 9, 113}}) {
    const std::string text = fmt::format(R"(HloModule m
{4}
most {{ a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT r = bf16[] maximum(a, b) }}
ENTRY e {{
  x = f32[{0},{1},{2},{3}] parameter(0)
  h = bf16[{0},{1},{2},{3}] parameter(1)
  n = s32[{0},{1},{2},{3}] parameter(2)
  w = f32[{1}] parameter(3)
  v = f32[{3}] parameter(4)
  zero = f32[] constant(0.5)
  low = bf16[] constant(-inf)
  large = s32[] constant(100)
  none = s32[] constant(-1)
  places = s32[{0},{1},{2},{3}] iota(), iota_dimension=1
  wb = f32[{0},{1},{2},{3}] broadcast(w), dimensions={{1}}
  vb = f32[{0},{1},{2},{3}] broadcast(v), dimensions={{3}}
  y = f32[{0},{1},{2},{3}] multiply(x, wb)
  z = f32[{0},{1},{2},{3}] multiply(x, vb)
  p = f32[{0},{2},{3}] reduce(x, zero), dimensions={{1}}, to_apply=add
  q = f32[{0},{2},{3}] reduce(y, zero), dimensions={{1}}, to_apply=add
  r = f32[{0},{2},{3}] reduce(z, zero), dimensions={{1}}, to_apply=add
  s = f32[{2},{3}] reduce(y, zero), dimensions={{0,1}}, to_apply=add
  t = f32[{1},{3}] reduce(y, zero), dimensions={{0,2}}, to_apply=add
  m = bf16[{0},{2},{3}] reduce(h, low), dimensions={{1}}, to_apply=most
  l = (s32[{0},{2},{3}], s32[{0},{2},{3}]) reduce(n, places, large, none), dimensions={{1}}, to_apply=least
  ROOT o = (f32[{0},{2},{3}], f32[{0},{2},{3}], f32[{0},{2},{3}], f32[{2},{3}], f32[{1},{3}], bf16[{0},{2},{3}], (s32[{0},{2},{3}], s32[{0},{2},{3}])) tuple(p, q, r, s, t, m, l) }}
)",
                                         outer, lines, middle, inner, combiners);
    expect_native_on_threads(text, 1e-6);
  }
}

// Of what fusions have joined and padded: it lies in memory, where columns in several dimensions
// are side by side.
TEST(Reduce, ColumnsOfWhatWasJoined) {
  for (const auto& [lines, middle, inner] :
       {std::array{25, 16, 6}, std::array{8, 20, 8}, std::array{40, 40, 2}}) {
    const std::string text = fmt::format(R"(HloModule m
{0}
joined {{
  x = f32[{1},{2},{4}] parameter(0)
  n = s32[{4}] parameter(1)
  g = f32[{1},{2},{4}] gather(x, n), offset_dims={{0,1}}, collapsed_slice_dims={{2}},
    start_index_map={{2}}, index_vector_dim=1, slice_sizes={{{1},{2},1}}
  y = f32[{1},{2},{4}] negate(g)
  ROOT c = f32[{1},{3},{4}] concatenate(g, y), dimensions={{1}}
}}
padded {{
  x = f32[{1},{2},{4}] parameter(0)
  n = s32[{4}] parameter(1)
  g = f32[{1},{2},{4}] gather(x, n), offset_dims={{0,1}}, collapsed_slice_dims={{2}},
    start_index_map={{2}}, index_vector_dim=1, slice_sizes={{{1},{2},1}}
  one = f32[] constant(1)
  ROOT c = f32[{1},{5},{4}] pad(g, one), padding=0_0x10_17x0_0
}}
ENTRY e {{
  x = f32[{1},{2},{4}] parameter(0)
  n = s32[{4}] parameter(1)
  zero = f32[] constant(0.5)
  j = f32[{1},{3},{4}] fusion(x, n), kind=kLoop, calls=joined
  d = f32[{1},{5},{4}] fusion(x, n), kind=kLoop, calls=padded
  p = f32[{3},{4}] reduce(j, zero), dimensions={{0}}, to_apply=add
  q = f32[{5},{4}] reduce(d, zero), dimensions={{0}}, to_apply=add
  ROOT o = (f32[{3},{4}], f32[{5},{4}]) tuple(p, q) }}
)",
                                         combiners, lines, middle, 2 * middle, inner, middle + 27);
    expect_native_on_threads(text, 1e-6);
  }
}

// Columns of a few elements each that are not one line: of some of the elements, with what is the
// same for all columns, or all elements of one, and with the place of the largest.
TEST(Reduce, ColumnsOfFewParts) {
  for (std::string_view type : {"f32", "bf16", "f64", "s8", "c64"})
    for (int parts : {2, 3, 7})
      for (int columns : {700, 1531}) {
        const std::string_view zero = type == "c64" ? "(0, 0)" : "0";
        const std::string text = fmt::format(R"(HloModule m
add {{
  a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  ROOT c = {0}[] add(a, b)
}}
ENTRY e {{
  x = {0}[2,9,{1},{2}] parameter(0)
  y = {0}[2,9,{1},{3}] parameter(1)
  u = {0}[{2}] parameter(2)
  v = {0}[{1}] parameter(3)
  z = {0}[] constant({4})
  s = {0}[2,9,{1},{2}] slice(y), slice={{[0:2], [0:9], [0:{1}], [1:{3}]}}
  ub = {0}[2,9,{1},{2}] broadcast(u), dimensions={{3}}
  vb = {0}[2,9,{1},{2}] broadcast(v), dimensions={{2}}
  d = {0}[2,9,{1},{2}] subtract(x, s)
  p = {0}[2,9,{1},{2}] add(x, ub)
  q = {0}[2,9,{1},{2}] subtract(x, vb)
  rd = {0}[2,{1},{2}] reduce(d, z), dimensions={{1}}, to_apply=add
  rp = {0}[{1},{2}] reduce(p, z), dimensions={{0,1}}, to_apply=add
  rq = {0}[2,{1},{2}] reduce(q, z), dimensions={{1}}, to_apply=add
  ROOT t = ({0}[2,{1},{2}], {0}[{1},{2}], {0}[2,{1},{2}]) tuple(rd, rp, rq)
}}
)",
                                             type, columns, parts, parts + 1, zero);
        const auto one = run_both(text, 1, 1), seven = run_both(text, 1, 7);
        expect_native(one, text, type == "bf16" ? 0.01 : 1e-6);
        ASSERT_TRUE(one && seven) << text;
        EXPECT_TRUE(same_bits(one->compiled, seven->compiled)) << text;
      }
}

// Rows of few elements are columns until their lines are combined: of an array, of what is computed
// of the columns that are kept, and of what is computed of the elements of a row.
TEST(Reduce, ShortRowsAndTheirLines) {
  struct Form {
    std::string_view type, op, identity;
  };
  for (const Form& form : {Form{"f32", "add", "0.5"},
                           {"bf16", "maximum", "-inf"},
                           {"pred", "or", "false"},
                           {"s8", "add", "3"},
                           {"f64", "multiply", "2"},
                           {"c64", "add", "(1, 2)"}})
    for (const auto& [lines, kept, row] : {std::array{24, 768, 2},
                                           {3, 1300, 8},
                                           {50, 12, 4},
                                           {9, 300, 31},
                                           {2, 700, 3},
                                           {40, 33, 16}}) {
      const std::string text = fmt::format(R"(HloModule m
op {{
  a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  ROOT c = {0}[] {1}(a, b)
}}
ENTRY e {{
  x = {0}[{3},5,{4},{5}] parameter(0)
  u = {0}[{4}] parameter(1)
  v = {0}[{5}] parameter(2)
  z = {0}[] constant({2})
  ub = {0}[{3},5,{4},{5}] broadcast(u), dimensions={{2}}
  vb = {0}[{3},5,{4},{5}] broadcast(v), dimensions={{3}}
  p = {0}[{3},5,{4},{5}] {1}(x, ub)
  q = {0}[{3},5,{4},{5}] {1}(x, vb)
  rx = {0}[5,{4}] reduce(x, z), dimensions={{0,3}}, to_apply=op
  rp = {0}[{4}] reduce(p, z), dimensions={{0,1,3}}, to_apply=op
  rq = {0}[5,{4}] reduce(q, z), dimensions={{0,3}}, to_apply=op
  w = {0}[{3},5,{4},{5},1] reshape(x)
  rw = {0}[5,{4},1] reduce(w, z), dimensions={{0,3}}, to_apply=op
  ROOT t = ({0}[5,{4}], {0}[{4}], {0}[5,{4}], {0}[5,{4},1]) tuple(rx, rp, rq, rw)
}}
)",
                                           form.type, form.op, form.identity, lines, kept, row);
      expect_native_on_threads(text, form.op == "or" || form.type == "bf16" ? 0 : 1e-5);
    }
}

TEST(Reduce, LargestOfFewParts) {
  const std::string text = R"(HloModule m
largest {
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  p = pred[] compare(a, b), direction=GE
  x = f32[] select(p, a, b)
  k = s32[] select(p, i, j)
  ROOT t = (f32[], s32[]) tuple(x, k)
}
ENTRY e {
  x = f32[33,701,3] parameter(0)
  z = f32[] constant(-inf)
  n = s32[] constant(-1)
  s = f32[33,701,2] slice(x), slice={[0:33], [0:701], [1:3]}
  i = s32[33,701,2] iota(), iota_dimension=0
  ROOT t = (f32[701,2], s32[701,2]) reduce(s, i, z, n), dimensions={0}, to_apply=largest
}
)";
  for (uint64_t seed : {0, 3, 6})
    expect_native(run_both(text, seed, 2, processor_of(seed)), text, 0);
}

// Weights of lines, computed once for all columns and never stored: of one line's elements and of
// another array's short sums.
TEST(Reduce, ColumnsShareWhatIsComputedOfTheirLines) {
  for (const auto& [outer, lines, columns] :
       {std::array{16, 32, 3}, std::array{17, 33, 1}, std::array{40, 75, 5},
        std::array{33, 130, 64}, std::array{20, 47, 256}}) {
    const std::string text = fmt::format(R"(HloModule m
{3}
ENTRY e {{
  x = f32[2,{0},{1},{2}] parameter(0)
  y = bf16[2,{0},{1}] parameter(1)
  w = f32[2,{0},{1},3] parameter(2)
  zero = f32[] constant(0.5)
  ww = f32[2,{0},{1},3] multiply(w, w)
  s = f32[2,{0},{1}] reduce(ww, zero), dimensions={{3}}, to_apply=add
  r = f32[2,{0},{1}] rsqrt(s)
  e = bf16[2,{0},{1}] exponential(y)
  eb = bf16[2,{0},{1},{2}] broadcast(e), dimensions={{0,1,2}}
  ef = f32[2,{0},{1},{2}] convert(eb)
  rb = f32[2,{0},{1},{2}] broadcast(r), dimensions={{0,1,2}}
  xe = f32[2,{0},{1},{2}] multiply(x, ef)
  xr = f32[2,{0},{1},{2}] divide(xe, rb)
  ROOT o = f32[2,{0},{2}] reduce(xr, zero), dimensions={{2}}, to_apply=add }}
)",
                                         outer, lines, columns, combiners);
    const auto one = expect_native_on_threads(text, 1e-5);
    ASSERT_TRUE(one);
    EXPECT_EQ(one->report.kernels, 1) << text;
    EXPECT_EQ(one->report.temp_bytes, 0) << text;
  }
}

// Whether any and whether all, and the first greatest with its place, along rows and down columns.
TEST(Reduce, Truths) {
  for (const auto& [dimension, kept] : {std::pair(1, 5), std::pair(0, 300)})
    expect_native(fmt::format(R"(HloModule m
any {{ a = pred[] parameter(0)
  b = pred[] parameter(1)
  ROOT s = pred[] or(a, b) }}
all {{ a = pred[] parameter(0)
  b = pred[] parameter(1)
  ROOT s = pred[] and(a, b) }}
odd {{ a = pred[] parameter(0)
  b = pred[] parameter(1)
  ROOT s = pred[] xor(a, b) }}
greatest {{ v = pred[] parameter(0)
  i = s32[] parameter(1)
  w = pred[] parameter(2)
  j = s32[] parameter(3)
  g = pred[] compare(v, w), direction=GT
  m = pred[] select(g, v, w)
  e = pred[] compare(v, w), direction=EQ
  l = pred[] compare(i, j), direction=LT
  f = pred[] and(e, l)
  o = pred[] or(g, f)
  k = s32[] select(o, i, j)
  ROOT t = (pred[], s32[]) tuple(m, k) }}
ENTRY e {{
  x = f32[5,300] parameter(0)
  q = pred[5,300] parameter(1)
  one = f32[] constant(2.4)
  ones = f32[5,300] broadcast(one), dimensions={{}}
  p = pred[5,300] compare(x, ones), direction=GT
  no = pred[] constant(false)
  yes = pred[] constant(true)
  zero = s32[] constant(0)
  places = s32[5,300] iota(), iota_dimension={0}
  a = pred[{1}] reduce(p, no), dimensions={{{0}}}, to_apply=any
  b = pred[{1}] reduce(p, yes), dimensions={{{0}}}, to_apply=all
  c = pred[{1}] reduce(q, no), dimensions={{{0}}}, to_apply=odd
  d = (pred[{1}], s32[{1}]) reduce(p, places, no, zero), dimensions={{{0}}}, to_apply=greatest
  ROOT t = (pred[{1}], pred[{1}], pred[{1}], (pred[{1}], s32[{1}])) tuple(a, b, c, d) }}
)",
                              dimension, kept));
}

// Where elements are the same the first of them, by compares and choices or by a maximum.
TEST(Reduce, PlacesOfLargestNumbersOfAllTypes) {
  for (const std::string_view type : {"s8", "u8", "s16", "s32", "u32", "s64", "f32", "f64", "bf16"})
    for (const std::string_view place : {"s32", "s64"})
      for (const int64_t size : {5, 40, 100, 1000, 70000}) {
        const bool is_float = type.contains('f');
        const std::string text =
            fmt::format(R"(HloModule m
most {{ a = {0}[] parameter(0)
  b = {0}[] parameter(2)
  g = pred[] compare(a, b), direction=GT
  q = pred[] compare(a, b), direction=EQ
  i = {1}[] parameter(1)
  k = {1}[] parameter(3)
  l = pred[] compare(i, k), direction=LT
  n = pred[] and(q, l)
  o = pred[] or(g, n)
  w = {1}[] select(o, i, k)
  v = {0}[] {3}
  ROOT t = ({0}[], {1}[]) tuple(v, w) }}
ENTRY e {{
  x = {0}[2,{2}] parameter(0)
  i = {1}[2,{2}] iota(), iota_dimension=1
  z = {0}[] constant({4})
  y = {1}[] constant(0)
  ROOT r = ({0}[2], {1}[2]) reduce(x, i, z, y), dimensions={{1}}, to_apply=most }}
)",
                        type, place, size, is_float ? "select(g, a, b)" : "maximum(a, b)",
                        is_float                ? "-inf"
                        : type.starts_with('u') ? "0"
                                                : "-100");
        for (const std::string processor : {"native", "x86-64"})
          expect_native(run_both(text, 3, 1, processor), text);
      }
}

// Arrays that come from memory: rows are read as several pieces at once, and tiles of columns are
// combined together. Sums of floats (of multiples of 1/8: exact in any order), the least of
// integers and its place, and sums of what two arrays are joined to.
std::string large(int64_t rows, int64_t columns, int dim) {
  const int64_t kept = dim == 1 ? rows : columns, first = columns / 3;
  return fmt::format(R"(HloModule m
{4}
ENTRY e {{
  x = f32[{0},{1}] parameter(0)
  h = bf16[{0},{1}] parameter(1)
  n = s32[{0},{1}] parameter(2)
  zero = f32[] constant(0.5)
  half = bf16[] constant(0.5)
  most = s32[] constant(100)
  none = s32[] constant(-1)
  places = s32[{0},{1}] iota(), iota_dimension={2}
  front = f32[{0},{5}] slice(x), slice={{[0:{0}], [0:{5}]}}
  back = f32[{0},{6}] slice(x), slice={{[0:{0}], [{5}:{1}]}}
  turned = f32[{0},{1}] concatenate(back, front), dimensions={{1}}
  p = f32[{3}] reduce(x, zero), dimensions={{{2}}}, to_apply=add
  q = bf16[{3}] reduce(h, half), dimensions={{{2}}}, to_apply=add_bf16
  r = (s32[{3}], s32[{3}]) reduce(n, places, most, none), dimensions={{{2}}}, to_apply=least
  s = f32[{3}] reduce(turned, zero), dimensions={{{2}}}, to_apply=add
  ROOT t = (f32[{3}], bf16[{3}], (s32[{3}], s32[{3}]), f32[{3}]) tuple(p, q, r, s) }}
)",
                     rows, columns, dim, kept, combiners, first, columns - first);
}

// What was combined is needed for the next step: several rows at once, in order each.
TEST(Reduce, RowsOfOtherReducers) {
  for (const auto& [rows, columns] : {std::array{1, 30}, {7, 20}, {8, 65}, {37, 5}, {1000, 19}})
    expect_native_on_threads(fmt::format(R"(HloModule m
product {{
  a = c64[] parameter(0)
  b = c64[] parameter(1)
  ROOT c = c64[] multiply(a, b)
}}
growth {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  p = f32[] multiply(a, b)
  c = f32[] add(a, p)
  ROOT d = f32[] add(c, b)
}}
pair {{
  a = f32[] parameter(0)
  c = s32[] parameter(1)
  b = f32[] parameter(2)
  d = s32[] parameter(3)
  p = f32[] add(b, a)
  q = s32[] add(d, c)
  ROOT r = (f32[], s32[]) tuple(p, q)
}}
ENTRY e {{
  x = c64[{0},{1}] parameter(0)
  y = f32[{0},2,{1}] parameter(1)
  z = s32[{0},2,{1}] parameter(2)
  one = c64[] constant((1, 0))
  zero = f32[] constant(0)
  none = s32[] constant(0)
  ones = c64[{0},{1}] broadcast(one), dimensions={{}}
  w = c64[{0},{1}] add(x, ones)
  p = c64[{0}] reduce(w, one), dimensions={{1}}, to_apply=product
  q = f32[{0}] reduce(y, zero), dimensions={{1,2}}, to_apply=growth
  r = (f32[{0},2], s32[{0},2]) reduce(y, z, zero, none), dimensions={{2}}, to_apply=pair
  ROOT t = (c64[{0}], f32[{0}], (f32[{0},2], s32[{0},2])) tuple(p, q, r)
}}
)",
                                         rows, columns),
                             1e-5);
}

TEST(Reduce, LongRowsOfAnyLength) {
  for (const std::string& processor : processors())
    for (const int64_t columns : {16384, 16384 + 63, 32768 + 17, 40001})
      expect_native_on_threads(large(3, columns, 1), 0, processor);
}

TEST(Reduce, LongColumnsInAnyNumber) {
  for (const std::string& processor : processors())
    for (const int64_t columns : {512, 1024, 1100, 2048, 2900})
      expect_native_on_threads(large((1 << 20) / columns + 5, columns, 0), 0, processor);
}

}  // namespace
}  // namespace hilo::test
