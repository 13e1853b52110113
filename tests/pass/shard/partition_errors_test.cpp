// Programs whose shardings do not fit: the error names the instruction, its line and what is said.
#include "../judge.h"

namespace hilo::test {
namespace {

struct Wrong {
  std::string_view entry, instruction;
  int64_t line = 0;
  std::vector<std::string_view> says;
  std::string_view header = "num_partitions=4";
};

void expect_error(const Wrong& wrong, std::string_view passes) {
  SCOPED_TRACE(passes);
  const std::string text =
      fmt::format("HloModule m, {}\nENTRY e {{{}}}\n", wrong.header, wrong.entry);
  Result<Module> module = parse(text);
  ASSERT_TRUE(module) << to_string(module.error()) << text;
  for (const Error& error : verify(*module)) FAIL() << to_string(error);
  const auto pipeline = parse_pipeline(passes, all_passes(), all_pipelines());
  const auto done = run_pipeline(*module, *pipeline, {});
  ASSERT_FALSE(done) << print(*module);
  const Error& error = done.error();
  EXPECT_EQ(error.place.instruction, wrong.instruction) << to_string(error);
  EXPECT_EQ(error.place.line, wrong.line) << to_string(error);
  for (std::string_view one : wrong.says)
    EXPECT_NE(error.message.find(one), std::string::npos) << to_string(error) << "\nnot: " << one;
}

void expect_errors(const Wrong& wrong) {
  expect_error(wrong, "sharding-propagation");
  expect_error(wrong, "spmd-partitioner");
}

const std::string_view mesh_header =
    "num_partitions=4, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<[\"x\"=2, \"y\"=2]>}}";

TEST(PartitionErrors, MoreTilesThanDevices) {
  expect_errors({R"(
  a = f32[16] parameter(0)
  b = f32[16] negate(a), sharding={devices=[8]<=[8]}
  ROOT r = f32[16] add(a, b)
)",
                 "b",
                 4,
                 {"over 4 devices", "found 8", "{devices=[8]<=[8]}"}});
}

TEST(PartitionErrors, ADeviceThatThereIsNot) {
  expect_errors({R"(
  a = f32[16] parameter(0), sharding={maximal device=4}
  ROOT r = f32[16] add(a, a)
)",
                 "a",
                 3,
                 {"expected devices from 0 to 3", "found 4", "{maximal device=4}"}});
}

TEST(PartitionErrors, AGroupOfArraysThatCannotBeAlike) {
  const std::string_view group =
      "custom_call_target=\"xla.sdy.ShardingGroup\", custom_call_has_side_effect=true, "
      "frontend_attributes={xla.sdy.sharding_group_id=\"0\"}\n";
  const std::string text = fmt::format(
      "a = f32[8] parameter(0)\nb = f32[8,4] parameter(1)\n"
      "g = () custom-call(a), {0}h = () custom-call(b), {0}ROOT r = f32[8] copy(a)",
      group);
  expect_error({.entry = text,
                .instruction = "b",
                .line = 3,
                .says = {"'a' with f32[8]", "this with f32[8,4]"},
                .header = mesh_header},
               "sharding-propagation");
  const std::string tuple = fmt::format(
      "a = f32[8] parameter(0)\nt = (f32[8], f32[8,4]) parameter(1)\n"
      "g = () custom-call(a), {0}h = () custom-call(t), {0}ROOT r = f32[8] copy(a)",
      group);
  expect_error({.entry = tuple,
                .instruction = "t",
                .line = 3,
                .says = {"this with (f32[8], f32[8,4])"},
                .header = mesh_header},
               "sharding-propagation");
}

TEST(PartitionErrors, AMeshOfOtherDevices) {
  expect_errors({R"(
  a = f32[16] parameter(0)
  b = f32[16] negate(a), sharding={mesh['x'=2,'y'=3], [{'x'}]}
  ROOT r = f32[16] add(a, b)
)",
                 "b",
                 4,
                 {"a mesh of 4 devices", "found 6", "mesh['x'=2,'y'=3]"}});
}

TEST(PartitionErrors, ManualAxesBehindOthers) {
  expect_errors({R"(
  a = f32[16] parameter(0)
  b = f32[16] negate(a), sharding={devices=[2,2]<=[4] last_tile_dims={manual}}
  c = f32[16] custom-call(b), custom_call_target="SPMDShardToFullShape", sharding={devices=[4]<=[4]}
  ROOT r = f32[16] add(a, c)
)",
                 "c",
                 5,
                 {"expected manual axes in front of others"}});
}

