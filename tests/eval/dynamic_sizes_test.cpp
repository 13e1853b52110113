// Dynamic dimensions: the op on what is there is the op on arrays of that size.
#include <numeric>

#include "devices.h"

namespace hilo::test {
namespace {

// `shape` has "N" where the size stands: the bound 6 with size 4, or 4.
std::string with_size(std::string text, bool dynamic) {
  for (size_t at = 0; (at = text.find("N", at)) != std::string::npos;)
    text.replace(at, 1, dynamic ? "<=6" : "4");
  return text;
}

// The first n of the values, and NaNs beyond them where the dimension is dynamic.
struct Sized {
  std::string shape;  // f32[2,N]
  std::string name;
};

std::string operand(const Sized& sized, int64_t dim, bool dynamic) {
  const std::string shape = with_size(sized.shape, false);
  if (!dynamic) return " " + sized.name + " = " + shape + " parameter(0)\n";
  std::string bound = sized.shape, padding;
  bound.replace(bound.find('N'), 1, "6");
  const int64_t rank = std::count(shape.begin(), shape.end(), ',') + 1;
  for (int64_t d = 0; d < rank; ++d)
    padding += (d ? "x" : "") + std::string(d == dim ? "0_2" : "0_0");
  return " given = " + shape + " parameter(0)\n nan = f32[] constant(nan)\n whole = " + bound +
         " pad(given, nan), padding=" + padding + "\n four = s32[] constant(4)\n " + sized.name +
         " = " + with_size(sized.shape, true) + " set-dimension-size(whole, four), dimensions={" +
         std::to_string(dim) + "}\n";
}

// The body's root is `r`; of a dynamic result only what is there is compared, by its sum over the
// dynamic dimension and itself at the places that the static module has.
Numbers run_once(const Sized& sized, int64_t dim, const std::string& body, bool dynamic,
                 std::vector<float> values, Dims dims, const std::string& computations) {
  const auto rows = run_well("HloModule m\n" + computations + "ENTRY e {\n" +
                                 operand(sized, dim, dynamic) + with_size(body, dynamic) + "}\n",
                             {{f32(std::move(dims), values)}});
  return rows.empty() ? Numbers{} : rows[0];
}

std::vector<float> ramp(int64_t count) {
  std::vector<float> out(count);
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<float>((7 * i) % 11);
  return out;
}

// Each row of the dynamic result begins with the row of the static one.
void expect_rows(const Numbers& dynamic, const Numbers& fixed, size_t bound, size_t size) {
  ASSERT_EQ(dynamic.size() * size, fixed.size() * bound);
  for (size_t i = 0; i < fixed.size(); ++i)
    EXPECT_EQ(dynamic[i / size * bound + i % size], fixed[i]) << i;
}

TEST(DynamicSizes, ConvolutionTakesWhatIsNotThereForPadding) {
  const std::string body =
      " k = f32[1,1,3] constant({{{1, 2, 3}}})\n ROOT r = f32[1,1,N] convolution(x, k), "
      "window={size=3 pad=1_1}, dim_labels=bf0_oi0->bf0\n";
  const Sized x{"f32[1,1,N]", "x"};
  const Numbers dynamic = run_once(x, 2, body, true, ramp(4), {1, 1, 4}, "");
  expect_rows(dynamic, run_once(x, 2, body, false, ramp(4), {1, 1, 4}, ""), 6, 4);
}

TEST(DynamicSizes, ReduceWindowAndSelectAndScatter) {
  const std::string max =
      "max {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT m = f32[] maximum(a, "
      "b)\n}\nless {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT m = f32[] "
      "subtract(a, b)\n}\nge {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = pred[] "
      "compare(a, b), direction=GE\n}\n" +
      std::string(add_f32);
  const Sized x{"f32[2,N]", "x"};
  for (const char* op : {"max", "less"}) {
    const std::string body =
        " z = f32[] constant(-100)\n ROOT r = f32[2,N] reduce-window(x, z), window={size=1x3 "
        "pad=0_0x1_1}, to_apply=" +
        std::string(op) + "\n";
    const Numbers dynamic = run_once(x, 1, body, true, ramp(8), {2, 4}, max);
    expect_rows(dynamic, run_once(x, 1, body, false, ramp(8), {2, 4}, max), 6, 4);
  }
  const std::string body =
      " z = f32[] constant(0)\n s = f32[2,N] negate(x)\n ROOT r = f32[2,N] select-and-scatter(x, "
      "s, z), window={size=1x3 pad=0_0x1_1}, select=ge, scatter=add\n";
  const Numbers dynamic = run_once(x, 1, body, true, ramp(8), {2, 4}, max);
  expect_rows(dynamic, run_once(x, 1, body, false, ramp(8), {2, 4}, max), 6, 4);
}

TEST(DynamicSizes, FftOfABatch) {
  const std::string body =
      " y = c64[N,4] fft(x), fft_type=RFFT, fft_length={4}\n ROOT r = f32[N,3] real(y)\n";
  std::string fixed = body;
  fixed.replace(fixed.find("c64[N,4]"), 8, "c64[N,3]");
  const Sized x{"f32[N,4]", "x"};
  const Numbers dynamic = run_once(x, 0, fixed, true, ramp(16), {4, 4}, "");
  const Numbers whole = run_once(x, 0, fixed, false, ramp(16), {4, 4}, "");
  ASSERT_EQ(dynamic.size(), 18u);
  EXPECT_EQ(Numbers(dynamic.begin(), dynamic.begin() + 12), whole);
}

// Two features; the batch has four of six elements.
TEST(DynamicSizes, BatchNorms) {
  const std::string features = " s = f32[2] constant({1, 2})\n o = f32[2] constant({3, 4})\n";
  const Sized x{"f32[N,2]", "x"};
  const std::string training =
      features +
      " t = (f32[N,2], f32[2], f32[2]) batch-norm-training(x, s, o), epsilon=0.5, "
      "feature_index=1\n ROOT r = f32[2] get-tuple-element(t), index=2\n";
  EXPECT_EQ(run_once(x, 0, training, true, ramp(8), {4, 2}, ""),
            run_once(x, 0, training, false, ramp(8), {4, 2}, ""));
  const std::string grad =
      features +
      " t = (f32[N,2], f32[2], f32[2]) batch-norm-grad(x, s, o, s, x), epsilon=0.5, "
      "feature_index=1\n ROOT r = f32[2] get-tuple-element(t), index=1\n";
  EXPECT_EQ(run_once(x, 0, grad, true, ramp(8), {4, 2}, ""),
            run_once(x, 0, grad, false, ramp(8), {4, 2}, ""));
  const std::string inference =
      features +
      " ROOT r = f32[N,2] batch-norm-inference(x, s, o, o, s), epsilon=0.5, "
      "feature_index=1\n";
  const Numbers dynamic = run_once(x, 0, inference, true, ramp(8), {4, 2}, "");
  const Numbers whole = run_once(x, 0, inference, false, ramp(8), {4, 2}, "");
  ASSERT_EQ(dynamic.size(), 12u);
  EXPECT_EQ(Numbers(dynamic.begin(), dynamic.begin() + 8), whole);
}

// The sum of what is there of 1, 2, ... in [4,3] whose dimension `dim` has size 2, after `body`,
// which makes `n` of `x`; `dims` are all of n's.
double sum_after(int64_t dim, const std::string& body, const std::string& dims) {
  std::vector<float> values(12);
  std::iota(values.begin(), values.end(), 1.0f);
  const auto rows =
      run_well("HloModule m\n" + std::string(add_f32) +
                   "ENTRY e {\n a = f32[4,3] parameter(0)\n two = s32[] constant(2)\n zero = f32[] "
                   "constant(0)\n x = f32[4,3] set-dimension-size(a, two), dimensions={" +
                   std::to_string(dim) + "}\n" + body +
                   " ROOT r = f32[] reduce(n, zero), dimensions={" + dims + "}, to_apply=add\n}\n",
               {{f32({4, 3}, values)}});
  return rows.empty() ? 0 : rows[0].at(0);
}

// XLA's verifier takes results without marks; what XLA computes of them is what stands here.
TEST(DynamicSizes, TextsNeedNotMarkResults) {
  const double rows = 1 + 2 + 3 + 4 + 5 + 6, columns = 1 + 2 + 4 + 5 + 7 + 8 + 10 + 11;
  for (int64_t dim : {0, 1}) {
    const double there = dim == 0 ? rows : columns;
    EXPECT_EQ(sum_after(dim, " n = f32[4,3] negate(x)\n", "0,1"), -there);
    EXPECT_EQ(sum_after(dim, " y = f32[4,3] add(x, a)\n n = f32[4,3] copy(y)\n", "0,1"), 2 * there);
    EXPECT_EQ(sum_after(dim, " n = f32[3,4] transpose(x), dimensions={1,0}\n", "0,1"), there);
    EXPECT_EQ(sum_after(dim, " n = f32[4,3] reverse(x), dimensions={0}\n", "0,1"), there);
    EXPECT_EQ(sum_after(dim, " n = f32[2,4,3] broadcast(x), dimensions={1,2}\n", "0,1,2"),
              2 * there);
    EXPECT_EQ(sum_after(dim, " n = f32[8,3] concatenate(x, x), dimensions={0}\n", "0,1"),
              2 * there);
    EXPECT_EQ(sum_after(dim, " n = f32[4,1,3] reshape(x)\n", "0,1,2"), there);
    EXPECT_EQ(sum_after(dim, " n = f32[12] reshape(x)\n", "0"), there);
    EXPECT_EQ(sum_after(dim,
                        " t = (f32[4,3], f32[]) tuple(x, zero)\n y = f32[4,3] "
                        "get-tuple-element(t), index=0\n n = f32[4,3] abs(y)\n",
                        "0,1"),
              there);
    EXPECT_EQ(sum_after(dim,
                        " n = f32[4,3,4,3] dot(x, x), lhs_contracting_dims={}, "
                        "rhs_contracting_dims={}\n",
                        "0,1,2,3"),
              there * there);
  }
  EXPECT_EQ(
      sum_after(
          0, " all = s32[] constant(4)\n n = f32[4,3] set-dimension-size(x, all), dimensions={0}\n",
          "0,1"),
      78);
}

TEST(DynamicSizes, GoThroughLoopsAndBranches) {
  const std::string text = std::string("HloModule m\n") + add_f32 +
                           R"(body {
 t = (s32[], f32[4]) parameter(0)
 i = s32[] get-tuple-element(t), index=0
 x = f32[4] get-tuple-element(t), index=1
 one = s32[] constant(1)
 j = s32[] add(i, one)
 y = f32[4] add(x, x)
 ROOT o = (s32[], f32[4]) tuple(j, y)
}
cond {
 t = (s32[], f32[4]) parameter(0)
 i = s32[] get-tuple-element(t), index=0
 n = s32[] constant(2)
 ROOT c = pred[] compare(i, n), direction=LT
}
negated {
 x = f32[4] parameter(0)
 ROOT y = f32[4] negate(x)
}
doubled {
 x = f32[4] parameter(0)
 ROOT y = f32[4] add(x, x)
}
ENTRY e {
 a = f32[4] parameter(0)
 two = s32[] constant(2)
 zero = f32[] constant(0)
 i = s32[] constant(0)
 p = f32[<=4] set-dimension-size(a, two), dimensions={0}
 t = (s32[], f32[4]) tuple(i, p)
 w = (s32[], f32[4]) while(t), condition=cond, body=body
 x = f32[4] get-tuple-element(w), index=1
 s = f32[] reduce(x, zero), dimensions={0}, to_apply=add
 which = pred[] compare(s, zero), direction=GT
 c = f32[4] conditional(which, x, x), true_computation=negated, false_computation=doubled
 ROOT r = f32[] reduce(c, zero), dimensions={0}, to_apply=add
}
)";
  const auto rows = run_well(text, {{f32({4}, {1, 2, 3, 4})}});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at(0), -4 * (1 + 2));
}

