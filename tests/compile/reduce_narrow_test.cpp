// Reductions that keep few columns of long runs of lines, and rows of several dimensions: memory is
// read as it lies, several lines side by side. Numbers are small multiples of 1 / 8, so that sums
// are exact in any order, and products of few that are not 1.
#include "both.h"

namespace hilo::test {
namespace {

struct Case {
  std::string_view type, op, init;
};

std::string combiner(const Case& of) {
  return fmt::format(
      "HloModule m\nc {{ a = {0}[] parameter(0)\n b = {0}[] parameter(1)\n"
      " ROOT s = {0}[] {1}(a, b) }}\n",
      of.type, of.op);
}

// Of what is read and of what is computed of it, numbers of lines and one number.
std::string narrow_columns(const Case& of, int outer, int lines, int columns) {
  return combiner(of) + fmt::format(R"(ENTRY e {{
  x = {0}[{1},{2},{3}] parameter(0)
  y = {0}[{1},{2},{3}] parameter(1)
  w = {0}[{1}] parameter(2)
  n = {0}[] parameter(3)
  i = {0}[] constant({4})
  wb = {0}[{1},{2},{3}] broadcast(w), dimensions={{0}}
  nb = {0}[{1},{2},{3}] broadcast(n), dimensions={{}}
  xy = {0}[{1},{2},{3}] maximum(x, y)
  xw = {0}[{1},{2},{3}] maximum(xy, wb)
  z = {0}[{1},{2},{3}] minimum(xw, nb)
  p = {0}[{1},{3}] reduce(x, i), dimensions={{1}}, to_apply=c
  q = {0}[{1},{3}] reduce(z, i), dimensions={{1}}, to_apply=c
  r = {0}[{3}] reduce(x, i), dimensions={{0,1}}, to_apply=c
  s = {0}[{3}] reduce(z, i), dimensions={{0,1}}, to_apply=c
  ROOT t = ({0}[{1},{3}], {0}[{1},{3}], {0}[{3}], {0}[{3}]) tuple(p, q, r, s)
}}
)",
                                    of.type, outer, lines, columns, of.init);
}

TEST(ReduceNarrow, ColumnsOfAllWidths) {
  constexpr Case cases[] = {
      {"f32", "add", "0.5"},   {"f32", "maximum", "-1"}, {"f64", "add", "0.5"},
      {"s8", "add", "3"},      {"s32", "minimum", "9"},  {"bf16", "maximum", "-1"},
      {"f16", "minimum", "1"}, {"s64", "add", "3"},      {"u16", "maximum", "3"}};
  for (int columns = 1; columns <= 18; ++columns)
    for (const Case& of : cases) {
      const auto seed = static_cast<uint64_t>(columns);
      const std::string text = narrow_columns(of, 3, columns % 2 == 0 ? 100 : 131, columns);
      expect_native(run_both(text, seed, 1, processor_of(seed)), text);
    }
}

// Runs around the least one that is read so, and just longer than so many lines side by side.
TEST(ReduceNarrow, RunsOfAllLengths) {
  for (const int columns : {2, 3, 5, 8, 15})
    for (int lines = 1; lines <= 70; lines += lines < 8 ? 1 : 7)
      expect_native(narrow_columns({"f32", "add", "0.5"}, 2, lines, columns));
}

TEST(ReduceNarrow, SumsOfBf16AreRoundedOnce) {
  for (const int columns : {2, 3, 7, 16})
    for (const int lines : {200, 333})
      expect_native(narrow_columns({"bf16", "add", "0.5"}, 2, lines, columns));
}

