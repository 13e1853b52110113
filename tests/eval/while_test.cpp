// Loops, branches, and the ends that an evaluation can come to.
#include "devices.h"

namespace hilo {
namespace {

using test::Numbers;

std::string loop(const std::string& limit) {
  return "HloModule m\nbody {\n s = (s32[], f32[4]) parameter(0)\n i = s32[] "
         "get-tuple-element(s), index=0\n x = f32[4] get-tuple-element(s), index=1\n one = s32[] "
         "constant(1)\n j = s32[] add(i, one)\n y = f32[4] add(x, x)\n ROOT t = (s32[], f32[4]) "
         "tuple(j, y)\n}\ncondition {\n s = (s32[], f32[4]) parameter(0)\n i = s32[] "
         "get-tuple-element(s), index=0\n n = s32[] constant(" +
         limit +
         ")\n ROOT c = pred[] compare(i, n), direction=LT\n}\nENTRY e {\n z = s32[] constant(0)\n "
         "x "
         "= f32[4] constant({1, 2, 3, 4})\n s = (s32[], f32[4]) tuple(z, x)\n ROOT w = (s32[], "
         "f32[4]) while(s), condition=condition, body=body\n}\n";
}

TEST(While, DoublesTenTimes) {
  const auto rows = test::run_well(loop("10"), {{}});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0], (Numbers{10, 1024, 2048, 3072, 4096}));
}

TEST(While, StopsAtTheStepLimit) {
  EvalOptions options;
  options.max_steps = 5;
  const auto rows = test::run(loop("10"), {{}}, options);
  ASSERT_FALSE(rows.has_value());
  EXPECT_EQ(rows.error().kind, ErrorKind::Steps);
  EXPECT_EQ(rows.error().place.instruction, "w");
}

// The buffer that goes in comes out: through the tuple, the loop, a call and a fusion nobody copies
// it, though it is read in each iteration and the condition is given it too.
TEST(While, UpdatesTheBufferThatWentIn) {
  const std::string text =
      "HloModule m\nfused {\n x = f32[64] parameter(0)\n i = s32[] parameter(1)\n one = f32[1] "
      "constant({1})\n v = f32[1] dynamic-slice(x, i), dynamic_slice_sizes={1}\n w = f32[1] "
      "add(v, one)\n ROOT u = f32[64] dynamic-update-slice(x, w, i)\n}\ncalled {\n x = f32[64] "
      "parameter(0)\n i = s32[] parameter(1)\n ROOT f = f32[64] fusion(x, i), kind=kLoop, "
      "calls=fused\n}\nbody {\n s = (s32[], (f32[64])) parameter(0)\n i = s32[] "
      "get-tuple-element(s), index=0\n t = (f32[64]) get-tuple-element(s), index=1\n x = f32[64] "
      "get-tuple-element(t), index=0\n one = s32[] constant(1)\n j = s32[] add(i, one)\n y = "
      "f32[64] call(x, i), to_apply=called\n u = (f32[64]) tuple(y)\n ROOT r = (s32[], (f32[64])) "
      "tuple(j, u)\n}\ncondition {\n s = (s32[], (f32[64])) parameter(0)\n i = s32[] "
      "get-tuple-element(s), index=0\n n = s32[] constant(64)\n ROOT c = pred[] compare(i, n), "
      "direction=LT\n}\nENTRY e {\n x = f32[64] parameter(0)\n z = s32[] constant(0)\n t = "
      "(f32[64]) tuple(x)\n s = (s32[], (f32[64])) tuple(z, t)\n w = (s32[], (f32[64])) while(s), "
      "condition=condition, body=body\n v = (f32[64]) get-tuple-element(w), index=1\n ROOT r = "
      "f32[64] get-tuple-element(v), index=0\n}\n";
  const Result<Module> module = parse(text);
  ASSERT_TRUE(module.has_value()) << to_string(module.error());
  Literal x = Literal::zeros(Shape::array(ElementType::F32, {64}));
  const std::byte* start = x.raw().data();
  Inputs inputs{{{}}};
  inputs.devices[0].push_back(std::move(x));
  const Result<Outputs> out = evaluate(*module, std::move(inputs));
  ASSERT_TRUE(out.has_value()) << to_string(out.error());
  EXPECT_EQ(out->devices[0].raw().data(), start);
  for (float value : out->devices[0].data<float>()) EXPECT_EQ(value, 1.0f);
}