TEST(PartitionErrors, ARegionThatHasNotBegun) {
  expect_error({R"(
  a = f32[16] parameter(0), sharding={devices=[4]<=[4]}
  b = f32[64] custom-call(a), custom_call_target="SPMDShardToFullShape", sharding={devices=[4]<=[4]}
  ROOT r = f32[64] negate(b)
)",
                "b",
                4,
                {"has not begun", "{} before", "{} afterwards"}},
               "sharding-propagation");
}

// What enters is cut along axes that are not manual inside.
TEST(PartitionErrors, ManualAxesThatAreMissing) {
  const Wrong tiles = {R"(
  a = f32[16] parameter(0), sharding={devices=[2,2]<=[4] last_tile_dim_replicate}
  b = f32[16] custom-call(a), custom_call_target="Sharding", sharding={devices=[2,2]<=[4] last_tile_dim_replicate}
  c = f32[8] custom-call(b), custom_call_target="SPMDFullToShardShape", sharding={replicated}
  ROOT r = f32[8] negate(c), sharding={replicated}
)",
                       "c",
                       5,
                       {"border of a manual region", "outside", "inside"}};
  expect_error(tiles, "spmd-partitioner");
  expect_error({R"(
  a = f32[16] parameter(0)
  c = f32[8] custom-call(a), custom_call_target="xla.sdy.GlobalToLocalShape", frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"x\"}]>]>"}
  ROOT r = f32[8] negate(c)
)",
                "c",
                4,
                {"expected the attribute xla.sdy.manual_axes"},
                mesh_header},
               "sharding-propagation");
  expect_error({R"(
  a = f32[16] parameter(0)
  c = f32[8] custom-call(a), custom_call_target="xla.sdy.GlobalToLocalShape", frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"x\"}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"z\"}>"}
  ROOT r = f32[8] negate(c)
)",
                "c",
                4,
                {"the mesh has no axis 'z'"},
                mesh_header},
               "sharding-propagation");
  expect_error({R"(
  a = f32[16] parameter(0)
  c = f32[8] custom-call(a), custom_call_target="xla.sdy.GlobalToLocalShape", frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"y\", \"x\"}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"x\"}>"}
  ROOT r = f32[8] negate(c)
)",
                "c",
                4,
                {"manual axes in front", R"([{"y", "x"}])"},
                mesh_header},
               "sharding-propagation");
}

// What a loop carries has one sharding.
TEST(PartitionErrors, ConstraintsThatContradict) {
  const std::string_view entry = R"(
  a = f32[16] parameter(0), sharding={devices=[4]<=[4]}
  b = f32[16] parameter(1), sharding={devices=[2,2]<=[4] last_tile_dim_replicate}
  t = (f32[16], f32[16]) tuple(a, b), sharding={{devices=[4]<=[4]}, {devices=[2,2]<=[4] last_tile_dim_replicate}}
  o = (f32[16], f32[16]) opt-barrier(t), sharding={{devices=[2,2]<=[4] last_tile_dim_replicate}, {devices=[2,2]<=[4] last_tile_dim_replicate}}
  x = f32[16] get-tuple-element(o), index=0
  ROOT r = f32[16] negate(x), sharding={devices=[4]<=[4]}
)";
  expect_error({entry, "o", 6, {"sharded", "[{\"axis_0\"}]", "[{\"axis_0\", \"axis_1\"}]", "'t'"}},
               "sharding-propagation");
}

