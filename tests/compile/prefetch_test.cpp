// Large arrays that are read from their beginning on are fetched ahead, with the same values.
#include <regex>

#include "large_arrays.h"

namespace hilo::test {
namespace {

int64_t count_fetched(std::string_view text, std::string_view processor = "native") {
  return count_in_code(text, "call void @llvm.prefetch", processor);
}

std::string sums(int64_t rows, int64_t columns, int64_t dim) {
  return fmt::format(R"(HloModule m
add {{ a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }}
ENTRY e {{
  x = f32[{0},{1}] parameter(0)
  z = f32[] constant(0)
  ROOT s = f32[{2}] reduce(x, z), dimensions={{{3}}}, to_apply=add }}
)",
                     rows, columns, dim == 0 ? columns : rows, dim);
}
std::string elements(int64_t count) {
  return fmt::format(R"(HloModule m
ENTRY e {{
  x = bf16[{0}] parameter(0)
  ROOT t = bf16[{0}] multiply(x, x) }}
)",
                     count);
}

std::string looked_up(int64_t count) {
  return fmt::format(R"(HloModule m
ENTRY e {{
  x = bf16[{0}] parameter(0)
  l = bf16[{0}] logistic(x)
  ROOT t = bf16[{0}] multiply(x, l) }}
)",
                     count);
}

TEST(Prefetch, WhereNoNearCacheHoldsThem) {
  const auto& [first, second, last] = find_cpu("native").cores.caches;
  const int64_t near = std::max(2 * second.bytes, last.bytes / last.cores);
  const std::pair<std::string, std::string> large_and_small[] = {
      {elements(near / 2), elements(near / 4)},
      {looked_up(near / 2), looked_up(near / 4)},
      {rows_less_sums(near / 4096), rows_less_sums(near / 8192)}};
  for (const auto& [large, small] : large_and_small) {
    const auto both = run_both(large, 1, 3);
    ASSERT_TRUE(both) << to_string(both.error());
    EXPECT_LE(largest_difference(both->compiled, both->evaluated), 1e-6) << large;
    EXPECT_GT(count_fetched(large), 0) << large;
    EXPECT_EQ(count_fetched(small), 0) << small;
  }
}

#ifdef __x86_64__
TEST(Prefetch, OfLoopsThatOnlyRead) {
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "code for AVX2";
  EXPECT_GT(count_fetched(sums(2048, 1024, 1), "x86-64-v3"), 0);
}

// Code for another processor, which need not run here.
std::string code_for(std::string_view processor, const std::string& text) {
  CompileOptions options;
  options.emit.cpu = processor;
  std::string out;
  options.emit.see_code = [&](std::string_view ir, std::string_view) { out += ir; };
  const auto object = compile_object(*parse(text), "f", cpu_target(), options);
  EXPECT_TRUE(object) << to_string(object.error());
  return out;
}

TEST(Prefetch, NotWhereTheProcessorLooksFarEnoughAhead) {
  for (const auto& [processor, reads, fetches] :
       {std::tuple("znver3", true, false), std::tuple("znver3", false, true),
        std::tuple("sapphirerapids", true, true)}) {
    const std::string text = reads ? sums(2048, 1024, 1) : elements(1 << 21);
    EXPECT_EQ(code_for(processor, text).contains("call void @llvm.prefetch"), fetches)
        << processor << text;
  }
}

// Whether something is fetched so many bytes ahead.
bool fetches_ahead(std::string_view processor, const std::string& text, int64_t bytes) {
  const std::regex ahead(fmt::format(
      R"((%\d+) = getelementptr i8, ptr %\d+, i64 {}\n.*@llvm.prefetch.p0\(ptr \1,)", bytes));
  return std::regex_search(code_for(processor, text), ahead);
}

std::string sum_of_arrays(int64_t arrays, int64_t count) {
  std::string out = fmt::format(
      "HloModule m\nENTRY e {{\n  x0 = f32[{0}] parameter(0)\n  s0 = f32[{0}] abs(x0)\n", count);
  for (int64_t i = 1; i < arrays; ++i)
    out += fmt::format("  x{1} = f32[{0}] parameter({1})\n  {3}s{1} = f32[{0}] add(s{2}, x{1})\n",
                       count, i, i - 1, i + 1 == arrays ? "ROOT " : "");
  return out + "}\n";
}

// As far as one array is fetched ahead, several are together.
TEST(Prefetch, FarAheadWhereTheyAreFew) {
  const std::string processor = "sapphirerapids";
  EXPECT_TRUE(fetches_ahead(processor, elements(1 << 21), 4096));
  for (const auto& [arrays, bytes] : {std::pair(2, 2048), std::pair(4, 1024), std::pair(6, 1024)})
    EXPECT_TRUE(fetches_ahead(processor, sum_of_arrays(arrays, 1 << 21), bytes)) << arrays;
}

// Squares of the first columns of a matrix.
std::string squares(int64_t rows, int64_t columns, int64_t of_columns) {
  return fmt::format(R"(HloModule m
ENTRY e {{
  x = f32[{0},{2}] parameter(0)
  c = f32[{0},{1}] slice(x), slice={{[0:{0}],[0:{1}]}}
  ROOT s = f32[{0},{1}] multiply(c, c) }}
)",
                     rows, columns, of_columns);
}

// Much would be fetched for nothing behind the end of a short piece.
TEST(Prefetch, NotFarAheadInShortPieces) {
  const std::string processor = "sapphirerapids";
  for (const auto& [columns, bytes] : {std::pair(1 << 12, 1024), std::pair(1 << 15, 4096)}) {
    const std::string text = squares((1 << 24) / columns, columns, columns + 1000);
    for (const int64_t ahead : {1024, 4096})
      EXPECT_EQ(fetches_ahead(processor, text, ahead), ahead == bytes) << columns;
  }
}

// Behind its sum a row is read again, from a cache.
TEST(Prefetch, RowsAheadOfThoseThatAreReadAgain) {
  for (const auto& [columns, bytes] : {std::pair(1024, 4096), std::pair(300, 4800)}) {
    const std::string text =
        std::regex_replace(rows_less_sums(8192), std::regex("1024"), std::to_string(columns));
    EXPECT_TRUE(fetches_ahead("znver3", text, bytes)) << columns;
  }
}
#endif

// What is ahead in one row of many that are read at once is not read next.
TEST(Prefetch, NotInSeveralRowsAtOnce) {
  EXPECT_EQ(count_fetched(sums(2048, 5592, 0)), 0);
  EXPECT_EQ(count_fetched(sums(2048, 1024, 0)), 0);
}

}  // namespace
}  // namespace hilo::test
