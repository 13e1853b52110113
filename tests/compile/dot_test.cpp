// Products of every order of dimensions against the evaluator.
#include <fmt/ranges.h>

#include <algorithm>

#include "both.h"

namespace hilo::test {
namespace {

std::string array_text(std::string_view type, const Dims& dims) {
  return fmt::format("{}[{}]", type, fmt::join(dims, ","));
}

// Batch, own and contracted dimensions of drawn sizes at drawn places.
struct Drawn {
  Dims lhs, rhs, lhs_batch, rhs_batch, lhs_contracting, rhs_contracting, result;
};
Drawn draw(std::mt19937& random, bool shuffle) {
  const auto size = [&](int most) { return static_cast<int64_t>(random() % most) + 1; };
  const auto sizes = [&](int most_dims, int most) {
    Dims out(random() % (most_dims + 1));
    for (int64_t& one : out) one = size(most);
    return out;
  };
  const Dims batch = sizes(1, 3), rows = sizes(2, 9), columns = sizes(2, 70), depth = sizes(2, 40);
  Drawn out;
  out.result = batch;
  const auto place = [&](const Dims& own, Dims& dims, Dims& batches, Dims& contracting) {
    std::vector<std::pair<int, size_t>> parts;
    for (size_t i = 0; i < batch.size(); ++i) parts.emplace_back(0, i);
    for (size_t i = 0; i < own.size(); ++i) parts.emplace_back(1, i);
    for (size_t i = 0; i < depth.size(); ++i) parts.emplace_back(2, i);
    if (shuffle) std::shuffle(parts.begin(), parts.end(), random);
    batches.resize(batch.size());
    contracting.resize(depth.size());
    for (const auto& [kind, i] : parts) {
      const auto at = static_cast<int64_t>(dims.size());
      dims.push_back(kind == 0 ? batch[i] : kind == 1 ? own[i] : depth[i]);
      if (kind == 0) batches[i] = at;
      if (kind == 1) out.result.push_back(own[i]);
      if (kind == 2) contracting[i] = at;
    }
  };
  place(rows, out.lhs, out.lhs_batch, out.lhs_contracting);
  // The own dimensions of a side stand in the result in the order in which they stand in the side.
  place(columns, out.rhs, out.rhs_batch, out.rhs_contracting);
  return out;
}

std::string module_of(const Drawn& d, std::string_view in, std::string_view out) {
  return fmt::format(
      "HloModule m\nENTRY e {{\n  a = {} parameter(0)\n  b = {} parameter(1)\n  ROOT r = {} dot(a, "
      "b), "
      "lhs_batch_dims={{{}}}, lhs_contracting_dims={{{}}}, rhs_batch_dims={{{}}}, "
      "rhs_contracting_dims={{{}}}\n}}\n",
      array_text(in, d.lhs), array_text(in, d.rhs), array_text(out, d.result),
      fmt::join(d.lhs_batch, ","), fmt::join(d.lhs_contracting, ","), fmt::join(d.rhs_batch, ","),
      fmt::join(d.rhs_contracting, ","));
}

TEST(Dot, RandomOnesAgreeWithTheEvaluator) {
  std::mt19937 random(7);
  int native = 0;
  constexpr std::pair<std::string_view, std::string_view> types[] = {
      {"f32", "f32"}, {"f64", "f64"}, {"bf16", "bf16"}, {"bf16", "f32"},
      {"f16", "f16"}, {"s32", "s32"}, {"u32", "s32"},   {"s64", "s64"},
      {"s8", "s8"},   {"u8", "u8"},   {"s8", "s32"},    {"u8", "s16"},
      {"s16", "s16"}, {"u16", "u16"}, {"s16", "s64"},   {"s64", "s32"}};
  for (int i = 0; i < 480; ++i) {
    const auto [in, out] = types[random() % std::size(types)];
    const Drawn drawn = draw(random, i % 3 == 0);
    const std::string text = module_of(drawn, in, out);
    const auto both = run_both(text, static_cast<uint64_t>(i), 1 + i % 2);
    ASSERT_TRUE(both) << to_string(both.error()) << text;
    const double tolerance = out == "bf16"   ? 0.01
                             : out == "f16"  ? 0.002
                             : out[0] != 'f' ? 0
                             : out == "f64"  ? 1e-13
                                             : 1e-5;
    ASSERT_LE(largest_difference(both->compiled, both->evaluated), tolerance) << text;
    native += both->report.evaluated.empty();
  }
  EXPECT_GT(native, 240);
}

std::string product(int rows, int depth, int columns, bool transposed) {
  return fmt::format(
      "HloModule m\nENTRY e {{\n  a = f32[{0},{1}] parameter(0)\n  b = f32[{3},{4}] parameter(1)\n"
      "  ROOT r = f32[{0},{2}] dot(a, b), lhs_contracting_dims={{1}}, "
      "rhs_contracting_dims={{{5}}}\n}}\n",
      rows, depth, columns, transposed ? columns : depth, transposed ? depth : columns,
      transposed ? 1 : 0);
}

// Of the arguments that run_both draws.
Literal product_in_f64(const Module& module) {
  std::mt19937_64 random(1);
  std::vector<Literal> arguments;
  for (InstructionId parameter : module[module.entry].parameters)
    arguments.push_back(random_value(module.shape(parameter), random));
  const auto& a = module.attributes<DotAttributes>(module[module.entry].root);
  const Shape &lhs = arguments[0].shape(), &rhs = arguments[1].shape();
  const auto lhs_depth = static_cast<size_t>(a.lhs_contracting_dims[0]),
             rhs_depth = static_cast<size_t>(a.rhs_contracting_dims[0]);
  std::vector<double> left, right;
  for (int64_t i = 0; i < arguments[0].count(); ++i) left.push_back(arguments[0].number_at(i));
  for (int64_t i = 0; i < arguments[1].count(); ++i) right.push_back(arguments[1].number_at(i));
  Literal out = Literal::uninitialized(module.shape(module[module.entry].root));
  const int64_t m = lhs.dims[1 - lhs_depth], n = rhs.dims[1 - rhs_depth], k = lhs.dims[lhs_depth];
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t t = 0; t < k; ++t)
        sum += left[static_cast<size_t>(lhs_depth ? i * k + t : t * m + i)] *
               right[static_cast<size_t>(rhs_depth ? j * k + t : t * n + j)];
      visit_storage(out.type(), [&]<class T>(std::type_identity<T>) {
        if constexpr (std::is_arithmetic_v<T>)
          out.mutable_data<T>()[static_cast<size_t>(i * n + j)] = static_cast<T>(sum);
      });
    }
  return out;
}