// The greatest value and its index are told to all without a resharding.
TEST(PartitionErrors, GroupsInAProgramOfReplicas) {
  const Result<Module> parsed = parse(R"(HloModule m, replica_count=2, num_partitions=2
best { a = s32[] parameter(0)
 i = s32[] parameter(1)
 b = s32[] parameter(2)
 j = s32[] parameter(3)
 e = pred[] compare(a, b), direction=EQ
 l = pred[] compare(i, j), direction=LT
 t = pred[] and(e, l)
 g = pred[] compare(a, b), direction=GT
 f = pred[] or(g, t)
 v = s32[] select(f, a, b)
 w = s32[] select(f, i, j)
 ROOT r = (s32[], s32[]) tuple(v, w) }
ENTRY main {
  a = s32[64] parameter(0), sharding={devices=[2]<=[2]}
  i = s32[64] iota(), iota_dimension=0, sharding={devices=[2]<=[2]}
  z = s32[] constant(-2147483648)
  k = s32[] constant(0)
  ROOT r = (s32[], s32[]) reduce(a, i, z, k), dimensions={0}, to_apply=best
})");
  ASSERT_TRUE(parsed);
  Module module = *parsed;
  const Result<bool> done = run_pass(module, partition_program);
  ASSERT_FALSE(done) << print(module);
  EXPECT_EQ(done.error().place.instruction, "r");
  EXPECT_EQ(done.error().message, "all-reduce among partitions of a program with 2 replicas");
}

TEST(PartitionErrors, MoreTilesThanDevicesOfAMesh) {
  expect_errors({R"(
  a = f32[16,4] parameter(0)
  b = f32[16,4] negate(a), sharding={mesh['x'=4], [{'x':(1)2}, {'x':(2)2}]}
  c = f32[16,4] negate(b), sharding={mesh['x'=4], [{'x'}, {}]}
  ROOT r = f32[8,4] slice(c), slice={[0:8], [0:4]}, sharding={devices=[4,2]<=[8]}
)",
                 "r",
                 6,
                 {"over 4 devices", "found 8", "{devices=[4,2]<=[8]}"}});
}

TEST(PartitionErrors, AxesThatOverlap) {
  const auto entry = [](std::string_view dims) {
    return fmt::format(R"(
  a = f32[16,4] parameter(0)
  b = f32[16,4] negate(a), frontend_attributes={{xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{}]>]>"}}
  ROOT r = f32[16,4] add(b, b)
)",
                       dims);
  };
  const std::string header =
      "num_partitions=4, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<[\"x\"=4]>}}";
  const std::string twice = entry(R"({\"x\"}, {\"x\"})"),
                    inside = entry(R"({\"x\"}, {\"x\":(2)2})");
  expect_error({twice, "b", 4, {"the axis 'x' stands twice"}, header}, "sharding-propagation");
  expect_error({inside, "b", 4, {"the axes 'x' and 'x':(2)2 overlap"}, header},
               "sharding-propagation");
}

TEST(PartitionErrors, ArraysOfBothSidesOfABorder) {
  expect_errors({R"(
  a = f32[16] parameter(0), sharding={devices=[4]<=[4]}
  c = f32[16] custom-call(a), custom_call_target="Sharding", sharding={devices=[4]<=[4]}
  m = f32[4] custom-call(c), custom_call_target="SPMDFullToShardShape", sharding={manual}
  b = f32[4] parameter(1), sharding={replicated}
  ROOT r = f32[4] add(m, b)
)",
                 "r",
                 7,
                 {"expected a border of a manual region between 'm', f32[4]", "'b', f32[4] ",
                  " with manual {}"}});
  expect_errors({R"(
  a = f32[8,8] parameter(0), sharding={manual}
  w = f32[8,4] parameter(1), sharding={replicated}
  ROOT p = f32[8,4] dot(a, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
)",
                 "p",
                 5,
                 {"expected a border of a manual region between 'a'", "and 'w'"}});
}

TEST(PartitionErrors, ARegionThatDoesNotEnd) {
  expect_errors({R"(
  a = f32[16] parameter(0), sharding={devices=[4]<=[4]}
  c = f32[16] custom-call(a), custom_call_target="Sharding", sharding={devices=[4]<=[4]}
  m = f32[4] custom-call(c), custom_call_target="SPMDFullToShardShape", sharding={manual}
  n = f32[4] negate(m), sharding={manual}
  ROOT r = (f32[16], f32[4]) tuple(a, n), sharding={{replicated}, {replicated}}
)",
                 "r",
                 7,
                 {"expected the end of a manual region between 'n'", "f32[4] [{}]"}});
  // What says so itself, what says nothing, and what would be whole but says {manual}.
  for (const auto& [value, said, shown] :
       {std::array{"n", ", sharding={{replicated}, {manual}}", "f32[4] {manual}"},
        std::array{"n", "", "f32[4] "},
        std::array{"b", ", sharding={{replicated}, {manual}}", "f32[4] {manual}"}})
    expect_errors(
        {fmt::format(R"(
  a = f32[16] parameter(0), sharding={{devices=[4]<=[4]}}
  b = f32[4] parameter(1), sharding={{replicated}}
  c = f32[16] custom-call(a), custom_call_target="Sharding", sharding={{devices=[4]<=[4]}}
  m = f32[4] custom-call(c), custom_call_target="SPMDFullToShardShape", sharding={{manual}}
  n = f32[4] negate(m), sharding={{manual}}
  ROOT r = (f32[16], f32[4]) tuple(a, {}){}
)",
                     value, said),
         "r",
         8,
         {fmt::format("expected the end of a manual region between '{}'", value), shown}});
}

