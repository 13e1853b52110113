#include <cmath>
#include <numeric>

#include "devices.h"

namespace hilo {
namespace {

using test::Numbers;

std::vector<float> ramp(int64_t count) {
  std::vector<float> out(count);
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<float>((i * 7919) % 101 - 50);
  return out;
}

// Sums along each dimension of [4,33,70]: whole numbers, so that any order gives the same.
TEST(Reduce, EachSetOfDimensions) {
  const int64_t dims[] = {4, 33, 70};
  const std::vector<float> values = ramp(4 * 33 * 70);
  for (int mask = 1; mask < 8; ++mask) {
    std::string reduced, kept;
    int64_t count = 1;
    for (int d = 0; d < 3; ++d) {
      std::string& list = mask >> d & 1 ? reduced : kept;
      list += (list.empty() ? "" : ",") + std::to_string(mask >> d & 1 ? d : dims[d]);
      if (!(mask >> d & 1)) count *= dims[d];
    }
    std::vector<double> want(count, 3);
    for (int64_t i = 0; i < 4 * 33 * 70; ++i) {
      const int64_t index[] = {i / (33 * 70), i / 70 % 33, i % 70};
      int64_t at = 0;
      for (int d = 0; d < 3; ++d)
        if (!(mask >> d & 1)) at = at * dims[d] + index[d];
      want[at] += values[i];
    }
    const auto rows = test::run_well(
        "HloModule m\n" + std::string(test::add_f32) +
            "ENTRY e {\n x = f32[4,33,70] parameter(0)\n z = f32[] constant(3)\n ROOT r = f32[" +
            kept + "] reduce(x, z), dimensions={" + reduced + "}, to_apply=add\n}\n",
        {{test::f32({4, 33, 70}, values)}});
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0], want) << "mask " << mask;
  }
}

// 1 + 2^-7 + 2^-9: bf16 has no last part, and 1 + 2^-8 would be 1.
TEST(Reduce, ComputationsOfAnotherPrecisionRoundAsTheyDo) {
  const auto text = [](const std::string& type, const std::string& op) {
    return "HloModule m\nf {\n a = " + type + "[] parameter(0)\n b = " + type +
           "[] parameter(1)\n ROOT s = " + type +
           "[] add(a, b)\n}\nENTRY e {\n x = f32[4] "
           "constant({1, 0.00390625, 0.00390625, 0.001953125})\n z = f32[] constant(0)\n ROOT r = "
           "f32[" +
           (op == "reduce" ? "" : "1") + "] " + op + "(x, z), " +
           (op == "reduce" ? "dimensions={0}" : "window={size=4}") + ", to_apply=f\n}\n";
  };
  for (const std::string op : {"reduce", "reduce-window"}) {
    EXPECT_EQ(test::run_well(text("bf16", op), {{}}).at(0), (Numbers{1.0078125})) << op;
    EXPECT_EQ(test::run_well(text("f64", op), {{}}).at(0), (Numbers{1.009765625})) << op;
  }
}

// A one and 64 numbers of half a unit in its last place, in all ways that reductions go.
TEST(Reduce, SumsOfNarrowFloatsAreRoundedOnce) {
  const auto sum = [](const std::string& type, double small, const std::string& op,
                      const std::string& out) {
    return test::run_well(
               fmt::format(
                   "HloModule m\nadd {{\n a = {0}[] parameter(0)\n b = {0}[] parameter(1)\n "
                   "ROOT s = {0}[] add(a, b)\n}}\nENTRY e {{\n o = {0}[] constant(1)\n s = "
                   "{0}[] constant({1})\n z = {0}[] constant(0)\n p = {0}[16,1] broadcast(o), "
                   "dimensions={{}}\n q = {0}[16,64] broadcast(s), dimensions={{}}\n x = "
                   "{0}[16,65] concatenate(p, q), dimensions={{1}}\n r = {0}[{2}] {3}, "
                   "to_apply=add\n ROOT f = f32[{2}] convert(r)\n}}\n",
                   type, small, out, op),
               {{}})
        .at(0)
        .at(0);
  };
  struct Type {
    std::string name;
    double small;
  };
  for (const auto& [type, small] : {Type{"bf16", 0x1p-8}, {"f16", 0x1p-11}, {"f8e5m2", 0x1p-3}}) {
    const double want = type == "f8e5m2" ? 8 : 1 + 64 * small;
    EXPECT_EQ(sum(type, small, "reduce(x, z), dimensions={1}", "16"), want) << type;
    EXPECT_EQ(sum(type, small, "reduce(x, z), dimensions={0,1}", ""), 16 * want) << type;
    EXPECT_EQ(sum(type, small, "reduce-window(x, z), window={size=1x65}", "16,1"), want) << type;
    EXPECT_EQ(sum(type, small, "reduce-window(x, z), window={size=1x65 pad=0_1x0_0 lhs_dilate=2x1}",
                  "32,1"),
              want)
        << type;
  }
}

TEST(Reduce, SameBitsForAnyNumberOfThreads) {
  std::vector<float> values(1 << 20);
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i));
  const std::string text = "HloModule m\n" + std::string(test::add_f32) +
                           "ENTRY e {\n x = f32[1048576] parameter(0)\n z = f32[] constant(0)\n"
                           " ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add\n}\n";
  Numbers first;
  for (int threads : {1, 2, 3}) {
    EvalOptions options;
    options.threads = threads;
    const auto rows = test::run_well(text, {{test::f32({1 << 20}, values)}}, options);
    ASSERT_EQ(rows.size(), 1u);
    if (threads == 1) first = rows[0];
    EXPECT_EQ(rows[0], first);
  }
  const double exact = std::accumulate(values.begin(), values.end(), 0.0);
  EXPECT_NEAR(first.at(0), exact, 1e-3);
}

TEST(Reduce, PlaceOfTheMaximum) {
  const std::string text =
      "HloModule m\nbest {\n a = f32[] parameter(0)\n i = s32[] parameter(1)\n b = f32[] "
      "parameter(2)\n j = s32[] parameter(3)\n g = pred[] compare(a, b), direction=GT\n e = pred[] "
      "compare(a, b), direction=EQ\n l = pred[] compare(i, j), direction=LT\n k = pred[] and(e, "
      "l)\n"
      " o = pred[] or(g, k)\n v = f32[] select(o, a, b)\n w = s32[] select(o, i, j)\n ROOT t = "
      "(f32[], s32[]) tuple(v, w)\n}\nENTRY m {\n x = f32[2,5] constant({{1, 9, 3, 9, 2}, {-5, -7, "
      "-4, -6, -8}})\n n = s32[2,5] iota(), iota_dimension=1\n low = f32[] constant(-inf)\n zero = "
      "s32[] constant(0)\n ROOT r = (f32[2], s32[2]) reduce(x, n, low, zero), dimensions={1}, "
      "to_apply=best\n}\n";
  const auto rows = test::run_well(text, {{}});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0], (Numbers{9, -4, 1, 2}));
}

TEST(Reduce, NothingIsTheInitialValue) {
  const auto rows = test::run_well(
      "HloModule m\n" + std::string(test::add_f32) +
          "ENTRY e {\n x = f32[3,0] parameter(0)\n z = f32[] constant(2)\n ROOT r = f32[3] "
          "reduce(x, z), dimensions={1}, to_apply=add\n}\n",
      {{test::f32({3, 0}, {})}});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0], (Numbers{2, 2, 2}));
}

}  // namespace
}  // namespace hilo