TEST(Dot, SmallAndThinOnesHaveCode) {
  for (bool transposed : {false, true})
    for (const auto& [rows, depth, columns] : {std::array{1, 300, 1000},
                                               {4, 500, 129},
                                               {300, 777, 1},
                                               {7, 33, 65},
                                               {32, 32, 32},
                                               {5, 1, 3}})
      expect_native(product(rows, depth, columns, transposed), 1e-5);
}

// Lanes along the columns, in vectors of powers of two, or along the terms, of columns that are
// turned where there are few; a column times lines that stand side by side changes sides.
TEST(Dot, ThinOnesOfNarrowIntegersHaveCode) {
  for (const auto& [in, out] :
       {std::pair{"s8", "s8"}, {"u8", "s32"}, {"s16", "s16"}, {"u16", "u64"}})
    for (const auto& [rows, depth, columns, turned] : {std::array{1, 300, 1000, 0},
                                                       {3, 77, 1023, 0},
                                                       {2, 1100, 2103, 0},
                                                       {300, 77, 3, 0},
                                                       {33, 500, 4, 0},
                                                       {503, 130, 1, 0},
                                                       {1003, 131, 1, 1}}) {
      const Dims lhs = turned ? Dims{depth, rows} : Dims{rows, depth};
      expect_native(
          fmt::format(
              "HloModule m\nENTRY e {{\n  a = {} parameter(0)\n  b = {} parameter(1)\n  ROOT "
              "r = {} dot(a, b), lhs_contracting_dims={{{}}}, rhs_contracting_dims={{0}}\n}}\n",
              array_text(in, lhs), array_text(in, {depth, columns}),
              array_text(out, {rows, columns}), turned ? 0 : 1),
          0);
    }
}

