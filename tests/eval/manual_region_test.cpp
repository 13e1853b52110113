// Manual regions of modules that are not partitioned: one global program outside, one device's
// shapes and collectives inside.
#include "devices.h"

namespace hilo::test {
namespace {

std::string module(const std::string& mesh, const std::string& body, int partitions = 4) {
  return "HloModule m, num_partitions=" + std::to_string(partitions) +
         ", frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<[" + mesh + "]>}}\n" + add_f32 +
         body;
}

std::string into(const std::string& operand, const std::string& result, const std::string& dims,
                 const std::string& axes) {
  return result + " custom-call(" + operand +
         "), custom_call_target=\"xla.sdy.GlobalToLocalShape\", "
         "frontend_attributes={xla.sdy.in_shardings=\"#sdy.sharding_per_value<[<@mesh, [" +
         dims + "]>]>\",xla.sdy.manual_axes=\"#sdy<manual_axes{" + axes + "}>\"}\n";
}
std::string out_of(const std::string& operand, const std::string& result, const std::string& dims,
                   const std::string& axes) {
  return result + " custom-call(" + operand +
         "), custom_call_target=\"xla.sdy.LocalToGlobalShape\", "
         "frontend_attributes={xla.sdy.out_shardings=\"#sdy.sharding_per_value<[<@mesh, [" +
         dims + "]>]>\",xla.sdy.manual_axes=\"#sdy<manual_axes{" + axes + "}>\"}\n";
}

const char* const x4 = "\"x\"=4";
const char* const x2y2 = "\"x\"=2, \"y\"=2";
const char *const cut_x = "{\\\"x\\\"}", *const cut_y = "{\\\"y\\\"}", *const whole = "{}";
const char *const axis_x = "\\\"x\\\"", *const axis_y = "\\\"y\\\"",
                  *const axes_xy = "\\\"x\\\", \\\"y\\\"";

// One set of values in, one out, though four devices run.
TEST(ManualRegion, OneProgramOutsideAndFourDevicesInside) {
  const std::string text = module(
      x4, "ENTRY e {\n p = f32[8] parameter(0)\n d = f32[8] add(p, p)\n l = " +
              into("d", "f32[2]", cut_x, axis_x) +
              " s = f32[2] all-reduce(l), channel_id=1, replica_groups={{0,1,2,3}}, "
              "use_global_device_ids=true, to_apply=add\n i = u32[] partition-id()\n c = f32[] "
              "convert(i)\n b = f32[2] broadcast(c), dimensions={}\n t = f32[2] add(s, b)\n g = " +
              out_of("t", "f32[8]", cut_x, axis_x) + " ROOT r = f32[8] negate(g)\n}\n");
  const auto parsed = parse(text);
  ASSERT_TRUE(parsed.has_value()) << to_string(parsed.error());
  EXPECT_EQ(device_count(*parsed, {}), 1);
  const auto rows = run_well(text, {{f32({8}, {0, 1, 2, 3, 4, 5, 6, 7})}});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0], (Numbers{-24, -32, -25, -33, -26, -34, -27, -35}));
}

// {0,2},{1,3} differ in x. With y left to the partitioner, values are whole along it.
TEST(ManualRegion, SomeAxesManual) {
  const std::string text =
      module(x2y2, "ENTRY e {\n p = f32[4,2] parameter(0)\n l = " +
                       into("p", "f32[2,2]", std::string(cut_x) + ", {\\\"y\\\"}", axis_x) +
                       " s = f32[2,2] all-reduce(l), channel_id=1, replica_groups={{0,2},{1,3}}, "
                       "use_global_device_ids=true, to_apply=add\n ROOT g = " +
                       out_of("s", "f32[4,2]", std::string(cut_x) + ", {}", axis_x) + "}\n");
  const auto rows = run_well(text, {{f32({4, 2}, {1, 2, 3, 4, 10, 20, 30, 40})}});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0], (Numbers{11, 22, 33, 44, 11, 22, 33, 44}));
}

