// Laws of propagation: what is closed holds, no axis stands twice, edges agree, a second run
// changes nothing, names of axes and axes of size 1 say nothing.
#include "same_program.h"

namespace hilo::test {
namespace {

Module propagated(std::string_view text) {
  Module module = sound_module(text);
  const auto done = run_pass(module, propagate_all_shardings);
  EXPECT_TRUE(done) << (done ? "" : to_string(done.error()));
  for (const Error& error : verify(module)) ADD_FAILURE() << to_string(error);
  return module;
}

std::string fault_of(std::string_view text) {
  Module module = sound_module(text);
  const auto done = run_pass(module, propagate_all_shardings);
  EXPECT_FALSE(done) << print(module);
  return done ? "" : to_string(done.error());
}

InstructionId find(const Module& module, std::string_view name) {
  for (const Computation& computation : module.computations)
    for (InstructionId id : computation.instructions)
      if (module[id].name == name) return id;
  ADD_FAILURE() << "no " << name << " in\n" << print(module);
  return {};
}

std::string sharding_of(const Module& module, std::string_view name) {
  const auto& sharding = module.extra(module[find(module, name)]).sharding;
  return sharding ? print(*sharding) : "";
}

// Entry of a module for two by two devices.
std::string over_xy(std::string_view body, std::string_view mesh = R"("x"=2, "y"=2)",
                    int64_t devices = 4) {
  return fmt::format(
      "HloModule m, num_partitions={}, frontend_attributes={{xla.sdy.meshes={{mesh = "
      "#sdy.mesh<[{}]>}}}}\nENTRY e {{\n{}\n}}\n",
      devices, mesh, body);
}
std::string sdy(std::string_view sharding) {
  std::string quoted;
  for (char c : sharding) quoted += c == '"' ? "\\\"" : std::string(1, c);
  return ", frontend_attributes={xla.sdy.sharding=\"#sdy.sharding<@mesh, " + quoted + ">\"}";
}
std::string constraint(std::string_view name, std::string_view shape, std::string_view operand,
                       std::string_view sharding) {
  return fmt::format("{} = {} custom-call({}), custom_call_target=\"Sharding\"{}\n", name, shape,
                     operand, sdy(sharding));
}

TEST(ShardingPropagation, GoesThroughAProduct) {
  const Module module = propagated(
      over_xy("a = f32[16,32] parameter(0)" + sdy(R"([{"x"}, {}])") +
              "\nb = f32[32,64] parameter(1)" + sdy(R"([{}, {"y"}])") +
              "\nc = f32[16,64] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
              "ROOT r = f32[64,16] transpose(c), dimensions={1,0}"));
  EXPECT_EQ(sharding_of(module, "c"), "{devices=[2,2]<=[4]}");
  EXPECT_EQ(sharding_of(module, "r"), "{devices=[2,2]<=[2,2]T(1,0)}");
}

TEST(ShardingPropagation, AConstraintIsACopy) {
  const std::string text = over_xy("a = f32[16,32] parameter(0)" + sdy(R"([{"x"}, {}])") + "\n" +
                                   constraint("c", "f32[16,32]", "a", R"([{}, {"y"}])") +
                                   "ROOT r = f32[16,32] negate(c)");
  const Module module = propagated(text);
  const InstructionId copy = module.operand(find(module, "r"), 0);
  EXPECT_EQ(module[copy].op, Op::Copy);
  EXPECT_EQ(print(*module.extra(module[copy]).sharding),
            "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}");
  EXPECT_EQ(sharding_of(module, "a"), "{devices=[2,1,2]<=[4] last_tile_dim_replicate}");
}

TEST(ShardingPropagation, OpenDimensionsGrowClosedOnesDoNot) {
  const std::string a = "a = f32[16,32] parameter(0)" + sdy(R"([{"x"}, {"y"}])") + "\n";
  const Module open = propagated(over_xy(a + "b = f32[16,32] negate(a)\n" +
                                         constraint("c", "f32[16,32]", "b", R"([{?}, {}])") +
                                         "ROOT r = f32[16,32] negate(c)"));
  EXPECT_EQ(sharding_of(open, "b"), "{devices=[2,2]<=[4]}");
  EXPECT_EQ(sharding_of(open, "r"), "{devices=[2,1,2]<=[4] last_tile_dim_replicate}");
  EXPECT_EQ(print(*open.extra(open[open.operand(find(open, "r"), 0)]).sharding),
            "{devices=[2,1,2]<=[4] last_tile_dim_replicate}");
}

TEST(ShardingPropagation, PrioritiesComeFirst) {
  const auto of = [](std::string_view a, std::string_view b) {
    const Module module = propagated(over_xy("a = f32[16,16] parameter(0)" + sdy(a) +
                                             "\nb = f32[16,16] parameter(1)" + sdy(b) +
                                             "\nROOT r = f32[16,16] add(a, b)"));
    return sharding_of(module, "r");
  };
  EXPECT_EQ(of(R"([{"x"}, {}])", R"([{}, {"x"}])"),
            "{devices=[2,1,2]<=[4] last_tile_dim_replicate}");
  EXPECT_EQ(of(R"([{"x"}p1, {}])", R"([{}, {"x"}p0])"),
            "{devices=[1,2,2]<=[4] last_tile_dim_replicate}");
}

TEST(ShardingPropagation, UsesOfAConstantNeedNotAgree) {
  const Module module =
      propagated(over_xy("a = f32[16,16] parameter(0)" + sdy(R"([{"x"}, {}])") +
                         "\nb = f32[16,16] parameter(1)" + sdy(R"([{}, {"x"}])") +
                         "\nz = f32[] constant(0)\nzs = f32[16,16] broadcast(z), dimensions={}\n"
                         "c = f32[16,16] maximum(a, zs)\nd = f32[16,16] maximum(b, zs)\n"
                         "ROOT r = (f32[16,16], f32[16,16]) tuple(c, d)"));
  EXPECT_EQ(sharding_of(module, "c"), "{devices=[2,1,2]<=[4] last_tile_dim_replicate}");
  EXPECT_EQ(sharding_of(module, "d"), "{devices=[1,2,2]<=[4] last_tile_dim_replicate}");
  EXPECT_NE(module.operand(find(module, "c"), 1), module.operand(find(module, "d"), 1));
}

constexpr std::string_view loop =
    R"(HloModule m, num_partitions=4, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2, "y"=2]>}}
body { p = (s32[], f32[16,32]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  x = f32[16,32] get-tuple-element(p), index=1
  y = f32[16,32] negate(x)
  ROOT t = (s32[], f32[16,32]) tuple(j, y) }
condition { q = (s32[], f32[16,32]) parameter(0)
  i2 = s32[] get-tuple-element(q), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i2, n), direction=LT }
ENTRY e { a = f32[16,32] parameter(0), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"x\"}, {}]>"}
  zero = s32[] constant(0)
  init = (s32[], f32[16,32]) tuple(zero, a)
  w = (s32[], f32[16,32]) while(init), condition=condition, body=body
  ROOT r = f32[16,32] get-tuple-element(w), index=1 }
)";