// Dimensions that cannot be walked as one: element by element.
TEST(Dot, BatchesOfTinyOnesHaveCodeInAnyOrder) {
  for (const auto& [in, out] : {std::pair{"f32", "f32"},
                                {"bf16", "f32"},
                                {"f64", "f64"},
                                {"c64", "c64"},
                                {"c128", "c128"}}) {
    expect_native(fmt::format(R"(HloModule m
ENTRY e {{ a = {0}[12,3,8,3] parameter(0)
  b = {0}[2,3,3,5,8,12] parameter(1)
  ROOT r = {1}[8,12,2,5] dot(a, b), lhs_batch_dims={{2,0}}, lhs_contracting_dims={{3,1}}, rhs_batch_dims={{4,5}}, rhs_contracting_dims={{1,2}} }}
)",
                              in, out),
                  1e-5);
    expect_native(fmt::format(R"(HloModule m
ENTRY e {{ a = {0}[2,50,3] parameter(0)
  b = {0}[3,2,50] parameter(1)
  ROOT r = {1}[50] dot(a, b), lhs_batch_dims={{1}}, lhs_contracting_dims={{0,2}}, rhs_batch_dims={{2}}, rhs_contracting_dims={{1,0}} }}
)",
                              in, out),
                  1e-5);
  }
}

// Lines of complex results that are vectors, and shorter ones.
TEST(Dot, BatchesOfTinyComplexOnes) {
  for (std::string_view type : {"c64", "c128"})
    for (const auto& [rows, depth, columns] :
         {std::array{1, 1, 1}, {2, 2, 2}, {3, 3, 3}, {3, 12, 5}, {4, 4, 8}, {5, 7, 16}})
      for (const int turned : {0, 1})
        expect_native(
            fmt::format(
                "HloModule m\nENTRY e {{ a = {0} parameter(0)\n b = {1} parameter(1)\n ROOT "
                "r = {2} dot(a, b), lhs_batch_dims={{0}}, lhs_contracting_dims={{2}}, "
                "rhs_batch_dims={{0}}, rhs_contracting_dims={{{3}}} }}\n",
                array_text(type, {50, rows, depth}),
                turned ? array_text(type, {50, columns, depth})
                       : array_text(type, {50, depth, columns}),
                array_text(type, {50, rows, columns}), turned + 1),
            1e-5);
}

// Right operands that are read in pieces of lines, the last of which are shorter.
TEST(Dot, ThinOnesWithLargeOperands) {
  for (const auto& [rows, depth, columns] :
       {std::array{1, 2117, 1113}, {3, 4098, 640}, {2, 4096, 513}})
    expect_native_on_threads(product(rows, depth, columns, false), 1e-4);
  for (const char* type : {"bf16", "s8", "f64"})
    expect_native_on_threads(
        module_of({{3, 2, 2100}, {3, 2100, 1025}, {0}, {0}, {2}, {1}, {3, 2, 1025}}, type, "f32"),
        1e-4);
}

