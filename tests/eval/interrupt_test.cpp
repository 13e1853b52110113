// Ends of an evaluation inside one op: long ops when the user wants it (each of these would take
// hours), copies when they do not fit.
#include "devices.h"

namespace hilo {
namespace {

// The flag is raised when the op makes its result of so many bytes.
void expect_interrupted(const std::string& text, int64_t result_bytes) {
  std::atomic<bool> stop = false;
  EvalOptions options;
  options.interrupt = &stop;
  options.allocate = [&](int64_t bytes) {
    if (bytes == result_bytes) stop = true;
    return allocate_bytes(bytes);
  };
  const auto rows = test::run(text, {{test::f32({}, {1})}}, options);
  EXPECT_TRUE(stop);
  ASSERT_FALSE(rows.has_value());
  EXPECT_EQ(rows.error().kind, ErrorKind::Interrupted);
  EXPECT_FALSE(rows.error().place.instruction.empty());
}

TEST(Interrupt, EndsAProduct) {
  expect_interrupted(
      "HloModule m\nENTRY e {\n s = f32[] parameter(0)\n x = f32[1,4096,4096,1] broadcast(s), "
      "dimensions={}\n k = f32[2048,2048,1,1] broadcast(s), dimensions={}\n ROOT c = "
      "f32[1,2049,2049,1] convolution(x, k), window={size=2048x2048}, "
      "dim_labels=b01f_01io->b01f\n}\n",
      int64_t{2049} * 2049 * 4);
}

TEST(Interrupt, EndsCallsOfAComputation) {
  expect_interrupted(
      "HloModule m\nf {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n c = f32[] multiply(a, "
      "b)\n d = f32[] add(a, b)\n ROOT r = f32[] subtract(c, d)\n}\nENTRY e {\n s = f32[] "
      "parameter(0)\n x = f32[2097152] broadcast(s), dimensions={}\n ROOT w = f32[1048577] "
      "reduce-window(x, s), window={size=1048576}, to_apply=f\n}\n",
      int64_t{1048577} * 4);
}

// Two updates of a value that is still needed: each copies it.
TEST(MemoryLimit, CountsCopies) {
  const std::string text =
      "HloModule m\nENTRY e {\n s = f32[] parameter(0)\n x = f32[1000000] broadcast(s), "
      "dimensions={}\n i = s32[] constant(7)\n u = f32[1] constant({2})\n a = f32[1000000] "
      "dynamic-update-slice(x, u, i)\n b = f32[1000000] dynamic-update-slice(x, u, i)\n ROOT t = "
      "(f32[1000000], f32[1000000], f32[1000000]) tuple(x, a, b)\n}\n";
  EvalOptions options;
  options.memory_limit = 9'000'000;
  const auto rows = test::run(text, {{test::f32({}, {1})}}, options);
  ASSERT_FALSE(rows.has_value());
  EXPECT_EQ(rows.error().kind, ErrorKind::Memory);
  options.memory_limit = 15'000'000;
  EXPECT_EQ(test::run_well(text, {{test::f32({}, {1})}}, options).at(0).size(), 3'000'000u);
}

// Without a limit it is what the machine has: a value of 4 TiB is refused before it is made.
TEST(MemoryLimit, IsWhatTheMachineHas) {
  const auto rows = test::run(
      "HloModule m\nENTRY e {\n s = f32[] parameter(0)\n ROOT x = f32[1099511627776] "
      "broadcast(s), dimensions={}\n}\n",
      {{test::f32({}, {1})}});
  ASSERT_FALSE(rows.has_value());
  EXPECT_EQ(rows.error().kind, ErrorKind::Memory);
  EXPECT_TRUE(rows.error().message.contains("4398046511104 more are needed"));
}

}  // namespace
}  // namespace hilo