// The sum of what is there after `body`, which makes `n` of x = 1, 2, ... in [<=8] of size 5, and
// the size of n where n is marked.
std::pair<double, double> sum_and_size(const std::string& body) {
  std::vector<float> values(8);
  std::iota(values.begin(), values.end(), 1.0f);
  const auto rows = run_well(
      "HloModule m\n" + std::string(add_f32) +
          "ENTRY e {\n a = f32[8] parameter(0)\n five = s32[] constant(5)\n zero = f32[] "
          "constant(0)\n ten = f32[] constant(10)\n x = f32[<=8] set-dimension-size(a, five), "
          "dimensions={0}\n n = " +
          body +
          "\n s = f32[] reduce(n, zero), dimensions={0}, to_apply=add\n g = s32[] "
          "get-dimension-size(n), dimensions={0}\n h = f32[] convert(g)\n t = f32[2] "
          "broadcast(s), dimensions={}\n u = f32[1] slice(t), slice={[0:1]}\n v = f32[1] "
          "reshape(h)\n ROOT r = f32[2] concatenate(u, v), dimensions={0}\n}\n",
      {{f32({8}, values)}});
  return rows.empty() ? std::pair(0.0, 0.0) : std::pair(rows[0].at(0), rows[0].at(1));
}

// The values are XLA's.
TEST(DynamicSizes, SlicesAndPaddingGoByWhatIsThere) {
  using Pair = std::pair<double, double>;
  EXPECT_EQ(sum_and_size("f32[<=8] slice(x), slice={[0:8]}"), Pair(15, 5));
  EXPECT_EQ(sum_and_size("f32[<=6] slice(x), slice={[0:6]}"), Pair(15, 5));
  EXPECT_EQ(sum_and_size("f32[<=4] slice(x), slice={[2:6]}"), Pair(12, 3));
  EXPECT_EQ(sum_and_size("f32[<=4] slice(x), slice={[0:8:2]}"), Pair(9, 3));
  EXPECT_EQ(sum_and_size("f32[<=11] pad(x, ten), padding=1_2"), Pair(45, 8));
  EXPECT_EQ(sum_and_size("f32[<=17] pad(x, ten), padding=1_1_1"), Pair(75, 11));
  EXPECT_EQ(sum_and_size("f32[<=6] pad(x, ten), padding=-1_-1"), Pair(9, 3));
  EXPECT_EQ(sum_and_size("f32[<=5] pad(x, ten), padding=2_-5"), Pair(20, 2));
  // Not marked: sums go by what is there, sizes by what stands there.
  EXPECT_EQ(sum_and_size("f32[4] slice(x), slice={[2:6]}"), Pair(12, 4));
  EXPECT_EQ(sum_and_size("f32[4] slice(x), slice={[1:8:2]}"), Pair(6, 4));
  EXPECT_EQ(sum_and_size("f32[2] slice(x), slice={[6:8]}"), Pair(0, 2));
  EXPECT_EQ(sum_and_size("f32[11] pad(x, ten), padding=1_2"), Pair(45, 11));
  EXPECT_EQ(sum_and_size("f32[8] negate(x)"), Pair(-15, 8));
}

TEST(DynamicSizes, RowsThatAreNotFullCannotBeReshaped) {
  const auto rows = run(
      "HloModule m\nENTRY e {\n a = f32[4] parameter(0)\n three = s32[] constant(3)\n x = f32[<=4] "
      "set-dimension-size(a, three), dimensions={0}\n ROOT n = f32[2,2] reshape(x)\n}\n",
      {{f32({4}, {1, 2, 3, 4})}});
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().message,
            "reshape: 3 elements that are there do not fill rows of 2 in dimension 0");
}

}  // namespace
}  // namespace hilo::test