// What orders effects inside of a region has no value, and ends with the program.
TEST(PartitionErrors, TokensNeedNoEndOfARegion) {
  Result<Module> module = parse(R"(HloModule m, num_partitions=4
ENTRY e {
  a = f32[16] parameter(0), sharding={devices=[4]<=[4]}
  t = token[] after-all()
  c = f32[16] custom-call(a), custom_call_target="Sharding", sharding={devices=[4]<=[4]}
  m = f32[4] custom-call(c), custom_call_target="SPMDFullToShardShape", sharding={manual}
  o = token[] custom-call(m, t), custom_call_target="tell", custom_call_has_side_effect=true,
    sharding={manual}
  b = f32[16] custom-call(m), custom_call_target="SPMDShardToFullShape", sharding={devices=[4]<=[4]}
  ROOT r = (token[], f32[16]) tuple(o, b)
}
)");
  ASSERT_TRUE(module) << to_string(module.error());
  const auto pipeline =
      parse_pipeline("sharding-propagation,spmd-partitioner", all_passes(), all_pipelines());
  const auto done = run_pipeline(*module, *pipeline, {});
  EXPECT_TRUE(done) << to_string(done.error());
}

// Along the dimension that is dynamic or along another one.
TEST(PartitionErrors, DynamicDimensions) {
  for (std::string_view tiles : {"[4,1]", "[1,4]"}) {
    const std::string said = fmt::format("sharding={{devices={}<=[4]}}", tiles);
    expect_errors({fmt::format(R"(
  a = f32[<=16,8] parameter(0), {}
  ROOT n = f32[<=16,8] negate(a)
)",
                               said),
                   "a",
                   3,
                   {"dynamic dimensions is whole", "f32[<=16,8]", "axis_0"}});
    expect_errors({fmt::format(R"(
  a = f32[16,8] parameter(0)
  s = s32[] parameter(1)
  d = f32[<=16,8] set-dimension-size(a, s), dimensions={{0}}
  n = f32[<=16,8] custom-call(d), custom_call_target="Sharding", {}
  ROOT r = s32[] get-dimension-size(n), dimensions={{0}}
)",
                               said),
                   "n",
                   6,
                   {"f32[<=16,8]"}});
    expect_errors({fmt::format(R"(
  a = f32[16,8] parameter(0), {0}
  s = s32[] parameter(1)
  d = f32[<=16,8] set-dimension-size(a, s), dimensions={{0}}
  ROOT t = (f32[16,8], f32[<=16,8]) tuple(a, d), sharding={{{{replicated}}, {1}}}
)",
                               said, std::string_view(said).substr(9)),
                   "t",
                   6,
                   {"f32[<=16,8]"}});
  }
}

// Factors of a rule are those of dimensions, and have one size each.
TEST(PartitionErrors, RulesOfFactorsThatDoNotExist) {
  const auto entry = [](std::string_view rule) {
    return fmt::format(
        "\na = f32[4] parameter(0)\nROOT r = f32[4] custom-call(a), custom_call_target=\"f\", "
        "frontend_attributes={{xla.sdy.sharding_rule=\"#sdy.op_sharding_rule<([i])->([i]) {}>\"}}",
        rule);
  };
  for (const auto& [rule, expected] :
       {std::pair{"{i=4, i=4}", "expected one size of each factor at 'i=4}"},
        std::pair{"{i=4, z=9}", "expected a factor of a dimension at 'z=9}"},
        std::pair{"{i=4} need_replication={q}", "expected a factor of a dimension at 'q}"},
        std::pair{"{i=4} reduction={i, q}", "expected a factor of a dimension at 'q}"},
        std::pair{"{i=4} blocked_propagation={q}", "expected a factor of a dimension at 'q}"}}) {
    const std::string text = entry(rule);
    expect_errors({text, "r", 4, {expected}});
  }
}

