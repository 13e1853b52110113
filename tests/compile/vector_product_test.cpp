// Products of a vector with a matrix that is made for them alone, which is never stored.
#include <fmt/ranges.h>

#include "both.h"

namespace hilo::test {
namespace {

struct Case {
  std::string_view vector, matrix, result, batch_of_vector, batch, summed_of_vector, summed;
};
// Batches before, between and behind what is summed; sums along rows and across them; of several
// dimensions in another order.
constexpr Case cases[] = {{"1,300", "70,300", "1,70", "", "", "1", "1"},
                          {"300", "300,70", "70", "", "", "0", "0"},
                          {"3,1,40", "3,40,90", "3,1,90", "0", "0", "2", "1"},
                          {"2,3,64", "3,50,2,64", "3,2,50", "1,0", "0,2", "2", "3"},
                          {"1,6,64", "90,6,64", "6,1,90", "1", "1", "2", "2"},
                          {"5,64,1", "64,7,5,4", "1,7,4", "", "", "1,0", "0,2"},
                          {"9001", "9001", "", "", "", "0", "0"}};

std::string product(const Case& c, std::string_view type, bool is_left) {
  const auto dot = [&](std::string_view a, std::string_view b, std::string_view batch_a,
                       std::string_view batch_b, std::string_view sum_a, std::string_view sum_b) {
    return fmt::format(
        "dot({}, {}), lhs_batch_dims={{{}}}, rhs_batch_dims={{{}}}, lhs_contracting_dims={{{}}}, "
        "rhs_contracting_dims={{{}}}",
        a, b, batch_a, batch_b, sum_a, sum_b);
  };
  return fmt::format(R"(HloModule m
ENTRY e {{
  v = {0}[{1}] parameter(0)
  w = s8[{2}] parameter(1)
  half = {0}[] constant(0.5)
  c = {0}[{2}] convert(w)
  h = {0}[{2}] broadcast(half), dimensions={{}}
  m = {0}[{2}] multiply(c, h)
  ROOT r = {0}[{3}] {4} }}
)",
                     type, c.vector, c.matrix, c.result,
                     is_left
                         ? dot("v", "m", c.batch_of_vector, c.batch, c.summed_of_vector, c.summed)
                         : dot("m", "v", c.batch, c.batch_of_vector, c.summed, c.summed_of_vector));
}

TEST(VectorProduct, OfAComputedMatrix) {
  for (const Case& c : cases)
    for (const bool is_left : {true, false})
      for (const std::string_view type : {"f32", "f64", "bf16", "f16"}) {
        // Free dimensions of one element of the vector stand behind those of the matrix then.
        if (!is_left && c.result.contains("1,")) continue;
        const std::string text = product(c, type, is_left);
        const double tolerance = type == "f64" ? 1e-12 : type == "f32" ? 1e-5 : 0.02;
        for (const int threads : {1, 3})
          for (const std::string_view processor : {"native", "x86-64"}) {
            const auto both = run_both(text, 1, threads, std::string(processor));
            expect_native(both, text, tolerance);
            ASSERT_TRUE(both) << text;
            EXPECT_LE(both->report.temp_bytes, 8192) << text;
          }
      }
}

// Weights that are scaled in groups, whose dimensions are joined for the product.
TEST(VectorProduct, OfAComputedMatrixOfGroups) {
  struct Groups {
    std::string_view weights, scales, spread, matrix, vector, result, dims_of_vector, dims;
  };
  for (const Groups& g : {Groups{"100,8,32", "100,8", "0,1", "100,256", "1,256", "1,100", "1", "1"},
                          Groups{"8,32,1,70", "8,70", "0,3", "256,70", "256", "70", "0", "0"},
                          Groups{"64,5,40", "64,5", "0,1", "64,200", "64", "200", "0", "0"}})
    for (const std::string_view type : {"f32", "bf16"}) {
      const std::string text = fmt::format(R"(HloModule m
ENTRY e {{
  v = {0}[{5}] parameter(0)
  w = s8[{1}] parameter(1)
  s = {0}[{2}] parameter(2)
  c = {0}[{1}] convert(w)
  b = {0}[{1}] broadcast(s), dimensions={{{3}}}
  p = {0}[{1}] multiply(c, b)
  m = {0}[{4}] reshape(p)
  ROOT r = {0}[{6}] dot(v, m), lhs_contracting_dims={{{7}}}, rhs_contracting_dims={{{8}}} }}
)",
                                           type, g.weights, g.scales, g.spread, g.matrix, g.vector,
                                           g.result, g.dims_of_vector, g.dims);
      for (const int threads : {1, 3}) {
        const auto both = run_both(text, 1, threads);
        expect_native(both, text, type == "f32" ? 1e-5 : 0.03);
        ASSERT_TRUE(both) << text;
        EXPECT_LE(both->report.temp_bytes, 8192) << text;
      }
    }
}

// What others read too, and what is not made, stays a product.
TEST(VectorProduct, OfAStoredMatrix) {
  const std::string text = R"(HloModule m
ENTRY e {
  v = f32[200] parameter(0)
  w = f32[200,70] parameter(1)
  n = f32[200,70] negate(w)
  a = f32[70] dot(v, n), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  b = f32[70] dot(v, w), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT r = (f32[70], f32[70], f32[200,70]) tuple(a, b, n) }
)";
  expect_native(run_both(text), text, 1e-5);
}

}  // namespace
}  // namespace hilo::test