// Products of which most factors are 1.
TEST(ReduceNarrow, Products) {
  for (const std::string_view type : {"f32", "s32", "u8"})
    for (const int columns : {2, 3, 6, 13}) {
      const Case of = {type, "multiply", "1"};
      expect_native(combiner(of) + fmt::format(R"(ENTRY e {{
  x = {0}[4,150,{1}] parameter(0)
  o = {0}[] constant(1)
  t = {0}[] constant(2)
  ob = {0}[4,150,{1}] broadcast(o), dimensions={{}}
  tb = {0}[4,150,{1}] broadcast(t), dimensions={{}}
  p = pred[4,150,{1}] compare(x, tb), direction=EQ
  f = {0}[4,150,{1}] select(p, tb, ob)
  ROOT r = {0}[4,{1}] reduce(f, o), dimensions={{1}}, to_apply=c
}}
)",
                                               type, columns));
    }
}

// Whether any and whether all of some lines, whose seldom number stands in one place of all.
TEST(ReduceNarrow, Truths) {
  for (const std::string_view type : {"f32", "s64", "s8", "pred"})
    for (const int columns : {1, 2, 3, 5, 16}) {
      const std::string text = fmt::format(R"(HloModule m
any {{ a = pred[] parameter(0)
  b = pred[] parameter(1)
  ROOT s = pred[] or(a, b) }}
all {{ a = pred[] parameter(0)
  b = pred[] parameter(1)
  ROOT s = pred[] and(a, b) }}
ENTRY e {{
  x = {0}[40,7,11,{1}] parameter(0)
  z = {0}[] constant({2})
  zb = {0}[40,7,11,{1}] broadcast(z), dimensions={{}}
  n = pred[40,7,11,{1}] compare(x, zb), direction=NE
  e = pred[40,7,11,{1}] compare(x, zb), direction=EQ
  no = pred[] constant(false)
  yes = pred[] constant(true)
  p = pred[40,{1}] reduce(n, no), dimensions={{1,2}}, to_apply=any
  q = pred[40,{1}] reduce(e, yes), dimensions={{1,2}}, to_apply=all
  ROOT t = (pred[40,{1}], pred[40,{1}]) tuple(p, q)
}}
)",
                                           type, columns, type == "pred" ? "false" : "0");
      const auto module = parse(text);
      ASSERT_TRUE(module) << text;
      std::mt19937_64 random(1);
      Literal x = random_value(module->shape((*module)[module->entry].parameters[0]), random);
      visit_storage(x.type(), [&]<class T>(std::type_identity<T>) {
        const std::span<T> data = x.mutable_data<T>();
        const size_t each = data.size() / 40;
        std::ranges::fill(data, T{});
        for (size_t k = 0; k < 39; ++k) data[k * each + (k * 37) % each] = T(1.0F);
      });
      expect_native(run_both_on(text, {x}), text);
    }
}

// A NaN in any place of a run is the largest and the least of its column, and of no other.
TEST(ReduceNarrow, NanOfEveryPlace) {
  for (const int columns : {2, 3, 7})
    for (const std::string_view op : {"maximum", "minimum"}) {
      const int lines = 80, count = lines * columns;
      Literal x = Literal::uninitialized(Shape::array(ElementType::F32, {count, lines, columns}));
      const std::span<float> data = x.mutable_data<float>();
      for (size_t i = 0; i < data.size(); ++i)
        data[i] = i % static_cast<size_t>(count + 1) == 0 ? NAN : static_cast<float>(i % 97);
      const Case of = {"f32", op, "50"};
      const std::string text = combiner(of) + fmt::format(R"(ENTRY e {{
  x = f32[{0},{1},{2}] parameter(0)
  i = f32[] constant(50)
  ROOT r = f32[{0},{2}] reduce(x, i), dimensions={{1}}, to_apply=c
}}
)",
                                                          count, lines, columns);
      expect_native(run_both_on(text, {x}), text);
    }
}

