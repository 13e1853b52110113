// Which modules run as one global program and which on as many devices as they name.
#include "devices.h"

namespace hilo::test {
namespace {

int64_t devices_of(const std::string& text, Partitioning partitioning = Partitioning::Detect) {
  auto module = parse(text);
  EXPECT_TRUE(module.has_value()) << to_string(module.error());
  EvalOptions options;
  options.partitioning = partitioning;
  return module ? device_count(*module, options) : -1;
}

const std::string header = "HloModule m, num_partitions=4";
const std::string sharded =
    "ENTRY e { p = f32[8] parameter(0), sharding={devices=[4]<=[4]}\n ROOT n = f32[8] "
    "negate(p)\n}\n";

TEST(DeviceCount, AScheduleMeansPartitioned) {
  EXPECT_EQ(devices_of(header + ", is_scheduled=true\n" + sharded), 4);
}

TEST(DeviceCount, ShardingsAloneMeanOneGlobalProgram) {
  EXPECT_EQ(devices_of(header + "\n" + sharded), 1);
  EXPECT_EQ(devices_of(header + "\n" + sharded, Partitioning::Partitioned), 4);
}

TEST(DeviceCount, OptionsDecide) {
  EXPECT_EQ(devices_of(header + ", is_scheduled=true\n" + sharded, Partitioning::Unpartitioned), 1);
}

TEST(DeviceCount, NamesOfThePartitioner) {
  EXPECT_EQ(devices_of(header + "\nENTRY e_spmd { p = f32[8] parameter(0), "
                                "sharding={devices=[4]<=[4]}\n ROOT n = f32[8] negate(p)\n}\n"),
            4);
}

TEST(DeviceCount, CollectivesWithoutMarksOfShardingMeanPartitioned) {
  const std::string body =
      std::string(add_f32) + "ENTRY e { p = f32[8] parameter(0), sharding={devices=[4]<=[4]}\n";
  const std::string reduce =
      "ROOT r = f32[8] all-reduce(p), channel_id=1, replica_groups={{0,1,2,3}}, "
      "use_global_device_ids=true, to_apply=add\n}\n";
  EXPECT_EQ(devices_of(header + "\n" + body + reduce), 4);
  EXPECT_EQ(devices_of(header + "\n" + body +
                       "s = f32[8] custom-call(p), custom_call_target=\"Sharding\", "
                       "sharding={replicated}\n" +
                       reduce),
            1);
}

TEST(DeviceCount, TheNumberOfInputsDecides) {
  const std::string text = header + "\n" + sharded;
  EXPECT_EQ(run_well(text, ramps(4, {8})).size(), 4u);
  EXPECT_EQ(run_well(text, ramps(1, {8})).size(), 1u);
}

TEST(DeviceCount, ReplicasAreDevicesAnyway) {
  EXPECT_EQ(devices_of("HloModule m, replica_count=3\n" + sharded), 3);
}

TEST(DeviceCount, ManualRegionsOfValuesWithoutAShardingAreRefused) {
  auto rows = run(header +
                      "\nENTRY e { p = f32[8] parameter(0)\n ROOT s = f32[2] custom-call(p), "
                      "custom_call_target=\"SPMDFullToShardShape\", sharding={manual}\n}\n",
                  ramps(1, {8}));
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().kind, ErrorKind::Unsupported);
  EXPECT_NE(rows.error().message.find("no sharding says"), std::string::npos);
}

}  // namespace
}  // namespace hilo::test
