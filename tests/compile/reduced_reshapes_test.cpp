// Elementwise ops between arrays in memory and the rows of them that are reduced, and what is made
// of rows in other dimensions.
#include <algorithm>

#include "both.h"

namespace hilo::test {
namespace {

struct Row {
  const char* name;
  bool is_stored;  // what is reduced
  const char* body;
};

constexpr int64_t array = 64 * 96 * 4;

const Row rows[] = {{"lengths of short vectors", false, R"(
  m = f32[64,96] multiply(x, x)
  r = f32[1536,4] reshape(m)
  s = f32[1536] reduce(r, z), dimensions={1}, to_apply=sum
  ROOT l = f32[1536] sqrt(s))"},
                    {"rows over their lengths", false, R"(
  v = f32[128,48] reshape(x)
  m = f32[64,96] multiply(x, x)
  r = f32[128,48] reshape(m)
  s = f32[128] reduce(r, z), dimensions={1}, to_apply=sum
  l = f32[128] sqrt(s)
  b = f32[128,48] broadcast(l), dimensions={0}
  ROOT n = f32[128,48] divide(v, b))"},
                    {"differences times a number, of two arrays and a reshaped one", false, R"(
  y = f32[64,96] parameter(1)
  w = f32[96,64] parameter(2)
  u = f32[64,96] reshape(w)
  two = f32[] constant(2)
  twos = f32[64,96] broadcast(two), dimensions={}
  d = f32[64,96] subtract(x, y)
  t = f32[64,96] multiply(d, twos)
  a = f32[64,96] add(t, u)
  r = f32[32,192] reshape(a)
  e = f32[32,192] abs(r)
  s = f32[32] reduce(e, z), dimensions={1}, to_apply=sum
  ROOT l = f32[32] negate(s))"},
                    {"read by others", true, R"(
  m = f32[64,96] exponential(x)
  r = f32[128,48] reshape(m)
  s = f32[128] reduce(r, z), dimensions={1}, to_apply=sum
  l = f32[128] sqrt(s)
  o = f32[64,96] sort(m), dimensions={1}, to_apply=less
  ROOT t = (f32[128], f32[64,96]) tuple(l, o))"},
                    {"of turned arrays, made where the result lies", false, R"(
  u = f32[96,64] transpose(x), dimensions={1,0}
  m = f32[96,64] exponential(u)
  r = f32[128,48] reshape(m)
  s = f32[128] reduce(r, z), dimensions={1}, to_apply=sum
  b = f32[128,48] broadcast(s), dimensions={0}
  ROOT n = f32[128,48] divide(r, b))"}};

std::string module_of(const char* body) {
  return std::string(R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
less {
  k = f32[] parameter(0)
  l = f32[] parameter(1)
  ROOT m = pred[] compare(k, l), direction=LT
}
ENTRY e {
  x = f32[64,96] parameter(0)
  z = f32[] constant(0))") +
         body + "\n}\n";
}

TEST(ReducedReshapes, AsEvaluatedAndNotStored) {
  for (const Row& row : rows) {
    const std::string text = module_of(row.body);
    const auto both = run_both(text);
    expect_native(both, text, 1e-6);
    ASSERT_TRUE(both) << row.name;
    if (row.is_stored) EXPECT_GE(both->report.temp_bytes, array) << row.name;
    else EXPECT_LT(both->report.temp_bytes, array) << row.name;
  }
}

// Dimensions of the rows that are normalised, and of what follows: joined, divided, in several
// groups, with dimensions of one place, and with no common multiple.
TEST(ReducedReshapes, NormalisedRowsInOtherDimensions) {
  struct Forms {
    const char *rows, *kept, *to, *scale;
    int dim;
  };
  const Forms forms[] = {
      {"4,8,192", "4,8", "4,16,96", "16", 1},  {"4,8,192", "4,8", "4,32,48", "32", 1},
      {"32,192", "32", "4,8,12,16", "12", 2},  {"32,192", "32", "64,96", "64", 0},
      {"32,192", "32", "8,1,4,192", "192", 3}, {"32,192", "32", "2048,3", "3", 1},
      {"48,128", "48", "64,96", "96", 1},      {"2,16,192", "2,16", "16,6,64", "6", 1},
      {"64,96", "64", "32,2,96", "2", 1},      {"96,64", "96", "6144", "6144", 0}};
  for (const Forms& form : forms)
    for (const char* type : {"f32", "bf16"}) {
      const auto array = [&](const char* dims) { return fmt::format("{}[{}]", type, dims); };
      const auto commas = std::ranges::count(std::string(form.rows), ',');
      std::string before;
      for (int64_t d = 0; d < commas; ++d) before += (d ? "," : "") + std::to_string(d);
      const std::string text = fmt::format(
          R"(HloModule m
sum {{
  a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  ROOT s = {0}[] add(a, b)
}}
ENTRY e {{
  x = {1} parameter(0)
  g = {3} parameter(1)
  z = {0}[] constant(0)
  m = {1} multiply(x, x)
  s = {2} reduce(m, z), dimensions={{{5}}}, to_apply=sum
  l = {2} rsqrt(s)
  b = {1} broadcast(l), dimensions={{{6}}}
  n = {1} multiply(x, b)
  r = {4} reshape(n)
  w = {4} broadcast(g), dimensions={{{7}}}
  v = {4} multiply(r, w)
  ROOT o = {4} add(v, w)
}}
)",
          type, array(form.rows), array(form.kept), array(form.scale), array(form.to), commas,
          before, form.dim);
      expect_native(text, type == std::string("f32") ? 1e-6 : 1e-2);
    }
}

}  // namespace
}  // namespace hilo::test