// Long runs are cut in parts, with a rest that is a slice; and slices of lines.
TEST(ReduceNarrow, LongRunsAndSlices) {
  for (const std::string_view type : {"f32", "s32"})
    for (const int columns : {2, 3, 6}) {
      const Case of = {type, "add", "2"};
      const std::string text = combiner(of) + fmt::format(R"(ENTRY e {{
  x = {0}[40037,{1}] parameter(0)
  y = {0}[40037,{1}] add(x, x)
  l = {0}[900,{1}] slice(y), slice={{[31:931], [0:{1}]}}
  s = {0}[900,{1}] slice(y), slice={{[31:1831:2], [0:{1}]}}
  f = {0}[30,30,{1}] reshape(l)
  i = {0}[] constant(2)
  p = {0}[{1}] reduce(y, i), dimensions={{0}}, to_apply=c
  q = {0}[{1}] reduce(l, i), dimensions={{0}}, to_apply=c
  r = {0}[{1}] reduce(s, i), dimensions={{0}}, to_apply=c
  u = {0}[30,{1}] reduce(f, i), dimensions={{1}}, to_apply=c
  ROOT t = ({0}[{1}], {0}[{1}], {0}[{1}], {0}[30,{1}]) tuple(p, q, r, u)
}}
)",
                                                          type, columns);
      expect_native(text);
    }
}

// Numbers of columns, and places of columns, are found where several lines are read as one.
TEST(ReduceNarrow, NumbersOfColumnsAndLines) {
  for (const int columns : {2, 3, 7})
    expect_native(combiner({"f32", "add", "0"}) + fmt::format(R"(ENTRY e {{
  x = f32[5,120,{0}] parameter(0)
  w = f32[{0}] parameter(1)
  v = f32[5,120] parameter(2)
  z = f32[] constant(0)
  wb = f32[5,120,{0}] broadcast(w), dimensions={{2}}
  vb = f32[5,120,{0}] broadcast(v), dimensions={{0,1}}
  c = f32[5,120,{0}] iota(), iota_dimension=2
  l = f32[5,120,{0}] iota(), iota_dimension=1
  o = f32[5,120,{0}] iota(), iota_dimension=0
  xw = f32[5,120,{0}] multiply(x, wb)
  xv = f32[5,120,{0}] add(xw, vb)
  xc = f32[5,120,{0}] maximum(x, c)
  xl = f32[5,120,{0}] add(x, l)
  xo = f32[5,120,{0}] maximum(x, o)
  p = f32[5,{0}] reduce(xv, z), dimensions={{1}}, to_apply=c
  q = f32[5,{0}] reduce(xc, z), dimensions={{1}}, to_apply=c
  r = f32[5,{0}] reduce(xl, z), dimensions={{1}}, to_apply=c
  s = f32[5,{0}] reduce(xo, z), dimensions={{1}}, to_apply=c
  ROOT t = (f32[5,{0}], f32[5,{0}], f32[5,{0}], f32[5,{0}]) tuple(p, q, r, s)
}}
)",
                                                              columns));
}

// Sums over lines with numbers of columns beside them: no run of memory.
TEST(ReduceNarrow, ColumnsThatAreTakenApart) {
  for (std::string_view type : {"f32", "bf16", "f64", "s8", "s64"})
    for (int columns : {2, 3, 8})
      for (int lines : {64, 131}) {
        const std::string text = combiner({type, "add", "0"}) + fmt::format(R"(ENTRY e {{
  x = {0}[5,3,{1},{2}] parameter(0)
  w = {0}[{2}] parameter(1)
  u = {0}[{1}] parameter(2)
  z = {0}[] constant(0)
  wb = {0}[5,3,{1},{2}] broadcast(w), dimensions={{3}}
  ub = {0}[5,3,{1},{2}] broadcast(u), dimensions={{2}}
  p = {0}[5,3,{1},{2}] subtract(x, wb)
  q = {0}[5,3,{1},{2}] add(p, ub)
  r = {0}[5,3,{2}] reduce(q, z), dimensions={{2}}, to_apply=c
  s = {0}[3,{2}] reduce(q, z), dimensions={{0,2}}, to_apply=c
  ROOT t = ({0}[5,3,{2}], {0}[3,{2}]) tuple(r, s)
}}
)",
                                                                            type, lines, columns);
        const auto one = run_both(text, 1, 1), seven = run_both(text, 1, 7);
        expect_native(one, text, type == "bf16" ? 0.01 : 1e-6);
        ASSERT_TRUE(one && seven) << text;
        EXPECT_TRUE(same_bits(one->compiled, seven->compiled)) << text;
      }
}