// The layers of a model stand in one array, of which a round of a loop takes one.
TEST(Dot, PiecesOfArraysAreReadWhereTheyStand) {
  for (std::string_view type : {"f32", "bf16"})
    for (std::string_view depth : {"0", "1"}) {
      const std::string text = fmt::format(
          R"(HloModule m
ENTRY e {{
  x = {0}[64] parameter(0)
  w = {0}[5,64,64] parameter(1)
  i = s32[] parameter(2)
  z = s32[] constant(0)
  d = {0}[1,64,64] dynamic-slice(w, i, z, z), dynamic_slice_sizes={{1,64,64}}
  r = {0}[64,64] reshape(d)
  p = {0}[64] dot(x, r), lhs_contracting_dims={{0}}, rhs_contracting_dims={{{1}}}
  k = s32[] constant(3)
  n = s32[] negate(i)
  c = {0}[2,64,64] dynamic-slice(w, n, k, z), dynamic_slice_sizes={{2,64,64}}
  s = {0}[128,64] reshape(c)
  q = {0}[128] dot(s, p), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  e = {0}[1,64,64] dynamic-slice(w, n, z, z), dynamic_slice_sizes={{1,64,64}}
  r2 = {0}[64,64] reshape(e)
  two = {0}[] constant(2)
  b = {0}[64] broadcast(two), dimensions={{}}
  o = {0}[64] dot(b, r2), lhs_contracting_dims={{0}}, rhs_contracting_dims={{{1}}}
  ROOT out = ({0}[64], {0}[128], {0}[64]) tuple(p, q, o)
}}
)",
          type, depth);
      expect_native(text, type == "f32" ? 1e-6 : 1e-2);
    }
}

// The caches of two layers, written and read in turn: no layer's is copied out of them.
TEST(Dot, BatchesOfAStaticPieceAreReadWhereTheyStand) {
  const std::string text = R"(HloModule m
ENTRY e {
  q = f32[8,16] parameter(0)
  cache = f32[2,8,256,16] parameter(1)
  k = f32[1,8,1,16] parameter(2)
  t = s32[] parameter(3)
  z = s32[] constant(0)
  one = s32[] constant(1)
  first = f32[2,8,256,16] dynamic-update-slice(cache, k, z, z, t, z)
  s0 = f32[1,8,256,16] slice(first), slice={[0:1], [0:8], [0:256], [0:16]}
  r0 = f32[8,256,16] reshape(s0)
  p0 = f32[8,256] dot(q, r0), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={0}, rhs_contracting_dims={2}
  h0 = f32[8,256] tanh(p0)
  v0 = f32[8,16] slice(h0), slice={[0:8], [100:116]}
  w0 = f32[1,8,1,16] reshape(v0)
  second = f32[2,8,256,16] dynamic-update-slice(first, w0, one, z, t, z)
  s1 = f32[1,8,128,16] slice(second), slice={[1:2], [0:8], [128:256], [0:16]}
  r1 = f32[8,128,16] reshape(s1)
  s2 = f32[1,8,256,16] slice(second), slice={[1:2], [0:8], [0:256], [0:16]}
  r2 = f32[8,256,16] reshape(s2)
  p1 = f32[8,128] dot(v0, r1), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={0}, rhs_contracting_dims={2}
  p2 = f32[8,256] dot(v0, r2), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={0}, rhs_contracting_dims={2}
  ROOT out = (f32[8,128], f32[8,256], f32[2,8,256,16]) tuple(p1, p2, second)
}
)";
  constexpr int64_t piece_bytes = 8 * 256 * 16 * 4;
  const auto both = run_both(text);
  expect_native(both, text, 1e-6);
  EXPECT_LT(both->report.temp_bytes, piece_bytes);
}

// The weights of several layers in one array, for products that a library does, and what follows
// part by part.
TEST(Dot, LibraryProductsReadPartsOfParametersWhereTheyStand) {
  for (const auto& [type, tolerance] : {std::pair{"f32", 1e-4}, {"f64", 1e-12}, {"bf16", 4e-2}}) {
    const std::string text = fmt::format(R"(HloModule m
ENTRY e {{
  x = {0}[2048,160] parameter(0)
  all = ({0}[4,160,160], s32[]) parameter(1)
  w = {0}[4,160,160] get-tuple-element(all), index=0
  a = {0}[1,160,160] slice(w), slice={{[0:1], [0:160], [0:160]}}
  b = {0}[1,160,160] slice(w), slice={{[2:3], [0:160], [0:160]}}
  c = {0}[2,160,160] slice(w), slice={{[2:4], [0:160], [0:160]}}
  ar = {0}[160,160] reshape(a)
  br = {0}[160,160] reshape(b)
  p = {0}[2048,160] dot(x, ar), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  t = {0}[2048,160] tanh(p)
  q = {0}[2048,160] dot(t, br), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}
  n = {0}[2048,160] negate(q)
  ROOT r = {0}[2048,2,160] dot(n, c), lhs_contracting_dims={{1}}, rhs_contracting_dims={{2}}
}}
)",
                                         type);
    const auto both = run_both(text);
    expect_native(both, text, tolerance);
    const int64_t rows_bytes = 2048 * 160 * storage_bytes(*element_type_of(type));
    EXPECT_LE(both->report.temp_bytes, 2 * rows_bytes) << type;
    expect_native_on_threads(text, tolerance);
  }
}