TEST(PartitionErrors, AnAliasThatMustBe) {
  const auto alias = [](std::string_view kind) {
    return fmt::format("num_partitions=4, input_output_alias={{ {{}}: (0, {{}}, {}) }}", kind);
  };
  const std::string must = alias("must-alias"), may = alias("may-alias");
  Wrong wrong = {R"(
  a = f32[16] parameter(0), sharding={devices=[4]<=[4]}
  ROOT r = f32[16] negate(a), sharding={replicated}
)",
                 "a",
                 3,
                 {"must-alias", "f32[4] and f32[16]"},
                 must};
  expect_error(wrong, "spmd-partitioner");
  Result<Module> module = parse(fmt::format("HloModule m, {}\nENTRY e {{{}}}\n", may, wrong.entry));
  ASSERT_TRUE(module && run_pass(*module, partition_program));
  EXPECT_TRUE(module->header.input_output_alias.empty());
}

// What is wrong with a mesh stands at the attribute that names it.
TEST(PartitionErrors, MeshesOfTheHeader) {
  const auto wrong = [](std::string_view mesh, std::string_view says) {
    const std::string header = fmt::format(
        "num_partitions=4, frontend_attributes={{xla.sdy.meshes={{m = #sdy.mesh<{}>}}}}", mesh);
    const std::string entry = "a = f32[16] parameter(0)\nROOT r = f32[16] negate(a)";
    expect_error({.entry = entry, .line = 1, .says = {says}, .header = header},
                 "sharding-propagation");
  };
  wrong("[\"x\"=0]", "'x'=0");
  wrong("[\"x\"=-1]", "'x'=-1");
  wrong("[\"x\"=2, \"x\"=2]", "two axes 'x'");
  wrong("[\"x\"=4], device_ids=[0, 1]", "expected 4 device ids");
  expect_error({.entry = "ROOT a = f32[16] parameter(0), frontend_attributes={xla.sdy.sharding="
                         "\"#sdy.sharding<@m, [{}]>\"}",
                .line = 1,
                .says = {"the mesh 'm' has 8 devices"},
                .header = "num_partitions=4, "
                          "frontend_attributes={xla.sdy.meshes={m = #sdy.mesh<[\"x\"=8]>}}"},
               "sharding-propagation");
}

TEST(PartitionErrors, AMeshThatTheModuleDoesNotName) {
  expect_error({.entry = "\nROOT a = f32[16] parameter(0), frontend_attributes={xla.sdy.sharding="
                         "\"#sdy.sharding<@m, [{}]>\"}",
                .instruction = "a",
                .line = 3,
                .says = {"no mesh 'm' is known"}},
               "sharding-propagation");
}

TEST(PartitionErrors, LongShardingsAreCut) {
  std::string dims = "{}";
  for (int i = 0; i < 1000; ++i) dims += ", {}";
  const std::string text = fmt::format(
      "HloModule m, {}\nENTRY e {{ROOT a = f32[16] parameter(0), frontend_attributes={{"
      "xla.sdy.sharding=\"#sdy.sharding<@mesh, [{}]>\"}}}}\n",
      mesh_header, dims);
  Result<Module> module = parse(text);
  ASSERT_TRUE(module);
  const auto pipeline = parse_pipeline("sharding-propagation", all_passes(), all_pipelines());
  const auto done = run_pipeline(*module, *pipeline, {});
  ASSERT_FALSE(done);
  EXPECT_LT(done.error().message.size(), 300u);
  EXPECT_TRUE(done.error().message.ends_with("...")) << done.error().message;
}

TEST(PartitionErrors, ACollectiveOutsideOfRegions) {
  expect_error({R"(
  a = f32[16] parameter(0), sharding={devices=[4]<=[4]}
  g = f32[64] all-gather(a), dimensions={0}, channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true
  ROOT r = f32[64] negate(g)
)",
                "g",
                4,
                {"manual region"}},
               "spmd-partitioner");
}

}  // namespace
}  // namespace hilo::test