TEST(ShardingPropagation, LoopsCarryOneSharding) {
  const Module module = propagated(loop);
  const std::string carried = "{{replicated}, {devices=[2,1,2]<=[4] last_tile_dim_replicate}}";
  for (std::string_view name : {"p", "q", "w", "t", "init"})
    EXPECT_EQ(sharding_of(module, name), carried) << name;
  EXPECT_EQ(sharding_of(module, "r"), "{devices=[2,1,2]<=[4] last_tile_dim_replicate}");
}

TEST(ShardingPropagation, ASecondRunChangesNothing) {
  for (const std::string& text :
       {std::string(loop), over_xy("a = f32[16,32] parameter(0)" + sdy(R"([{"x"}, {}])") + "\n" +
                                   constraint("c", "f32[16,32]", "a", R"([{}, {"y"}])") +
                                   "ROOT r = f32[16,32] negate(c)")}) {
    Module module = propagated(text);
    const std::string once = print(module);
    ASSERT_TRUE(run_pass(module, propagate_all_shardings));
    EXPECT_EQ(print(module), once);
  }
}

TEST(ShardingPropagation, AxesOfSizeOneSayNothing) {
  const std::string body = "a = f32[16,32] parameter(0)" + sdy(R"([{"x", "one"}, {"one2"}])") +
                           "\nb = f32[32,16] transpose(a), dimensions={1,0}\nROOT r = f32[512] "
                           "reshape(b)";
  const Module module = propagated(over_xy(body, R"("one"=1, "x"=2, "one2"=1, "y"=2)"));
  EXPECT_EQ(sharding_of(module, "b"), "{devices=[1,2,2]<=[4] last_tile_dim_replicate}");
}