// The inner region's end puts together what devices of one x hold.
TEST(ManualRegion, OneInsideAnother) {
  const std::string text = module(
      x2y2, "ENTRY e {\n p = f32[8] parameter(0)\n l = " + into("p", "f32[4]", cut_x, axis_x) +
                " m = " + into("l", "f32[2]", cut_y, axis_y) +
                " i = u32[] partition-id()\n c = f32[] convert(i)\n b = f32[2] "
                "broadcast(c), dimensions={}\n t = f32[2] add(m, b)\n n = " +
                out_of("t", "f32[4]", cut_y, axis_y) +
                " ROOT g = " + out_of("n", "f32[8]", cut_x, axis_x) + "}\n");
  const auto rows = run_well(text, {{f32({8}, {0, 0, 0, 0, 0, 0, 0, 0})}});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0], (Numbers{0, 0, 1, 1, 2, 2, 3, 3}));
}

// The parts of x in a dimension cut by both: (2) tiles of x, each cut by y.
TEST(ManualRegion, TwoAxesAndSubAxesOfOneDimension) {
  const auto text = [](const std::string& mesh, const std::string& dims, const std::string& axes) {
    return module(mesh,
                  "ENTRY e {\n p = f32[4] parameter(0)\n l = " + into("p", "f32[1]", dims, axes) +
                      " i = u32[] partition-id()\n c = f32[] convert(i)\n b = f32[1] "
                      "broadcast(c), dimensions={}\n t = f32[1] add(l, b)\n ROOT g = " +
                      out_of("t", "f32[4]", dims, axes) + "}\n");
  };
  const std::vector<std::vector<Literal>> zeros = {{f32({4}, {0, 0, 0, 0})}};
  const std::string y_then_x = "{\\\"y\\\", \\\"x\\\"}";
  EXPECT_EQ(run_well(text(x2y2, y_then_x, axes_xy), zeros).at(0), (Numbers{0, 2, 1, 3}));
  const std::string minor_first = "{\\\"x\\\":(2)2, \\\"x\\\":(1)2}";
  EXPECT_EQ(run_well(text(x4, minor_first, axis_x), zeros).at(0), (Numbers{0, 2, 1, 3}));
  EXPECT_EQ(run_well(text("\"x\"=4], device_ids=[3, 1, 2, 0", cut_x, axis_x), zeros).at(0),
            (Numbers{3, 1, 2, 0}));
}

std::string gspmd(const std::string& sharding, const std::string& full, const std::string& local) {
  return "HloModule m, num_partitions=4\nENTRY e {\n p = " + full + " parameter(0)\n s = " + full +
         " custom-call(p), custom_call_target=\"Sharding\", sharding={" + sharding +
         "}\n l = " + local + " custom-call(s), custom_call_target=\"SPMDFullToShardShape\", " +
         "sharding={manual}\n i = u32[] partition-id()\n c = f32[] convert(i)\n b = " + local +
         " broadcast(c), dimensions={}\n t = " + local + " add(l, b)\n u = " + local +
         " custom-call(t), custom_call_target=\"Sharding\", sharding={manual}\n ROOT g = " + full +
         " custom-call(u), custom_call_target=\"SPMDShardToFullShape\", sharding={" + sharding +
         "}\n}\n";
}

TEST(ManualRegion, ShardingsOfTheOlderForm) {
  const std::vector<std::vector<Literal>> zeros = {{f32({2, 2}, {0, 0, 0, 0})}};
  EXPECT_EQ(run_well(gspmd("devices=[2,2]<=[4]", "f32[2,2]", "f32[1,1]"), zeros).at(0),
            (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(run_well(gspmd("devices=[2,2]<=[2,2]T(1,0)", "f32[2,2]", "f32[1,1]"), zeros).at(0),
            (Numbers{0, 2, 1, 3}));
  EXPECT_EQ(
      run_well(gspmd("devices=[2,1,2]0,2,1,3 last_tile_dim_replicate", "f32[2,2]", "f32[1,2]"),
               zeros)
          .at(0),
      (Numbers{0, 0, 1, 1}));
}

// The devices of a tile stand in the order of the region around, not in that of their numbers: 3
// and 0 hold rows 0 and 1, 2 and 1 the others.
TEST(ManualRegion, OneInsideAnotherOverDevicesInAnyOrder) {
  const std::string text = R"(HloModule m, num_partitions=4
ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] custom-call(p), custom_call_target="Sharding", sharding={devices=[2,2]0,3,1,2 last_tile_dim_replicate}
  b = f32[2] custom-call(a), custom_call_target="SPMDFullToShardShape", sharding={devices=[1,2,2]0,3,1,2 last_tile_dims={manual, replicated}}
  c = f32[2] custom-call(b), custom_call_target="Sharding", sharding={devices=[2,2]0,1,3,2 last_tile_dims={manual}}
  d = f32[1] custom-call(c), custom_call_target="SPMDFullToShardShape", sharding={manual}
  e = f32[1] custom-call(d), custom_call_target="Sharding", sharding={manual}
  f = f32[2] custom-call(e), custom_call_target="SPMDShardToFullShape", sharding={devices=[2,2]0,1,3,2 last_tile_dims={manual}}
  g = f32[2] custom-call(f), custom_call_target="Sharding", sharding={devices=[1,2,2]0,3,1,2 last_tile_dims={manual, replicated}}
  ROOT h = f32[4] custom-call(g), custom_call_target="SPMDShardToFullShape", sharding={devices=[2,2]0,3,1,2 last_tile_dim_replicate}
})";
  EXPECT_EQ(run_well(text, {{f32({4}, {5, 6, 7, 8})}}).at(0), (Numbers{5, 6, 7, 8}));
}

