// Expected values: NumPy's stable sorts, and orders written by hand where NaNs and zeros stand.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "wave.h"

namespace hilo::test {
namespace {

std::string comparator(const std::string& type, const std::string& compare) {
  return fmt::format(
      "less {{ a = {0}[] parameter(0)\n b = {0}[] parameter(1)\n ROOT r = pred[] "
      "compare(a, b), {1}\n}}\n",
      type, compare);
}

constexpr const char* sort_rows =
    "  x = f32[{0}] parameter(0)\n  ROOT s = f32[{0}] sort(x), "
    "dimensions={{{1}}}, to_apply=less\n";

TEST(Sort, AnyDimensionBothDirections) {
  EXPECT_EQ(run_one(module_of(fmt::format(fmt::runtime(sort_rows), "3,4", 0),
                              comparator("f32", "direction=LT")),
                    {wave({3, 4})}),
            (Numbers{-2.5, -1.5, -1, -2.5, -2, 1, -0.5, 0, 0.5, 1.5, 2, 2.5}));
  EXPECT_EQ(run_one(module_of(fmt::format(fmt::runtime(sort_rows), "3,4", 1),
                              comparator("f32", "direction=GT")),
                    {wave({3, 4})}),
            (Numbers{2.5, 1, -1, -2.5, 2, 0.5, 0, -1.5, 1.5, -0.5, -2, -2.5}));
}

TEST(Sort, TotalOrderPutsNegativeNansFirst) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto got = run_one(module_of(fmt::format(fmt::runtime(sort_rows), "6", 0),
                                     comparator("f32", "direction=LT, type=TOTALORDER")),
                           {f32({6}, {nan, 1, 0.0f, -0.0f, -INFINITY, -nan})});
  ASSERT_EQ(got.size(), 6u);
  EXPECT_TRUE(std::isnan(got[0]) && std::signbit(got[0]));
  EXPECT_EQ(got[1], -INFINITY);
  EXPECT_TRUE(got[2] == 0 && std::signbit(got[2]));
  EXPECT_TRUE(got[3] == 0 && !std::signbit(got[3]));
  EXPECT_EQ(got[4], 1);
  EXPECT_TRUE(std::isnan(got[5]) && !std::signbit(got[5]));
}

// As JAX writes it: all zeros equal, all NaNs last; equal keys keep their order.
TEST(Sort, KeysWithCanonicalZerosAndNansCarryOtherOperands) {
  const std::string less =
      "less { a = bf16[] parameter(0)\n b = bf16[] parameter(1)\n i = s32[] parameter(2)\n"
      " j = s32[] parameter(3)\n n = bf16[] constant(nan)\n z = bf16[] constant(0)\n"
      " an = pred[] compare(a, a), direction=NE\n az = pred[] compare(a, z), direction=EQ\n"
      " a1 = bf16[] select(az, z, a)\n a2 = bf16[] select(an, n, a1)\n"
      " bn = pred[] compare(b, b), direction=NE\n bz = pred[] compare(b, z), direction=EQ\n"
      " b1 = bf16[] select(bz, z, b)\n b2 = bf16[] select(bn, n, b1)\n"
      " ROOT r = pred[] compare(a2, b2), direction=LT, type=TOTALORDER\n}\n";
  const std::vector<BF16> x = {0.0f, -0.0f, -std::numeric_limits<float>::quiet_NaN(),
                               3.0f, -2.0f, 0.0f};
  const auto got = run_one(
      module_of(
          "  x = bf16[6] parameter(0)\n  i = s32[6] iota(), iota_dimension=0\n"
          "  s = (bf16[6], s32[6]) sort(x, i), dimensions={0}, is_stable=true, to_apply=less\n"
          "  ROOT o = s32[6] get-tuple-element(s), index=1\n",
          less),
      {Literal::from<BF16>({6}, x)});
  EXPECT_EQ(got, (Numbers{4, 0, 1, 5, 3, 2}));
}

TEST(Sort, TwoKeysByAnyComparator) {
  const std::string less =
      "less { a = s32[] parameter(0)\n b = s32[] parameter(1)\n c = f32[] parameter(2)\n"
      " d = f32[] parameter(3)\n l = pred[] compare(a, b), direction=LT\n"
      " q = pred[] compare(a, b), direction=EQ\n m = pred[] compare(c, d), direction=GT\n"
      " ROOT r = pred[] select(q, m, l)\n}\n";
  std::vector<int64_t> keys(300);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = i * 37 % 5;
  const auto got = run_one(
      module_of("  k = s32[300] parameter(0)\n  v = f32[300] parameter(1)\n"
                "  ROOT s = (s32[300], f32[300]) sort(k, v), dimensions={0}, to_apply=less\n",
                less),
      {whole({300}, keys), wave({300})});
  ASSERT_EQ(got.size(), 600u);
  const Numbers want{2.5, 2.5, 2.5, 2.5, 2.5,  2,    2,    2,    2,    2,    1.5, 1.5, 1.5, 1.5,
                     1.5, 1.5, 1,   1,   1,    1,    1,    0.5,  0.5,  0.5,  0.5, 0.5, 0.5, 0,
                     0,   0,   0,   0,   -0.5, -0.5, -0.5, -0.5, -0.5, -0.5, -1,  -1};
  EXPECT_EQ(Numbers(got.begin() + 300, got.begin() + 340), want);
  for (size_t i = 0; i < 300; ++i) EXPECT_EQ(got[i], static_cast<double>(i / 60));
}

TEST(Sort, AComparatorThatIsNoOrderStillGivesItsElements) {
  const auto got = run_one(module_of(fmt::format(fmt::runtime(sort_rows), "7", 0),
                                     "less { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
                                     " ROOT r = pred[] constant(true)\n}\n"),
                           {f32({7}, {1, 2, 3, 4, 5, 6, 7})});
  EXPECT_EQ(std::set<double>(got.begin(), got.end()), (std::set<double>{1, 2, 3, 4, 5, 6, 7}));
}

TEST(Sort, UnsignedAndSmallIntegers) {
  const auto got = run_one(
      module_of(
          "  x = u32[3] parameter(0)\n  ROOT s = u32[3] sort(x), dimensions={0}, to_apply=less\n",
          comparator("u32", "direction=LT")),
      {whole<uint32_t>({3}, {4000000000, 1, 7})});
  EXPECT_EQ(got, (Numbers{1, 7, 4000000000}));
  const auto small = run_one(
      module_of(
          "  x = s4[4] parameter(0)\n  ROOT s = s4[4] sort(x), dimensions={0}, to_apply=less\n",
          comparator("s4", "direction=LT")),
      {whole<S4>({4}, {7, -8, 0, -1})});
  EXPECT_EQ(small, (Numbers{-8, -1, 0, 7}));
}

// Rows long enough for their bytes to be counted, of few different values.
template <class T>
std::vector<T> long_row(bool with_specials) {
  std::vector<T> out(3000);
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = T(static_cast<double>(i * 2654435761U % 1021) / 4 - 128);
  if (with_specials)
    for (size_t i = 0; i < out.size(); i += 7)
      out[i] = T(i % 2   ? -0.0
                 : i % 4 ? std::numeric_limits<double>::quiet_NaN()
                         : -std::numeric_limits<double>::infinity());
  return out;
}

// As NumPy orders: zeros equal, NaNs last and equal.
template <class T>
bool comes_before(T a, T b) {
  const auto x = static_cast<double>(a), y = static_cast<double>(b);
  return std::isnan(y) ? !std::isnan(x) : x < y;
}

template <class T>
void expect_stable_order(const std::string& type, bool with_specials) {
  const std::vector<T> row = long_row<T>(with_specials);
  std::vector<int64_t> places(row.size());
  std::iota(places.begin(), places.end(), 0);
  std::ranges::stable_sort(places, [&](auto i, auto j) { return comes_before(row[i], row[j]); });
  const std::string less = fmt::format(
      "less {{ a = {0}[] parameter(0)\n b = {0}[] parameter(1)\n i = s32[] parameter(2)\n"
      " j = s32[] parameter(3)\n n = {0}[] constant(nan)\n z = {0}[] constant(0)\n"
      " an = pred[] compare(a, a), direction=NE\n az = pred[] compare(a, z), direction=EQ\n"
      " a1 = {0}[] select(az, z, a)\n a2 = {0}[] select(an, n, a1)\n"
      " bn = pred[] compare(b, b), direction=NE\n bz = pred[] compare(b, z), direction=EQ\n"
      " b1 = {0}[] select(bz, z, b)\n b2 = {0}[] select(bn, n, b1)\n"
      " ROOT r = pred[] compare(a2, b2), direction=LT, type=TOTALORDER\n}}\n",
      type);
  const auto got = run_one(
      module_of(fmt::format("  x = {0}[1,3000] parameter(0)\n  i = s32[1,3000] iota(), "
                            "iota_dimension=1\n  s = ({0}[1,3000], s32[1,3000]) sort(x, i), "
                            "dimensions={{1}}, is_stable=true, to_apply=less\n"
                            "  ROOT o = s32[1,3000] get-tuple-element(s), index=1\n",
                            type),
                less),
      {Literal::from<T>({1, 3000}, row)});
  EXPECT_EQ(got, Numbers(places.begin(), places.end())) << type << with_specials;
}

TEST(Sort, LongRowsKeepTheOrderOfEqualKeys) {
  for (bool with_specials : {false, true}) {
    expect_stable_order<float>("f32", with_specials);
    expect_stable_order<double>("f64", with_specials);
    expect_stable_order<BF16>("bf16", with_specials);
  }
}

// A value alone: the bits of equal ones stay, -0 and +0 in the order in which they came.
TEST(Sort, LongRowsOfOneArrayKeepTheirBits) {
  for (bool with_specials : {false, true}) {
    std::vector<float> row = long_row<float>(with_specials), want = row;
    std::ranges::stable_sort(want, comes_before<float>);
    const std::string less =
        "less { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
        " n = f32[] constant(nan)\n z = f32[] constant(0)\n"
        " an = pred[] compare(a, a), direction=NE\n az = pred[] compare(a, z), direction=EQ\n"
        " a1 = f32[] select(az, z, a)\n a2 = f32[] select(an, n, a1)\n"
        " bn = pred[] compare(b, b), direction=NE\n bz = pred[] compare(b, z), direction=EQ\n"
        " b1 = f32[] select(bz, z, b)\n b2 = f32[] select(bn, n, b1)\n"
        " ROOT r = pred[] compare(a2, b2), direction=LT, type=TOTALORDER\n}\n";
    const auto got = run_one(module_of("  x = f32[3000] parameter(0)\n  s = f32[3000] sort(x), "
                                       "dimensions={0}, is_stable=true, to_apply=less\n"
                                       "  ROOT b = u32[3000] bitcast-convert(s)\n",
                                       less),
                             {Literal::from<float>({3000}, row)});
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i)
      ASSERT_EQ(got[i], std::bit_cast<uint32_t>(want[i])) << i;
  }
}