// A scan over layers: the number of the layer is known when the program runs, and may lie outside.
TEST(Dot, LibraryProductsReadDynamicPartsOfParametersWhereTheyStand) {
  for (const auto& [type, tolerance] : {std::pair{"f32", 1e-4}, {"f64", 1e-12}, {"bf16", 4e-2}}) {
    const std::string text = fmt::format(R"(HloModule m
body {{
  s = ({0}[192,160], {0}[4,2,160,160], s32[], u32[]) parameter(0)
  x = {0}[192,160] get-tuple-element(s), index=0
  w = {0}[4,2,160,160] get-tuple-element(s), index=1
  i = s32[] get-tuple-element(s), index=2
  u = u32[] get-tuple-element(s), index=3
  z = s32[] constant(0)
  one = s32[] constant(1)
  a = {0}[1,1,160,160] dynamic-slice(w, i, one, z, z), dynamic_slice_sizes={{1,1,160,160}}
  b = {0}[1,1,160,160] dynamic-slice(w, u, u, u, u), dynamic_slice_sizes={{1,1,160,160}}
  ar = {0}[160,160] reshape(a)
  br = {0}[160,160] reshape(b)
  p = {0}[192,160] dot(x, ar), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  small = {0}[] constant(0.03125)
  scale = {0}[192,160] broadcast(small), dimensions={{}}
  t = {0}[192,160] multiply(p, scale)
  q = {0}[192,160] dot(t, br), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}
  n = {0}[192,160] multiply(q, scale)
  next = s32[] add(i, one)
  less = u32[] constant(4294967294)
  before = u32[] add(u, less)
  ROOT out = ({0}[192,160], {0}[4,2,160,160], s32[], u32[]) tuple(n, w, next, before)
}}
condition {{
  s = ({0}[192,160], {0}[4,2,160,160], s32[], u32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=2
  most = s32[] constant(7)
  ROOT r = pred[] compare(i, most), direction=LT
}}
ENTRY e {{
  x = {0}[192,160] parameter(0)
  w = {0}[4,2,160,160] parameter(1)
  i = s32[] constant(-3)
  u = u32[] constant(5)
  s = ({0}[192,160], {0}[4,2,160,160], s32[], u32[]) tuple(x, w, i, u)
  l = ({0}[192,160], {0}[4,2,160,160], s32[], u32[]) while(s), condition=condition, body=body
  ROOT r = {0}[192,160] get-tuple-element(l), index=0
}}
)",
                                         type);
    const auto both = expect_native_on_threads(text, tolerance);
    const int64_t rows_bytes = 192 * 160 * storage_bytes(*element_type_of(type));
    EXPECT_LE(both->report.temp_bytes, 2 * rows_bytes + 1024) << type;
  }
}

// What waits for a write over the array reads a copy of the piece, not of the array.
TEST(Dot, APieceThatIsWrittenOverFirstIsCopied) {
  constexpr int64_t piece_bytes = 64 * 64 * 4;
  const std::string text = R"(HloModule m, input_output_alias={ {1}: (0, {}, must-alias) }
ENTRY e {
  w = f32[16,64,64] parameter(0)
  x = f32[1,64,64] parameter(1)
  z = s32[] constant(0)
  s = f32[1,64,64] slice(w), slice={[3:4], [0:64], [0:64]}
  r = f32[64,64] reshape(s)
  n = f32[16,64,64] dynamic-update-slice(w, x, z, z, z)
  a = f32[1,64,64] slice(n), slice={[1:2], [0:64], [0:64]}
  b = f32[64,64] reshape(a)
  row = f32[1,64] slice(b), slice={[5:6], [0:64]}
  c = f32[64] reshape(row)
  p = f32[64] dot(c, r), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT out = (f32[64], f32[16,64,64]) tuple(p, n)
}
)";
  const auto both = run_both(text);
  expect_native(both, text, 1e-6);
  EXPECT_LE(both->report.temp_bytes, 2 * piece_bytes);
}