// Places of extrema of columns: the first of equal ones, or of the first NaN.
TEST(ReduceNarrow, PlacesOfExtrema) {
  for (std::string_view type : {"f32", "bf16", "f64", "s32"})
    for (std::string_view place : {"s32", "s64"})
      for (int columns : {2, 5}) {
        const std::string_view worst = type == "s32" ? "-2147483648" : "-inf";
        const std::string text = fmt::format(R"(HloModule m
largest {{
  a = {0}[] parameter(0)
  i = {1}[] parameter(1)
  b = {0}[] parameter(2)
  j = {1}[] parameter(3)
  gt = pred[] compare(a, b), direction=GT
  ne = pred[] compare(a, a), direction=NE
  or = pred[] or(gt, ne)
  eq = pred[] compare(a, b), direction=EQ
  lt = pred[] compare(i, j), direction=LT
  and = pred[] and(eq, lt)
  is = pred[] or(or, and)
  x = {0}[] select(or, a, b)
  k = {1}[] select(is, i, j)
  ROOT t = ({0}[], {1}[]) tuple(x, k)
}}
ENTRY e {{
  x = {0}[30,131,{2}] parameter(0)
  y = {0}[30,131,{2}] parameter(1)
  d = {0}[30,131,{2}] divide(x, y)
  w = {0}[] constant({3})
  n = {1}[] constant(0)
  p = {1}[30,131,{2}] iota(), iota_dimension=1
  a = ({0}[30,{2}], {1}[30,{2}]) reduce(x, p, w, n), dimensions={{1}}, to_apply=largest
  ROOT b = ({0}[30,{2}], {1}[30,{2}]) reduce(d, p, w, n), dimensions={{1}}, to_apply=largest
}}
)",
                                             type, place, columns, worst);
        for (uint64_t seed : {0, 1, 6})
          expect_native(run_both(text, seed, 2, processor_of(seed)), text, 0);
      }
}

// Rows of several dimensions that are reduced are one row.
TEST(ReduceNarrow, RowsOfSeveralDimensions) {
  for (const std::string_view dims : {"9,30,2", "5,7,11", "16,1,3", "3,4,1"})
    for (const Case& of : {Case{"f32", "add", "0.5"}, Case{"s8", "maximum", "-9"}}) {
      expect_native(combiner(of) + fmt::format(R"(ENTRY e {{
  x = {0}[6,{1}] parameter(0)
  y = {0}[6,{1}] negate(x)
  i = {0}[] constant({2})
  p = {0}[6] reduce(x, i), dimensions={{1,2,3}}, to_apply=c
  q = {0}[6] reduce(y, i), dimensions={{1,2,3}}, to_apply=c
  r = {0}[] reduce(y, i), dimensions={{0,1,2,3}}, to_apply=c
  ROOT t = ({0}[6], {0}[6], {0}[]) tuple(p, q, r)
}}
)",
                                               of.type, dims, of.init));
    }
}

TEST(ReduceNarrow, SameBitsForAnyThreads) {
  for (const int columns : {2, 3, 5}) {
    const std::string text = fmt::format(R"(HloModule m
c {{ a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }}
ENTRY e {{
  x = f32[30011,{0}] parameter(0)
  y = f32[30011,{0}] sine(x)
  i = f32[] constant(0.1)
  ROOT p = f32[{0}] reduce(y, i), dimensions={{0}}, to_apply=c
}}
)",
                                         columns);
    expect_native_on_threads(text, 1e-5);
  }
}

}  // namespace
}  // namespace hilo::test
