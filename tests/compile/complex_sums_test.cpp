// Sums of complex numbers, which are those of their parts.
#include "both.h"

namespace hilo::test {
namespace {

// Numbers of 8 bits and their sums are exact.
TEST(ComplexSums, AlongRowsAndOverAll) {
  for (const std::string_view type : {"c64", "c128"})
    for (const auto& [from, to, dims] :
         std::initializer_list<std::array<std::string_view, 3>>{{"100000", "", "0"},
                                                                {"7,300", "7", "1"},
                                                                {"5,4,65", "5", "1,2"},
                                                                {"5,70,1", "5,1", "1"},
                                                                {"70,6", "6", "0"},
                                                                {"20,16", "16", "0"},
                                                                {"3,12,40", "3,40", "1"},
                                                                {"9,3", "9", "1"},
                                                                {"3,64,2", "64", "0,2"}}) {
      const std::string text = fmt::format(R"(HloModule m
add {{ a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  ROOT r = {0}[] add(b, a) }}
ENTRY e {{
  x = {0}[{1}] parameter(0)
  z = {0}[] parameter(1)
  y = {0}[{1}] negate(x)
  s = {0}[{2}] reduce(x, z), dimensions={{{3}}}, to_apply=add
  t = {0}[{2}] reduce(y, z), dimensions={{{3}}}, to_apply=add
  ROOT r = ({0}[{2}], {0}[{2}]) tuple(s, t) }}
)",
                                           type, from, to, dims);
      for (const int threads : {1, 3})
        for (const std::string processor : {"native", "x86-64"})
          expect_native(run_both(text, 1, threads, processor), text);
    }
}

// Of numbers of few bits, whose products and sums are exact; a product of rows with columns stays.
TEST(ComplexSums, OfProductsOfRows) {
  for (const std::string_view type : {"c64", "c128"})
    for (const auto& [from, to, batch, dims] :
         std::initializer_list<std::array<std::string_view, 4>>{{"5000", "", "", "0"},
                                                                {"7,300", "7", "0", "1"},
                                                                {"5,4,65", "5", "0", "1,2"},
                                                                {"3,2,70,1", "3,2", "0,1", "3,2"},
                                                                {"3,2,70", "2,3", "1,0", "2"},
                                                                {"70,6", "6", "1", "0"},
                                                                {"9,3", "9", "0", "1"}}) {
      const std::string text = fmt::format(R"(HloModule m
ENTRY e {{
  x = {0}[{1}] parameter(0)
  y = {0}[{1}] parameter(1)
  a = {0}[{1}] negate(x)
  ROOT r = {0}[{2}] dot(a, y), lhs_batch_dims={{{3}}}, rhs_batch_dims={{{3}}}, lhs_contracting_dims={{{4}}}, rhs_contracting_dims={{{4}}} }}
)",
                                           type, from, to, batch, dims);
      for (const int threads : {1, 3})
        for (const std::string processor : {"native", "x86-64"})
          expect_native(run_both(text, 1, threads, processor), text);
    }
}

// Products are of both parts of each number.
TEST(ComplexSums, ProductsAreNotThoseOfParts) {
  expect_native(R"(HloModule m
multiply { a = c64[] parameter(0)
  b = c64[] parameter(1)
  ROOT r = c64[] multiply(a, b) }
ENTRY e {
  x = c64[3,80] parameter(0)
  h = c64[] constant((0.5, 0.25))
  hb = c64[3,80] broadcast(h), dimensions={}
  y = c64[3,80] multiply(x, hb)
  z = c64[] constant((1, 0))
  ROOT s = c64[3] reduce(y, z), dimensions={1}, to_apply=multiply })",
                1e-4);
}

// Rows of a matrix, or of those of a batch, with a vector on either side; columns stay a product.
TEST(ComplexSums, OfMatricesAndVectors) {
  struct Case {
    std::string_view matrix, vector, result, batch, of_matrix, of_vector;
  };
  for (const std::string_view type : {"c64", "c128"})
    for (const Case& c :
         {Case{"16,16", "16", "16", "", "1", "0"}, Case{"70,9", "9", "70", "", "1", "0"},
          Case{"5,4,30", "4,30", "5", "", "1,2", "0,1"},
          Case{"5,4,30", "30,4", "5", "", "1,2", "1,0"},
          Case{"3,20,33", "3,33", "3,20", "0", "2", "1"}, Case{"20,20", "20", "20", "", "0", "0"},
          Case{"300,300", "300", "300", "", "1", "0"}})
      for (const bool is_left : {true, false}) {
        const std::string text =
            fmt::format(R"(HloModule m
ENTRY e {{
  a = {0}[{1}] parameter(0)
  v = {0}[{2}] parameter(1)
  ROOT r = {0}[{3}] dot({4}), lhs_batch_dims={{{5}}}, rhs_batch_dims={{{5}}}, lhs_contracting_dims={{{6}}}, rhs_contracting_dims={{{7}}} }}
)",
                        type, c.matrix, c.vector, c.result, is_left ? "a, v" : "v, a", c.batch,
                        is_left ? c.of_matrix : c.of_vector, is_left ? c.of_vector : c.of_matrix);
        const auto one = run_both(text, 1, 1), three = run_both(text, 1, 3);
        expect_native(one, text, type == "c64" ? 1e-5 : 1e-12);
        ASSERT_TRUE(one && three) << text;
        EXPECT_TRUE(same_bits(one->compiled, three->compiled)) << text;
      }
}

}  // namespace
}  // namespace hilo::test