template <class T>
void expect_top(std::string_view type, std::vector<T> row) {
  std::vector<int64_t> places(row.size());
  std::iota(places.begin(), places.end(), 0);
  std::ranges::stable_sort(places, [&](auto i, auto j) { return row[i] > row[j]; });
  const std::vector<int64_t> dims = {1, std::ssize(row)};
  for (int64_t k : {1, 2, 3, 8, 9, 17, 900, 2047, 2048, 2049, 3000}) {
    if (k > dims[1]) break;
    const auto got = run_one(
        module_of(fmt::format("  x = {1}[1,{2}] parameter(0)\n  t = ({1}[1,{0}], s32[1,{0}]) "
                              "topk(x), k={0}, largest=true\n"
                              "  ROOT i = s32[1,{0}] get-tuple-element(t), index=1\n",
                              k, type, dims[1])),
        {Literal::from<T>(dims, row)});
    EXPECT_EQ(got, Numbers(places.begin(), places.begin() + k)) << k << " of " << dims[1];
  }
}

TEST(TopK, LongRowsLikeASortOfThem) {
  for (size_t size : {3000, 2100, 2048, 300, 75}) {
    auto narrow = long_row<float>(false);
    auto wide = long_row<double>(false);
    narrow.resize(size), wide.resize(size);
    expect_top<float>("f32", narrow);
    expect_top<double>("f64", wide);
    std::ranges::sort(narrow);
    std::ranges::sort(wide);
    expect_top<float>("f32", narrow);
    expect_top<double>("f64", wide);
  }
}

