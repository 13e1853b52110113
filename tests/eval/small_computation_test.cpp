// Computations over a few numbers run as one program: the same bits as one op after the other.
#include "devices.h"

namespace hilo {
namespace {

using test::Numbers;

// Turns, mixes and counts for n iterations: slices, concatenates, broadcasts, calls and tuples.
std::string mixer(int n) {
  return "HloModule m\nmix {\n x = u32[2] parameter(0)\n k = u32[4] parameter(1)\n s = u32[1] "
         "slice(k), slice={[1:2]}\n r = u32[] reshape(s)\n b = u32[2] broadcast(r), "
         "dimensions={}\n "
         "a = u32[2] shift-left(x, b)\n w = u32[] constant(32)\n d = u32[] subtract(w, r)\n e = "
         "u32[2] broadcast(d), dimensions={}\n f = u32[2] shift-right-logical(x, e)\n g = u32[2] "
         "or(a, f)\n v = u32[2] reverse(x), dimensions={0}\n h = u32[2] xor(g, v)\n i = u32[2] "
         "iota(), iota_dimension=0\n y = u32[2] add(h, i)\n head = u32[1] slice(k), "
         "slice={[0:1]}\n "
         "tail = u32[3] slice(k), slice={[1:4]}\n l = u32[4] concatenate(tail, head), "
         "dimensions={0}\n ROOT t = (u32[2], u32[4]) tuple(y, l)\n}\nbody {\n s = (s32[], u32[2], "
         "u32[4], f32[]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n x = u32[2] "
         "get-tuple-element(s), index=1\n k = u32[4] get-tuple-element(s), index=2\n f = f32[] "
         "get-tuple-element(s), index=3\n one = s32[] constant(1)\n j = s32[] add(i, one)\n c = "
         "(u32[2], u32[4]) call(x, k), to_apply=mix\n y = u32[2] get-tuple-element(c), index=0\n l "
         "= "
         "u32[4] get-tuple-element(c), index=1\n q = bf16[] convert(f)\n p = bf16[] "
         "constant(1.01)\n "
         "z = bf16[] multiply(q, p)\n o = f32[] convert(z)\n ROOT t = (s32[], u32[2], u32[4], "
         "f32[]) "
         "tuple(j, y, l, o)\n}\ncondition {\n s = (s32[], u32[2], u32[4], f32[]) parameter(0)\n i "
         "= "
         "s32[] get-tuple-element(s), index=0\n n = s32[] constant(" +
         std::to_string(n) +
         ")\n ROOT c = pred[] compare(i, n), direction=LT\n}\nENTRY e {\n z = s32[] constant(0)\n "
         "x "
         "= u32[2] constant({123, 4000000000})\n k = u32[4] constant({13, 15, 26, 6})\n f = f32[] "
         "constant(1)\n s = (s32[], u32[2], u32[4], f32[]) tuple(z, x, k, f)\n ROOT w = (s32[], "
         "u32[2], u32[4], f32[]) while(s), condition=condition, body=body\n}\n";
}

uint32_t rotate(uint32_t x, uint32_t n) { return x << n | x >> (32 - n); }

TEST(SmallComputation, LoopsOverAFewNumbers) {
  uint32_t x[2] = {123, 4000000000}, k[4] = {13, 15, 26, 6};
  float f = 1;
  for (int i = 0; i < 100; ++i) {
    const uint32_t y[2] = {(rotate(x[0], k[1]) ^ x[1]) + 0, (rotate(x[1], k[1]) ^ x[0]) + 1};
    x[0] = y[0], x[1] = y[1];
    std::rotate(k, k + 1, k + 4);
    f = BF16(static_cast<float>(BF16(f)) * static_cast<float>(BF16(1.01f)));
  }
  const Numbers expected = {100,          double(x[0]), double(x[1]), double(k[0]),
                            double(k[1]), double(k[2]), double(k[3]), f};
  EXPECT_EQ(test::run_well(mixer(100), {{}}).at(0), expected);
  int64_t seen = 0;
  EvalOptions watched;  // who sees every value has them made one after the other
  watched.observer = [&](const ValueEvent&) { ++seen; };
  EXPECT_EQ(test::run_well(mixer(100), {{}}, watched).at(0), expected);
  EXPECT_GT(seen, 3000);
}

TEST(SmallComputation, EndlessLoopsEnd) {
  EvalOptions options;
  options.max_steps = 1000;
  const auto rows = test::run(mixer(2000000000), {{}}, options);
  ASSERT_FALSE(rows.has_value());
  EXPECT_EQ(rows.error().kind, ErrorKind::Steps);
  EXPECT_EQ(rows.error().place.instruction, "w");
}

// 2^60 calls when they are all inlined.
TEST(SmallComputation, CallsOfCallsDoNotGrow) {
  std::string text = "HloModule m\nf0 {\n ROOT x = f32[] parameter(0)\n}\n";
  for (int i = 1; i < 60; ++i) {
    const std::string callee = "f" + std::to_string(i - 1);
    text += "f" + std::to_string(i) +
            " {\n x = f32[] parameter(0)\n a = f32[] call(x), to_apply=" + callee +
            "\n ROOT b = f32[] call(a), to_apply=" + callee + "\n}\n";
  }
  // A loop that is never entered prepares its computations all the same.
  text +=
      "no {\n x = f32[] parameter(0)\n ROOT n = pred[] constant(false)\n}\nENTRY e {\n x = f32[] "
      "constant(3)\n ROOT w = f32[] while(x), condition=no, body=f59\n}\n";
  EXPECT_EQ(test::run_well(text, {{}}).at(0), (Numbers{3}));
}

}  // namespace
}  // namespace hilo