// Four tiles of which two have elements, over devices in another order than inside: which of them
// are manual the region says.
TEST(ManualRegion, MoreTilesThanElements) {
  const std::string text =
      "HloModule m, num_partitions=4\nENTRY e {\n p = f32[2] parameter(0)\n"
      " a = f32[2] custom-call(p), custom_call_target=\"Sharding\", "
      "sharding={devices=[2,2]2,0,3,1 last_tile_dim_replicate}\n"
      " l = f32[1] custom-call(a), custom_call_target=\"SPMDFullToShardShape\", "
      "sharding={devices=[1,2,2]2,0,3,1 last_tile_dims={manual, replicated}}\n"
      " s = f32[1] custom-call(l), custom_call_target=\"Sharding\", "
      "sharding={devices=[2,2]2,3,0,1 last_tile_dims={manual}}\n"
      " ROOT g = f32[2] custom-call(s), custom_call_target=\"SPMDShardToFullShape\", "
      "sharding={devices=[4]2,0,3,1}\n}\n";
  EXPECT_EQ(run_well(text, {{f32({2}, {5, 7})}}).at(0), (Numbers{5, 7}));
}

// Ten rows on four devices are three each; the last has one and two of padding.
TEST(ManualRegion, TilesThatDoNotDivide) {
  std::vector<float> ramp(10);
  for (int i = 0; i < 10; ++i) ramp[i] = static_cast<float>(10 * i);
  const auto rows = run_well(gspmd("devices=[4]<=[4]", "f32[10]", "f32[3]"), {{f32({10}, ramp)}});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0], (Numbers{0, 10, 20, 31, 41, 51, 62, 72, 82, 93}));
}

TEST(ManualRegion, WhatDoesNotFitIsAnError) {
  const std::vector<std::vector<Literal>> zeros = {{f32({2, 2}, {0, 0, 0, 0})}};
  for (const std::string& text : {gspmd("devices=[4,1]<=[4]", "f32[2,2]", "f32[2,1]"),
                                  gspmd("manual", "f32[2,2]", "f32[1,2]"),
                                  gspmd("devices=[2,1]<=[2]", "f32[2,2]", "f32[1,2]"),
                                  gspmd("devices=[2,2]0,1,2,7", "f32[2,2]", "f32[1,1]")}) {
    const auto rows = run(text, zeros);
    ASSERT_FALSE(rows.has_value()) << text;
    EXPECT_NE(rows.error().place.instruction, "") << to_string(rows.error());
  }
}

// Random numbers and outfeeds are those of one program.
TEST(ManualRegion, OutsideEverythingHappensOnce) {
  const std::string text = module(
      x4,
      "ENTRY e {\n a = f32[] constant(0)\n o = f32[] constant(1)\n p = f32[4] rng(a, o), "
      "distribution=rng_uniform\n k = token[] after-all()\n f = token[] outfeed(p, k), "
      "outfeed_shape=f32[4]\n l = " +
          into("p", "f32[1]", cut_x, axis_x) + " g = " + out_of("l", "f32[4]", cut_x, axis_x) +
          " ROOT d = f32[4] subtract(g, p)\n}\n");
  std::vector<std::vector<Literal>> fed;
  EvalOptions options;
  options.outfeed = &fed;
  EXPECT_EQ(run_well(text, {{}}, options).at(0), (Numbers{0, 0, 0, 0}));
  ASSERT_EQ(fed.size(), 1u);
  EXPECT_EQ(fed[0].size(), 1u);
}

}  // namespace
}  // namespace hilo::test