// More equal numbers than are asked for, and the ends of the type's range.
TEST(TopK, EqualsInTheirOrder) {
  for (size_t size : {16, 75, 2048, 2049, 2304, 5000}) {
    std::vector<float> few(size);
    std::vector<int32_t> ends(size), same(size, -1);
    for (size_t i = 0; i < size; ++i) {
      few[i] = static_cast<float>(i * 7 % 5);
      ends[i] = std::array{INT32_MIN, INT32_MAX, 0, -1, INT32_MAX - 1}[i * 3 % 5];
    }
    expect_top<float>("f32", few);
    expect_top<int32_t>("s32", ends);
    expect_top<int32_t>("s32", same);
    same.back() = 7;
    expect_top<int32_t>("s32", same);
    expect_top<int64_t>("s64", std::vector<int64_t>(ends.begin(), ends.end()));
  }
}

TEST(TopK, LargestFirstAndTheLowerPlaceAmongEquals) {
  const auto got =
      run_one(module_of("  x = f32[2,5] parameter(0)\n"
                        "  ROOT t = (f32[2,3], s32[2,3]) topk(x), k=3, largest=true\n"),
              {f32({2, 5}, {1, 5, 3, 5, 2, -1, -INFINITY, -3, -2, -1})});
  EXPECT_EQ(got, (Numbers{5, 5, 3, -1, -1, -2, 1, 3, 2, 0, 4, 3}));
}

