// What a program outside gives to compile(), evaluate() and run(): modules that are not sound,
// hints that are not true, arguments that do not fit. Each ends in an error or in the right values.
#include "both.h"

namespace hilo::test {
namespace {

Module parsed(std::string_view text) {
  auto module = parse(text);
  EXPECT_TRUE(module) << to_string(module.error());
  return *std::move(module);
}

void expect_error(const auto& result, ErrorKind kind, std::string_view part) {
  ASSERT_FALSE(result.has_value()) << part;
  EXPECT_EQ(result.error().kind, kind) << to_string(result.error());
  EXPECT_NE(result.error().message.find(part), std::string::npos) << to_string(result.error());
}

void expect_same_bits(std::string_view text, uint64_t seed = 1) {
  const auto both = run_both(text, seed);
  ASSERT_TRUE(both) << to_string(both.error()) << "\n" << text;
  EXPECT_TRUE(same_bits(both->compiled, both->evaluated))
      << print(both->compiled) << " was compiled, " << print(both->evaluated) << " evaluated\n"
      << text;
}

TEST(GivenModules, AreVerified) {
  const Module module =
      parsed("HloModule m\nENTRY e { a = f32[4] parameter(0)\n ROOT b = f32[5000] tanh(a) }");
  const std::string message = verify(module)[0].message;
  expect_error(compile(module), ErrorKind::Shape, message);
  expect_error(compile_object(module, "f"), ErrorKind::Shape, message);
  const std::vector<Literal> arguments = {Literal::zeros(Shape::array(ElementType::F32, {4}))};
  expect_error(evaluate(module, Inputs{{arguments}}), ErrorKind::Shape, message);
  expect_error(evaluate_computation(module, module.entry, arguments), ErrorKind::Shape, message);
  expect_error(compile(Module()), ErrorKind::Structure, "entry");
  expect_error(evaluate(Module(), {}), ErrorKind::Structure, "entry");
}

// Built by hand, with ids that lead nowhere.
TEST(GivenModules, AreVerifiedWhereNoTextCouldHoldThem) {
  const auto refused = [](auto&& spoil) {
    Module module;
    const ComputationId main = module.add_computation("main");
    module.entry = main;
    const Shape shape = Shape::array(ElementType::F32, {4});
    const InstructionId x = module.add_instruction(main, Op::Parameter, shape, {}, "x");
    const InstructionId y = module.add_instruction(main, Op::Negate, shape, std::array{x}, "y");
    EXPECT_TRUE(verify(module).empty());
    spoil(module, y);
    expect_error(compile(module), ErrorKind::Structure, "");
    expect_error(evaluate(module, {}), ErrorKind::Structure, "");
  };
  refused([](Module& m, InstructionId y) { m[y].shape = {1000}; });
  refused([](Module& m, InstructionId y) { m[y].extra = {7}; });
  refused([](Module& m, InstructionId y) { m[y].metadata = {7}; });
  refused([](Module& m, InstructionId y) { m[y].op = Op::Fusion, m[y].attributes = {9}; });
  refused([](Module& m, InstructionId y) { m[y].first_operand = 90; });
  refused([](Module& m, InstructionId) { m.computations[0].root = {}; });
  refused([](Module& m, InstructionId) { m.entry = {3}; });
  refused([](Module& m, InstructionId y) {
    m.add_instruction(m.entry, Op::Call, m.shape(y), std::array{y}, CallAttributes{{5}});
  });
}

TEST(GivenArguments, MustFitTheirParameters) {
  const Module module = parsed(
      "HloModule m\nENTRY e { p = (f32[2], (s32[3], pred[])) parameter(0)\n d = f32[<=4] "
      "parameter(1)\n ROOT r = ((f32[2], (s32[3], pred[])), f32[<=4]) tuple(p, d) }");
  const auto executable = compile(module);
  ASSERT_TRUE(executable) << to_string(executable.error());
  const Shape pair = module.shape(module[module.entry].parameters[0]);
  const Shape dynamic = module.shape(module[module.entry].parameters[1]);
  const auto refused = [&](std::vector<Literal> arguments, std::string_view part) {
    expect_error(executable->run(arguments), ErrorKind::Input, part);
    expect_error(evaluate(module, Inputs{{arguments}}), ErrorKind::Input, part);
    expect_error(evaluate_computation(module, module.entry, arguments), ErrorKind::Input, part);
  };
  const Literal good = Literal::zeros(pair), other = Literal::zeros(dynamic);
  EXPECT_TRUE(executable->run({good, other}));
  EXPECT_TRUE(evaluate(module, Inputs{{{good, other}}}));
  refused({}, "0 were given");
  refused({good, other, other}, "3 were given");
  refused({good, Literal()}, "nothing");
  refused({good, good}, "(f32[2], (s32[3], pred[]))");
  refused({good, Literal::zeros(Shape::array(ElementType::F64, {4}))}, "f64[4]");
  Literal wrong = good;
  wrong.mutable_elements()[1].mutable_elements().pop_back();
  refused({wrong, other}, "a tuple of 1 elements");
  wrong = good;
  wrong.mutable_elements()[0] = Literal();
  refused({wrong, other}, "nothing as element 0");
  wrong = good;
  wrong.mutable_elements()[0] = Literal::zeros(Shape::array(ElementType::F32, {1}));
  refused({wrong, other}, "f32[1] as element 0");
  wrong = other;
  wrong.set_size(0, 9);
  refused({good, wrong}, "a size of 9 in dimension 0");
  wrong.set_size(0, -1);
  refused({good, wrong}, "a size of -1");
  refused({good, Literal::view(dynamic, nullptr)}, "without storage");
  expect_error(executable->run_devices({}), ErrorKind::Input, "1 devices");
  expect_error(evaluate(module, {}), ErrorKind::Input, "1 devices");
}

TEST(GivenConstants, MayBeTuples) {
  const std::string constant =
      " k = (f32[2,1], (s32[3], pred[])) constant(({ {1}, {2} }, ({3, 4, 5}, true)))\n";
  const std::string shape = "(f32[2,1], (s32[3], pred[]))";
  const std::string head = "HloModule m\nENTRY e { x = f32[2,1] parameter(0)\n";
  expect_same_bits(head + constant + " ROOT r = " + shape + " copy(k) }");
  expect_same_bits("HloModule m\nENTRY e {\n ROOT" + constant + "}");
  expect_same_bits(head + constant +
                   " a = f32[2,1] get-tuple-element(k), index=0\n b = (s32[3], pred[]) "
                   "get-tuple-element(k), index=1\n c = s32[3] get-tuple-element(b), index=0\n s = "
                   "f32[2,1] add(x, a)\n n = s32[3] negate(c)\n ROOT r = (f32[2,1], s32[3]) "
                   "tuple(s, n) }");
  expect_same_bits(head + constant + " n = f32[2,1] negate(x)\n ROOT r = (" + shape +
                   ", f32[2,1]) tuple(k, n), control-predecessors={k} }");
  expect_same_bits("HloModule m\nf { y = f32[2,1] parameter(0)\n" + constant +
                   " a = f32[2,1] get-tuple-element(k), index=0\n ROOT s = f32[2,1] multiply(y, a) "
                   "}\nENTRY e { x = f32[2,1] parameter(0)\n ROOT r = f32[2,1] fusion(x), "
                   "kind=kLoop, calls=f }");
  expect_same_bits(
      "HloModule m\nc { s = (s32[], f32[2]) parameter(0)\n i = s32[] get-tuple-element(s), "
      "index=0\n n = s32[] constant(3)\n ROOT t = pred[] compare(i, n), direction=LT }\nb { s = "
      "(s32[], f32[2]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n y = f32[2] "
      "get-tuple-element(s), index=1\n o = s32[] constant(1)\n j = s32[] add(i, o)\n z = f32[2] "
      "add(y, y)\n ROOT t = (s32[], f32[2]) tuple(j, z) }\nENTRY e { s = (s32[], f32[2]) "
      "constant((0, {1, 2}))\n ROOT w = (s32[], f32[2]) while(s), condition=c, body=b }");
  expect_same_bits("HloModule m\nENTRY e { ROOT k = (f32[0], s32[2]) constant(({}, {3, 4})) }");
}

TEST(GivenCalls, WithAnEffectAndNoResultAreToldOf) {
  const Module module = parsed(
      "HloModule m\nf { p = s32[1,8] parameter(0)\n q = s32[1,8] parameter(1)\n ROOT t = "
      "(s32[1,8], s32[1,8]) tuple(p, q) }\nENTRY e { x = s32[1,8] parameter(0)\n y = s32[1,8] "
      "parameter(1)\n ROOT both = (s32[1,8], s32[1,8]) fusion(x, y), kind=kLoop, calls=f\n second "
      "= "
      "s32[1,8] get-tuple-element(both), index=1\n logged = () custom-call(second), "
      "custom_call_target=\"debug.Log\", custom_call_has_side_effect=true }");
  expect_error(compile(module), ErrorKind::Unsupported, "debug.Log");
  const Literal zeros = Literal::zeros(Shape::array(ElementType::S32, {1, 8}));
  expect_error(evaluate(module, Inputs{{{zeros, zeros}}}), ErrorKind::Unsupported, "debug.Log");
}

// A function that is supplied for it runs, on both.
TEST(GivenCalls, WithAnEffectAndNoResultAreMade) {
  const Module module = parsed(
      "HloModule m\nENTRY e { x = s32[8] parameter(0)\n ROOT y = s32[8] negate(x)\n l = () "
      "custom-call(y), custom_call_target=\"log\", custom_call_has_side_effect=true }");
  CompileOptions options;
  int calls = 0;
  options.eval.custom_calls["log"] = [&](const CustomCallArguments& given) -> Result<void> {
    calls += given.operands.size() == 1 && given.results.empty();
    return {};
  };
  const auto executable = compile(module, cpu_target(), options);
  ASSERT_TRUE(executable) << to_string(executable.error());
  const std::vector<Literal> arguments = {Literal::zeros(Shape::array(ElementType::S32, {8}))};
  EXPECT_TRUE(executable->run(arguments));
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(evaluate(module, Inputs{{arguments}}, options.eval));
  EXPECT_EQ(calls, 2);
}

TEST(GivenCalls, MustGiveWhatTheySay) {
  const Module module = parsed(
      "HloModule m\nENTRY e { x = f32[8] parameter(0)\n ROOT r = f32[8] custom-call(x), "
      "custom_call_target=\"f\" }");
  const std::vector<Literal> arguments = {Literal::zeros(Shape::array(ElementType::F32, {8}))};
  const auto refused = [&](CustomCallFunction function, std::string_view part) {
    CompileOptions options;
    options.eval.custom_calls["f"] = std::move(function);
    const auto executable = compile(module, cpu_target(), options);
    ASSERT_TRUE(executable) << to_string(executable.error());
    expect_error(executable->run(arguments), ErrorKind::Evaluation, part);
    expect_error(evaluate(module, Inputs{{arguments}}, options.eval), ErrorKind::Evaluation, part);
  };
  refused(
      [](const CustomCallArguments& given) -> Result<void> {
        given.results[0] = Literal::zeros(Shape::array(ElementType::F32, {2}));
        return {};
      },
      "gave f32[2]");
  refused([](const CustomCallArguments&) -> Result<void> { throw std::runtime_error("no luck"); },
          "no luck");
}

// A loop of `limit` rounds, as long as what is carried is an argument not known here.
std::string loop_with_hint(const std::string& start, const std::string& hint) {
  return "HloModule m\nc { s = (s32[]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n n "
         "= "
         "s32[] constant(7)\n ROOT t = pred[] compare(i, n), direction=LT }\nb { s = (s32[]) "
         "parameter(0)\n i = s32[] get-tuple-element(s), index=0\n o = s32[] constant(1)\n j = "
         "s32[] "
         "add(i, o)\n ROOT t = (s32[]) tuple(j) }\nENTRY e { x = s32[] parameter(0)\n z = s32[] "
         "constant(0)\n s = (s32[]) tuple(" +
         start + ")\n ROOT w = (s32[]) while(s), condition=c, body=b, backend_config={" +
         "\"known_trip_count\":{\"n\":\"" + hint + "\"}} }";
}

TEST(GivenHints, OfTripCountsChangeNoValues) {
  for (const char* start : {"x", "z"})
    for (const char* hint : {"0", "1", "3", "7", "1000000000000"}) {
      expect_same_bits(loop_with_hint(start, hint));
    }
}

// What another back end says is written over what: here the operand is still read.
TEST(GivenHints, OfAliasingChangeNoValues) {
  const std::string head =
      "HloModule m\nf { p = f32[4000] parameter(0)\n ROOT r = f32[4000] reverse(p), dimensions={0} "
      "}\nENTRY e { x = f32[4000] parameter(0)\n y = f32[4000] negate(x)\n ";
  const std::string fusion = "f32[4000] fusion(y), kind=kLoop, calls=f, ";
  expect_same_bits(
      head + "ROOT r = " + fusion +
      "backend_config={\"aliasing_operands\":{\"lists\":[{\"indices\":[\"0\",\"1\"]}]}}"
      " }");
  expect_same_bits(head + "ROOT r = " + fusion + "output_to_operand_aliasing={{}: (0, {})} }");
  expect_same_bits(
      "HloModule m\nf { p = f32[40] parameter(0)\n ROOT b = f32[40,40] broadcast(p), "
      "dimensions={1} "
      "}\nENTRY e { x = f32[40] parameter(0)\n y = f32[40] negate(x)\n ROOT r = f32[40,40] "
      "fusion(y), kind=kLoop, calls=f, "
      "backend_config={\"aliasing_operands\":{\"lists\":[{\"indices\":[\"0\",\"1\"]}]}} }");
}

TEST(GivenMemory, ThatIsNotThereIsAnError) {
  const Module module = parsed(
      "HloModule m\nENTRY e { x = f32[] parameter(0)\n b = f32[100000000,1000000] broadcast(x), "
      "dimensions={}\n ROOT r = f32[100000000,1000000] exponential(b) }");
  const std::vector<Literal> arguments = {Literal::scalar(1.0F)};
  const auto executable = compile(module);
  ASSERT_TRUE(executable) << to_string(executable.error());
  expect_error(executable->run(arguments), ErrorKind::Memory, "400000000000000");
  EvalOptions options;
  options.memory_limit = INT64_MAX;
  expect_error(evaluate(module, Inputs{{arguments}}, options), ErrorKind::Memory,
               "bytes more were asked for");
  options.allocate = [](int64_t) { return Bytes(); };
  expect_error(evaluate(module, Inputs{{arguments}}, options), ErrorKind::Memory, "asked for");
}

}  // namespace
}  // namespace hilo::test