// Meshes of one program are cut as each part of it likes.
TEST(ShardingPropagation, GoesOnFromWhatIsSaidOverAnotherMesh) {
  const auto of = [](std::string_view other) {
    const Module module = propagated(fmt::format(
        "HloModule m, num_partitions=4, frontend_attributes={{xla.sdy.meshes={{mesh = "
        "#sdy.mesh<[\"x\"=2, \"y\"=2]>, other = #sdy.mesh<[{}]>}}}}\nENTRY e {{\n"
        "a = f32[8,2] parameter(0){}\n"
        "c = f32[8,2] custom-call(a), custom_call_target=\"Sharding\", frontend_attributes="
        "{{xla.sdy.sharding=\"#sdy.sharding<@other, [{{\\\"a\\\"}}, {{}}]>\"}}\n"
        "ROOT r = f32[8,2] negate(c)\n}}\n",
        other, sdy(R"([{"x"}, {"y"}])")));
    return sharding_of(module, "r");
  };
  EXPECT_EQ(of(R"("a"=4, "b"=1)"), "{devices=[4,1]<=[4]}");
  EXPECT_EQ(of(R"("a"=2, "b"=2)"), "{devices=[2,1,2]<=[4] last_tile_dim_replicate}");
  EXPECT_EQ(of(R"("b"=2, "a"=2)"), "{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}");
}

TEST(ShardingPropagation, GoesThroughCallsThatGiveTheirOperand) {
  const Module module = propagated(
      over_xy("a = f32[16,32] parameter(0)" + sdy(R"([{"x"}, {}])") +
              "\nb = f32[16,32] custom-call(a), custom_call_target=\"LayoutConstraint\", "
              "operand_layout_constraints={f32[16,32]{0,1}}\n"
              "ROOT r = f32[16,32] negate(b)"));
  EXPECT_EQ(sharding_of(module, "r"), "{devices=[2,1,2]<=[4] last_tile_dim_replicate}");
}

TEST(ShardingPropagation, SplitsAnAxisWhereAReshapeDoes) {
  const Module module =
      propagated(over_xy("a = f32[8,4] parameter(0)" + sdy(R"([{"x"}, {}])") +
                             "\nb = f32[2,16] reshape(a)\nROOT r = f32[8,4] reshape(b)",
                         R"("x"=4)"));
  EXPECT_EQ(sharding_of(module, "b"), "{devices=[2,2]<=[4]}");
  EXPECT_EQ(sharding_of(module, "r"), "{devices=[4,1]<=[4]}");
}

TEST(ShardingPropagation, ChosenResultsAreEvenAndOfWholeAxes) {
  const auto of_root = [](std::string_view shape) {
    const Module module = propagated(over_xy("a = f32[8,4] parameter(0)" + sdy(R"([{"x"}, {}])") +
                                                 fmt::format("\nROOT r = {} reshape(a)", shape),
                                             R"("x"=4)"));
    return sharding_of(module, "r");
  };
  EXPECT_EQ(of_root("f32[32]"), "{devices=[4]<=[4]}");
  EXPECT_EQ(of_root("f32[2,16]"), "{replicated}");
}

// x is manual in the body, y is not.
constexpr std::string_view region =
    R"(HloModule m, num_partitions=4, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2, "y"=2]>}}
xla.sdy.manual_computation_body.1 { p = f32[8,32] parameter(0)
  ROOT n = f32[8,32] negate(p) }
ENTRY e { a = f32[16,32] parameter(0), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"x\"}, {\"y\"}]>"}
  in = f32[8,32] custom-call(a), custom_call_target="xla.sdy.GlobalToLocalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"x\", ?}, {?}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"x\"}>"}
  body = f32[8,32] call(in), to_apply=xla.sdy.manual_computation_body.1
  out = f32[16,32] custom-call(body), custom_call_target="xla.sdy.LocalToGlobalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{\"x\", ?}, {?}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"x\"}>"}
  ROOT r = f32[16,32] negate(out) }
)";