TEST(Dot, FewColumnsOfAPieceAreReadWhereItStands) {
  expect_native(R"(HloModule m
ENTRY e {
  x = f32[600,3] parameter(0)
  w = f32[4,500,600] parameter(1)
  i = s32[] parameter(2)
  z = s32[] constant(0)
  d = f32[1,500,600] dynamic-slice(w, i, z, z), dynamic_slice_sizes={1,500,600}
  r = f32[500,600] reshape(d)
  ROOT p = f32[500,3] dot(r, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)",
                1e-5);
}

// Arrays times small matrices are sums in one loop, with the transpose that follows; c64 too.
TEST(Dot, ThoseOfSmallMatricesAreSums) {
  for (const auto& [in, out] : {std::pair{"f32", "f32"},
                                {"bf16", "bf16"},
                                {"f16", "f32"},
                                {"f64", "f64"},
                                {"c64", "c64"},
                                {"c128", "c128"}})
    for (const auto& [lines, depth, across, own] : {std::array{33, 2, 77, 2},
                                                    {16, 3, 128, 4},
                                                    {70, 4, 5, 4},
                                                    {1025, 4, 1, 3},
                                                    {1, 2, 1027, 3}})
      for (const bool small_first : {false, true}) {
        const std::string array = array_text(in, {lines, depth, across}),
                          matrix = array_text(in, {own, depth});
        const std::string text = fmt::format(
            "HloModule m\nENTRY e {{\n  a = {} parameter(0)\n  b = {} parameter(1)\n  d = {} "
            "dot(a, "
            "b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}\n  ROOT r = {} "
            "transpose(d), "
            "dimensions={{{}}}\n}}\n",
            small_first ? matrix : array, small_first ? array : matrix,
            array_text(out, small_first ? Dims{own, lines, across} : Dims{lines, across, own}),
            array_text(out, {lines, own, across}), small_first ? "1,0,2" : "0,2,1");
        const auto one = expect_native_on_threads(text, 1e-6);
        ASSERT_TRUE(one);
        EXPECT_EQ(one->report.routines, 0) << text;
      }
}

// Experts' weights of each token, which stand last in what is weighed: summed as that stands.
TEST(Dot, ThoseOfBatchesThatStandLastAreTransposedSums) {
  for (const char* type : {"f32", "bf16", "c64"})
    for (const bool small_first : {false, true}) {
      const std::string weights = array_text(type, {96, 6}), values = array_text(type, {6, 40, 96});
      const std::string text = fmt::format(
          "HloModule m\nENTRY e {{\n  a = {} parameter(0)\n  b = {} parameter(1)\n  ROOT r = {} "
          "dot(a, b), lhs_batch_dims={{{}}}, rhs_batch_dims={{{}}}, lhs_contracting_dims={{{}}}, "
          "rhs_contracting_dims={{{}}}\n}}\n",
          small_first ? weights : values, small_first ? values : weights,
          array_text(type, {96, 40}), small_first ? 0 : 2, small_first ? 2 : 0, small_first ? 1 : 0,
          small_first ? 0 : 1);
      const auto one = expect_native_on_threads(text, 1e-6);
      ASSERT_TRUE(one);
      EXPECT_EQ(one->report.routines, 0) << text;
    }
}

// Channels between other dimensions: batches of products, whose results nobody moves.
TEST(Dot, WhatIsSummedBetweenOthersIsInBatches) {
  for (const std::string_view type : {"f32", "bf16", "f16", "f64", "c64"})
    for (const auto& [before, depth, behind, own] :
         {std::array{3, 21, 35, 33}, {7, 40, 41, 9}, {2, 33, 129, 50}})
      for (const bool small_first : {false, true}) {
        const std::string array = array_text(type, {before, 1, depth, behind, 2}),
                          matrix = array_text(type, {own, depth}),
                          result = array_text(type, small_first ? Dims{own, before, 1, behind, 2}
                                                                : Dims{before, 1, behind, 2, own});
        const std::string text = fmt::format(
            "HloModule m\nENTRY e {{\n  a = {} parameter(0)\n  b = {} parameter(1)\n  d = {} "
            "dot(a, "
            "b), lhs_contracting_dims={{{}}}, rhs_contracting_dims={{{}}}\n  ROOT r = {} "
            "transpose(d), dimensions={{{}}}\n}}\n",
            small_first ? matrix : array, small_first ? array : matrix, result, small_first ? 1 : 2,
            small_first ? 2 : 1, array_text(type, {before, 1, own, behind, 2}),
            small_first ? "1,2,0,3,4" : "0,1,4,2,3");
        const auto one = expect_native_on_threads(text, type == "bf16" ? 1e-2 : 1e-3);
        ASSERT_TRUE(one);
        const int64_t repeated = before * own * depth * (type == "f32" ? 4 : 16);
        EXPECT_LE(one->report.temp_bytes, repeated + 4096) << text;
      }
}

// Rows on both sides of the summed dimensions, which no step leads along: a product for each
// before.
TEST(Dot, RowsOnBothSidesOfTheSumHaveCode) {
  for (const std::string_view type : {"f32", "bf16", "f64"})
    for (const auto& [before, depth, behind, columns] :
         {std::array{40, 8, 59, 64}, {3, 5, 7, 33}, {100, 2, 6, 17}, {2, 31, 100, 20}}) {
      const std::string text = fmt::format(
          "HloModule m\nENTRY e {{\n  a = {} parameter(0)\n  b = {} parameter(1)\n  ROOT r = {} "
          "dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n}}\n",
          array_text(type, {before, depth, behind}), array_text(type, {depth, columns}),
          array_text(type, {before, behind, columns}));
      const auto one = expect_native_on_threads(text, type == "bf16" ? 1e-2 : 1e-5);
      ASSERT_TRUE(one);
      EXPECT_EQ(one->report.routines, 0) << text;
    }
}

// Times what stays in the first cache: not left to a routine.
TEST(Dot, ManyRowsTimesSmallMatricesHaveCode) {
  for (const auto& [depth, columns] :
       {std::array{17, 7}, {64, 16}, {33, 13}, {17, 59}, {5, 1001}}) {
    const auto both = run_both(product(4003, depth, columns, false));
    ASSERT_TRUE(both);
    EXPECT_EQ(both->report.routines, 0);
    EXPECT_LE(largest_difference(both->compiled, both->evaluated), 1e-5);
  }
}

// Columns in one piece, of which strips are turned for a few rows; the last tiles lie over others.
TEST(Dot, ShortSumsOfAFewRowsHaveCode) {
  for (const auto& [rows, depth, columns] : {std::array{5, 7, 9},
                                             {6, 11, 13},
                                             {13, 45, 37},
                                             {7, 8, 8},
                                             {15, 4, 33},
                                             {12, 12, 12},
                                             {50, 24, 3},
                                             {61, 40, 7},
                                             {70, 33, 513}})
    expect_native(product(rows, depth, columns, true), 1e-5);
}

// Few columns, turned so that lanes go along long sums.
TEST(Dot, FewColumnsOfLongSumsAreTurned) {
  for (const auto& [rows, depth, columns] :
       {std::array{32, 64, 2}, {501, 203, 2}, {70, 32, 3}, {45, 67, 4}, {600, 515, 4}})
    for (const std::string& processor : processors()) {
      const std::string text = product(rows, depth, columns, false);
      const auto one = run_both(text, 1, 1, processor);
      expect_native(one, text, 1e-5);
      const auto three = run_both(text, 1, 3, processor);
      ASSERT_TRUE(one && three);
      EXPECT_TRUE(same_bits(one->compiled, three->compiled));
    }
}

// The lanes of any number of sums are added together, and what is left of a sum is masked.
TEST(Dot, AnyNumberOfSumsAlongLanes) {
  for (const auto& [rows, depth, columns] :
       {std::array{1, 50, 1}, {2, 97, 3}, {3, 64, 5}, {4, 131, 4}, {5, 200, 1}, {7, 100, 20}})
    for (const std::string& processor : processors()) {
      const std::string text = product(rows, depth, columns, true);
      expect_native(run_both(text, 1, 1, processor), text, 1e-5);
    }
}

// The last block of rows and the last strip of columns lie over those before them.
TEST(Dot, OfAnyNumberOfRowsAndColumns) {
  uint64_t number = 0;
  for (const int rows : {4, 5, 7, 30, 50, 150})
    for (const int columns : {3, 18, 33, 50, 67})
      for (const bool turned : {false, true}) {
        const std::string text = product(rows, 4 + rows % 5, columns, turned);
        const std::vector<std::string> all = processors();
        expect_native_on_threads(text, 1e-5, all[number++ % all.size()]);
      }
}

TEST(Dot, AnyNumberOfThreadsGivesTheSameBits) {
  for (const std::string& text :
       {product(3, 2000, 3001, false), product(333, 700, 1001, false), product(700, 64, 90, true),
        product(9, 600, 700, true), product(5000, 700, 3, false), product(9003, 33, 13, false),
        module_of({{9, 600}, {600, 700}, {}, {}, {1}, {0}, {9, 700}}, "c64", "c64"),
        module_of({{40, 3, 64}, {40, 64, 50}, {0}, {0}, {2}, {1}, {40, 3, 50}}, "c64", "c64"),
        module_of({{700, 600}, {600, 9}, {}, {}, {1}, {0}, {700, 9}}, "c64", "c64")}) {
    const auto one = run_both(text, 1, 1), two = run_both(text, 1, 2), many = run_both(text, 1, 7);
    ASSERT_TRUE(one && two && many);
    EXPECT_EQ(largest_difference(one->compiled, two->compiled), 0);
    EXPECT_EQ(largest_difference(one->compiled, many->compiled), 0);
  }
}

// Multiples of 1/8 whose sums f32 holds exactly: the same in f64, which other code multiplies.
TEST(Dot, LargeOnesOfEveryTypeAndOrderAreExact) {
  for (const auto& [type, result] : {std::array{"f32", "f32"},
                                     {"bf16", "f32"},
                                     {"f16", "f32"},
                                     {"s8", "s32"},
                                     {"u8", "s32"},
                                     {"s4", "s32"},
                                     {"s16", "s32"},
                                     {"u8", "s64"},
                                     {"f64", "f64"}})
    for (int order = 0; order < 4; ++order)
      for (const auto& [m, n, k] : {std::array{65, 100, 350},
                                    {130, 47, 333},
                                    {17, 33, 1200},
                                    {600, 40, 64},
                                    {20, 150, 333},
                                    {300, 5, 1200},
                                    {90, 3, 1000},
                                    {200, 250, 100}}) {
        const bool left = order & 1, right = order & 2;
        const std::string text = fmt::format(
            "HloModule m\nENTRY e {{\n  a = {0}[{2}] parameter(0)\n  b = {0}[{3}] parameter(1)\n"
            "  ROOT d = {1}[{4},{5}] dot(a, b), lhs_contracting_dims={{{6}}}, "
            "rhs_contracting_dims={{{7}}}\n}}\n",
            type, result, left ? fmt::format("{},{}", k, m) : fmt::format("{},{}", m, k),
            right ? fmt::format("{},{}", n, k) : fmt::format("{},{}", k, n), m, n, left ? 0 : 1,
            right ? 1 : 0);
        const auto both = run_both(text);
        ASSERT_TRUE(both) << to_string(both.error());
        EXPECT_TRUE(both->report.evaluated.empty()) << text;
        const auto module = parse(text);
        ASSERT_TRUE(module);
        EXPECT_EQ(largest_difference(both->compiled, product_in_f64(*module)), 0) << text;
      }
}

}  // namespace
}  // namespace hilo::test