TEST(Evaluate, MemoryLimitNamesTheInstruction) {
  EvalOptions options;
  options.memory_limit = 1 << 20;
  const auto rows = test::run(
      "HloModule m\nENTRY e {\n z = f32[] constant(1)\n ROOT big = f32[1048576] broadcast(z), "
      "dimensions={}\n}\n",
      {{}}, options);
  ASSERT_FALSE(rows.has_value());
  EXPECT_EQ(rows.error().kind, ErrorKind::Memory);
  EXPECT_EQ(rows.error().place.instruction, "big");
}

TEST(Evaluate, InterruptEndsALoop) {
  const std::atomic<bool> stop = true;
  EvalOptions options;
  options.interrupt = &stop;
  const auto rows = test::run(loop("2000000000"), {{}}, options);
  ASSERT_FALSE(rows.has_value());
  EXPECT_EQ(rows.error().kind, ErrorKind::Interrupted);
}

TEST(Evaluate, WrongInputSaysWhatWasExpected) {
  const auto rows = test::run("HloModule m\nENTRY e {\n ROOT x = f32[3] parameter(0)\n}\n",
                              {{test::f32({4}, {1, 2, 3, 4})}});
  ASSERT_FALSE(rows.has_value());
  EXPECT_EQ(rows.error().kind, ErrorKind::Input);
  EXPECT_NE(rows.error().message.find("f32[3]"), std::string::npos);
}

TEST(Evaluate, EndlessRecursionIsAnError) {
  Module module;
  const ComputationId main = module.add_computation("main");
  const Shape shape = Shape::array(ElementType::F32, {});
  const InstructionId x = module.add_instruction(main, Op::Parameter, shape, {}, "x");
  CallAttributes itself;
  itself.to_apply = main;
  module.add_instruction(main, Op::Call, shape, std::array{x}, itself, "again");
  module.entry = main;
  EvalOptions options;
  options.is_verified = true;  // verify() refuses it
  const auto out = evaluate(module, Inputs{{{Literal::scalar(1.0f)}}}, options);
  ASSERT_FALSE(out.has_value());
  EXPECT_EQ(out.error().kind, ErrorKind::Limit);
}

TEST(Conditional, OutOfRangeTakesTheLastBranch) {
  const auto text = [](const std::string& index) {
    return "HloModule m\na {\n x = f32[] parameter(0)\n ROOT r = f32[] negate(x)\n}\nb {\n x = "
           "f32[] parameter(0)\n ROOT r = f32[] add(x, x)\n}\nENTRY e {\n i = s32[] constant(" +
           index +
           ")\n x = f32[] constant(3)\n ROOT r = f32[] conditional(i, x, x), "
           "branch_computations={a, b}\n}\n";
  };
  EXPECT_EQ(test::run_well(text("0"), {{}}).at(0), (Numbers{-3}));
  EXPECT_EQ(test::run_well(text("7"), {{}}).at(0), (Numbers{6}));
  EXPECT_EQ(test::run_well(text("-1"), {{}}).at(0), (Numbers{6}));
}

TEST(Map, CallsItsBodyForEachElement) {
  const auto rows = test::run_well(
      "HloModule m\nf {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n m = f32[] multiply(a, "
      "b)\n ROOT s = f32[] subtract(m, a)\n}\nENTRY e {\n a = f32[3] constant({1, 2, 3})\n b = "
      "f32[3] constant({4, 5, 6})\n ROOT r = f32[3] map(a, b), dimensions={0}, to_apply=f\n}\n",
      {{}});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0], (Numbers{3, 8, 15}));
}

// 1.0f is 0x3f800000.
TEST(Map, BodyMayLookAtBits) {
  const std::string text =
      "HloModule m\nf {\n a = f32[] parameter(0)\n i = s32[] bitcast-convert(a)\n one = s32[] "
      "constant(1)\n ROOT s = s32[] add(i, one)\n}\nENTRY e {\n a = f32[2] constant({1, -0})\n "
      "ROOT r = s32[2] map(a), dimensions={0}, to_apply=f\n}\n";
  EvalOptions ideal;
  ideal.ideal_floats = true;
  for (const EvalOptions& options : {EvalOptions(), ideal}) {
    const auto rows = test::run_well(text, {{}}, options);
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0], (Numbers{0x3f800001, -2147483647.0}));
  }
}

}  // namespace
}  // namespace hilo
