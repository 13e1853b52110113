// Products and convolutions and the steps that read their results, part by part.
#include <fmt/ranges.h>

#include "both.h"

namespace hilo::test {
namespace {

// `text` with TYPE, DIMS, LAST (the last dimension's number) and COLUMNS (its size) filled in, for
// results of these dimensions.
std::string filled(std::string text, std::string_view type, const Dims& dims) {
  const std::pair<std::string_view, std::string> words[] = {
      {"TYPE", std::string(type)},
      {"DIMS", fmt::format("[{}]", fmt::join(dims, ","))},
      {"LAST", fmt::format("{}", dims.size() - 1)},
      {"COLUMNS", fmt::format("{}", dims.back())}};
  for (const auto& [word, with] : words)
    for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += with.size())
      text.replace(at, word.size(), with);
  return text;
}

constexpr std::string_view relu = R"(
  z = TYPE[] constant(0)
  zs = TYPE DIMS broadcast(z), dimensions={}
  ROOT r = TYPE DIMS maximum(d, zs) })";
constexpr std::string_view bias = R"(
  bs = TYPE DIMS broadcast(b), dimensions={LAST}
  ROOT r = TYPE DIMS add(d, bs) })";

std::string module_of(std::string_view head, std::string_view tail, std::string_view type,
                      const Dims& dims) {
  std::string text = filled(
      std::string("HloModule m\nENTRY e {") + std::string(head) + std::string(tail), type, dims);
  for (size_t at = 0; (at = text.find(" [", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

// The bits are those of the steps one after the other, which other numbers of threads have too.
CompileReport expect_agreement(const std::string& text, double tolerance) {
  const auto one = run_both(text, 1, 1), seven = run_both(text, 1, 7);
  EXPECT_TRUE(one && seven) << (one ? "" : to_string(one.error())) << text;
  if (!one || !seven) return {};
  EXPECT_LE(largest_difference(one->compiled, one->evaluated), tolerance) << text;
  EXPECT_TRUE(same_bits(one->compiled, seven->compiled)) << text;
  EXPECT_TRUE(one->report.evaluated.empty()) << text;
  return one->report;
}

constexpr std::string_view convolution = R"(
  x = TYPE[2,61,67,5] parameter(0)
  w = TYPE[3,3,5,40] parameter(1)
  y = TYPE DIMS parameter(2)
  b = TYPE[40] parameter(3)
  d = TYPE DIMS convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
)";
const Dims many_places = {2, 61, 67, 40};

TEST(TileAndFuse, ConvolutionsInCode) {
  for (const std::string_view tail : {relu, bias, std::string_view(R"(
  a = TYPE DIMS add(d, y)
  s = TYPE DIMS subtract(d, y)
  ROOT r = (TYPE DIMS, TYPE DIMS) tuple(a, s) })"),
                                      // The convolution's result is one of the module's.
                                      std::string_view(R"(
  a = TYPE DIMS add(d, y)
  ROOT r = (TYPE DIMS, TYPE DIMS) tuple(a, d) })")}) {
    const std::string text = module_of(convolution, tail, "f32", many_places);
    EXPECT_EQ(expect_agreement(text, 1e-5).joined, 1) << text;
  }
}

TEST(TileAndFuse, NotWhereOtherPlacesAreRead) {
  for (const std::string_view tail : {R"(
  v = TYPE DIMS reverse(d), dimensions={1}
  ROOT r = TYPE DIMS add(d, v) })",
                                      R"(
  ROOT r = TYPE DIMS reverse(d), dimensions={3} })"}) {
    const std::string text = module_of(convolution, tail, "f32", many_places);
    EXPECT_EQ(expect_agreement(text, 1e-5).joined, 0) << text;
  }
}

// With few and many rows, columns and terms, in which their parts differ.
TEST(TileAndFuse, ProductsOfALibrary) {
  struct Case {
    std::string_view left, right, numbers;
    Dims result;
  };
  constexpr std::string_view plain = "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
                             turned = "lhs_contracting_dims={1}, rhs_contracting_dims={1}",
                             batches =
                                 "lhs_batch_dims={0}, rhs_batch_dims={0}, "
                                 "lhs_contracting_dims={2}, rhs_contracting_dims={1}";
  const int64_t second_cache = find_cpu("native").cores.caches[1].bytes;
  for (const Case& c : {Case{"[531,70]", "[70,1040]", plain, {531, 1040}},
                        Case{"[531,1700]", "[1700,1040]", plain, {531, 1040}},
                        Case{"[40,70]", "[70,16400]", plain, {40, 16400}},
                        Case{"[6000,70]", "[70,144]", plain, {6000, 144}},
                        Case{"[1025,700]", "[1040,700]", turned, {1025, 1040}},
                        Case{"[3,260,70]", "[3,70,1104]", batches, {3, 260, 1104}}})
    for (const auto& [type, tolerance] :
         {std::pair{"f32", 1e-5}, {"bf16", 0.01}, {"f16", 0.002}, {"f64", 1e-13}, {"s8", 0.0}})
      for (const std::string_view tail : {relu, bias}) {
        const std::string head = fmt::format(R"(
  x = TYPE{} parameter(0)
  w = TYPE{} parameter(1)
  b = TYPE[COLUMNS] parameter(2)
  d = TYPE DIMS dot(x, w), {}
)",
                                             c.left, c.right, c.numbers);
        const std::string text = module_of(head, tail, type, c.result);
        const int64_t bytes = element_count(c.result) * storage_bytes(*element_type_of(type));
        EXPECT_EQ(expect_agreement(text, tolerance).joined, bytes >= second_cache ? 1 : 0) << text;
      }
}

// Columns that no parts can be cut of, and a result in another type of as many elements.
TEST(TileAndFuse, OtherProducts) {
  constexpr std::string_view head = R"(
  x = TYPE[601,70] parameter(0)
  w = TYPE[70,1001] parameter(1)
  b = TYPE[COLUMNS] parameter(2)
  d = TYPE DIMS dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
)";
  const std::string odd = module_of(head, relu, "f32", {601, 1001});
  EXPECT_EQ(expect_agreement(odd, 1e-5).joined, 0);
  constexpr std::string_view widened = "ROOT r = f32 DIMS convert(d) }";
  std::string even = module_of(head, widened, "bf16", {601, 1008});
  even.replace(even.find("[70,1001]"), 9, "[70,1008]");
  EXPECT_EQ(expect_agreement(even, 0.01).joined, 1);
}

}  // namespace
}  // namespace hilo::test