TEST(ShardingPropagation, FreeAxesGoThroughManualRegions) {
  const Module module = propagated(region);
  EXPECT_EQ(sharding_of(module, "n"), "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dims={manual}}");
  EXPECT_EQ(sharding_of(module, "body"), sharding_of(module, "n"));
  EXPECT_EQ(sharding_of(module, "r"), "{devices=[2,2]<=[4]}");
}

// A call that begins or ends a region in which x is manual.
std::string edge(std::string_view name, std::string_view shape, std::string_view operand,
                 bool begins, std::string_view sharding) {
  std::string quoted = sdy(sharding);
  const size_t at = quoted.find("sharding=\"#sdy.sharding<");
  quoted.replace(at, 24,
                 begins ? "in_shardings=\"#sdy.sharding_per_value<[<"
                        : "out_shardings=\"#sdy.sharding_per_value<[<");
  quoted.replace(quoted.size() - 3, 3, R"(>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"x\"}>"})");
  return fmt::format("{} = {} custom-call({}), custom_call_target=\"xla.sdy.{}Shape\"{}\n", name,
                     shape, operand, begins ? "GlobalToLocal" : "LocalToGlobal", quoted);
}

TEST(ShardingPropagation, WhatEntersARegionIsOutsideOfIt) {
  const Module module = propagated(
      over_xy("z = f32[] constant(1)\nzs = f32[16] broadcast(z), dimensions={}\n" +
              edge("in", "f32[8]", "zs", true, R"([{"x"}])") + "n = f32[8] negate(in)\n" +
              edge("out", "f32[16]", "n", false, R"([{"x"}])") + "ROOT r = f32[16] negate(out)"));
  EXPECT_EQ(sharding_of(module, "zs"), "{devices=[2,2]<=[4] last_tile_dim_replicate}");
  EXPECT_EQ(sharding_of(module, "r"), "{devices=[2,2]<=[4] last_tile_dim_replicate}");
}

TEST(ShardingPropagation, AnEffectMayBeSaidToBeSharded) {
  const Module module = propagated(
      over_xy("a = f32[16] parameter(0)\n" + edge("in", "f32[8]", "a", true, R"([{"x"}])") +
              "p = () custom-call(in), custom_call_target=\"print\", "
              "custom_call_has_side_effect=true" +
              sdy("[]") + "\n" + edge("out", "f32[16]", "in", false, R"([{"x"}])") +
              "ROOT r = f32[16] negate(out)"));
  EXPECT_EQ(sharding_of(module, "r"), "{devices=[2,2]<=[4] last_tile_dim_replicate}");
}

TEST(ShardingPropagation, SummandsCrossTheEdgesOfRegionsAndStayIt) {
  const std::string_view scalar = R"([], unreduced={"x"})";
  const Module module = propagated(
      over_xy("z = f32[] constant(1)\n" + constraint("c", "f32[]", "z", scalar) +
              edge("in", "f32[]", "c", true, scalar) + "v = f32[8] broadcast(in), dimensions={}\n" +
              edge("out", "f32[8]", "v", false, R"([{}], unreduced={"x"})") +
              constraint("s", "f32[8]", "out", R"([{}], unreduced={"x"})") +
              "b = f32[8] parameter(0)\nROOT r = (f32[8], f32[8]) tuple(s, b)"));
  const std::string summands = "{devices=[1,2,2]<=[4] last_tile_dims={unreduced, replicated}}";
  EXPECT_EQ(sharding_of(module, "r"), "{" + summands + ", {replicated}}");
}