TEST(TopK, SmallestOfIntegers) {
  const auto got = run_one(
      module_of(
          "  x = s32[4] parameter(0)\n  ROOT t = (s32[2], s32[2]) topk(x), k=2, largest=false\n"),
      {whole({4}, {4, -2, 9, -2})});
  EXPECT_EQ(got, (Numbers{-2, -2, 1, 3}));
}

TEST(TopK, FloatsOfEightAndSixteenBits) {
  for (const char* type : {"f8e4m3fn", "f8e5m2", "f8e8m0fnu", "f4e2m1fn", "bf16", "f16"}) {
    const std::string t = type;
    const auto rows = test::run_well("HloModule m\nENTRY e {\n x = " + t +
                                         "[4] constant({1, 4, 2, 4})\n ROOT r = (" + t +
                                         "[3], s32[3]) topk(x), k=3, largest=true\n}\n",
                                     {{}});
    ASSERT_EQ(rows.size(), 1u) << t;
    EXPECT_EQ(rows[0], (test::Numbers{4, 4, 2, 1, 3, 2})) << t;
  }
}

TEST(TopK, MoreThanThereIsIsAnError) {
  const auto got = run(module_of("  x = f32[2] parameter(0)\n"
                                 "  ROOT t = (f32[3], s32[3]) topk(x), k=3, largest=true\n"),
                       {{f32({2}, {1, 2})}});
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().kind, ErrorKind::Shape);
}

}  // namespace
}  // namespace hilo::test