TEST(ShardingPropagation, GroupsAreShardedAlike) {
  const Module module =
      propagated(over_xy("a = f32[16,32] parameter(0)" + sdy(R"([{"x"}, {}])") +
                         "\nb = f32[16,32] parameter(1)" + sdy(R"([{?}, {?}])") +
                         "\nna = f32[16,32] negate(a)\nnb = f32[16,32] negate(b)\n"
                         "ga = () custom-call(na), custom_call_target=\"xla.sdy.ShardingGroup\", "
                         "custom_call_has_side_effect=true, "
                         "frontend_attributes={xla.sdy.sharding_group_id=\"0 : i64\"}\n"
                         "gb = () custom-call(nb), custom_call_target=\"xla.sdy.ShardingGroup\", "
                         "custom_call_has_side_effect=true, "
                         "frontend_attributes={xla.sdy.sharding_group_id=\"0 : i64\"}\n"
                         "ROOT r = (f32[16,32], f32[16,32]) tuple(na, nb)"));
  EXPECT_EQ(sharding_of(module, "nb"), "{devices=[2,1,2]<=[4] last_tile_dim_replicate}");
  EXPECT_EQ(sharding_of(module, "b"), "{devices=[2,1,2]<=[4] last_tile_dim_replicate}");
}

TEST(ShardingPropagation, RatherOneOfTwoShardingsThanNone) {
  const Module module = propagated(over_xy("a = f32[16,16] parameter(0)" + sdy(R"([{"x"}, {}])") +
                                           "\nb = f32[16,16] parameter(1)" + sdy(R"([{"y"}, {}])") +
                                           "\nROOT r = f32[16,16] add(a, b)"));
  EXPECT_EQ(sharding_of(module, "r"), "{devices=[2,1,2]<=[4] last_tile_dim_replicate}");
}

TEST(ShardingPropagation, SaysWhatDoesNotFit) {
  const auto of = [](std::string_view sharding) {
    return fault_of(over_xy("ROOT a = f32[16,32] parameter(0)" + sdy(sharding)));
  };
  EXPECT_NE(of(R"([{"z"}, {}])").find("the mesh has no axis 'z'"), std::string::npos);
  EXPECT_NE(of(R"([{"x"}, {"x"}])").find("'x' stands twice"), std::string::npos);
  EXPECT_NE(of(R"([{"x":(1)3}, {}])").find("does not divide axis 'x' of 2"), std::string::npos);
  EXPECT_NE(of(R"([{"x"}])").find("expected a sharding of 2 dimensions for f32[16,32]"),
            std::string::npos);
  EXPECT_NE(
      fault_of(over_xy("ROOT a = f32[16] parameter(0)" + sdy(R"([{"x"}])"), R"("x"=2, "y"=2)", 8))
          .find("the mesh 'mesh' has 4 devices, and the module is for 8"),
      std::string::npos);
}

TEST(ShardingPropagation, SaysWhereTwoContradict) {
  const std::string fault =
      fault_of(over_xy("a = f32[16,32] parameter(0)" + sdy(R"([{"x"}, {}])") +
                       "\nb = f32[16,32] parameter(1)" + sdy(R"([{}, {"x"}])") +
                       "\nga = () custom-call(a), custom_call_target=\"xla.sdy.ShardingGroup\", "
                       "frontend_attributes={xla.sdy.sharding_group_id=\"7\"}\n"
                       "gb = () custom-call(b), custom_call_target=\"xla.sdy.ShardingGroup\", "
                       "frontend_attributes={xla.sdy.sharding_group_id=\"7\"}\n"
                       "ROOT r = f32[16,32] add(a, b)"));
  EXPECT_NE(fault.find(R"(<@mesh, [{}, {"x"}]> here and #sdy.sharding<@mesh, [{"x"}, {}]> at 'a')"),
            std::string::npos)
      << fault;
  EXPECT_NE(fault.find("4:1: error"), std::string::npos) << "line of b: " << fault;
}

TEST(ShardingPropagation, SideEffectsNeedADevice) {
  const auto text = [](std::string_view sharding) {
    return fmt::format(
        "HloModule m, num_partitions=4\nENTRY e {{\na = f32[16,32] parameter(0), "
        "sharding={{devices=[4,1]<=[4]}}\nc = () custom-call(a), custom_call_target=\"print\", "
        "custom_call_has_side_effect=true{}\nROOT r = f32[16,32] negate(a)\n}}\n",
        sharding);
  };
  EXPECT_NE(fault_of(text("")).find("all 4 devices would do it"), std::string::npos);
  const Module module = propagated(text(", sharding={maximal device=1}"));
  EXPECT_EQ(sharding_of(module, "c"), "{maximal device=1}");
}

}  // namespace
}  // namespace hilo::test
