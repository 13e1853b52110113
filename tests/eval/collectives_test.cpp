// Every collective against what its definition gives for arrays 10 d + i on device d.
#include "devices.h"

namespace hilo::test {
namespace {

using Rows = std::vector<Numbers>;

TEST(AllReduce, EachGroupGetsItsSum) {
  const Rows rows = run_well(
      partitioned(4, std::string(add_f32) +
                         "ENTRY e { p = f32[2] parameter(0)\n ROOT r = f32[2] all-reduce(p), "
                         "channel_id=1, replica_groups={{0,2},{3,1}}, use_global_device_ids=true, "
                         "to_apply=add\n}\n"),
      ramps(4, {2}));
  EXPECT_EQ(rows, (Rows{{20, 22}, {40, 42}, {20, 22}, {40, 42}}));
}

TEST(AllReduce, TakesAnyComputationInTheOrderOfTheGroup) {
  // a - b is not commutative: the group {2,0,1} gives x2 - x0 - x1.
  const Rows rows =
      run_well(partitioned(3,
                           "sub { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] "
                           "subtract(a, b)\n}\nENTRY e { p = f32[1] parameter(0)\n ROOT r = f32[1] "
                           "all-reduce(p), channel_id=1, replica_groups={{2,0,1}}, "
                           "use_global_device_ids=true, to_apply=sub\n}\n"),
               ramps(3, {1}));
  EXPECT_EQ(rows, (Rows{{10}, {10}, {10}}));
}

// 1 + 2^-8 is 1 in bf16; 1 + 3 * 2^-8 lies between 1 + 2^-7 and 1 + 2^-6, which is even.
TEST(AllReduce, SumsOfNarrowFloatsAreRoundedOnce) {
  const auto sums = [](const std::string& op) {
    return run_well(
        partitioned(4,
                    "add { a = bf16[] parameter(0)\n b = bf16[] parameter(1)\n ROOT s = bf16[] "
                    "add(a, b)\n}\nENTRY e { x = f32[4] parameter(0)\n p = bf16[4] convert(x)\n "
                    "r = bf16[" +
                        op +
                        ", channel_id=1, replica_groups={{0,1,2,3}}, "
                        "use_global_device_ids=true, to_apply=add\n ROOT f = f32[" +
                        op.substr(0, 2) + " convert(r)\n}\n"),
        {{f32({4}, {1, 1, 1, 1})},
         {f32({4}, std::vector<float>(4, 0x1p-8F))},
         {f32({4}, std::vector<float>(4, 0x1p-8F))},
         {f32({4}, std::vector<float>(4, 0x1p-8F))}});
  };
  const double sum = 1 + 0x1p-6;
  EXPECT_EQ(sums("4] all-reduce(p)"), Rows(4, {sum, sum, sum, sum}));
  EXPECT_EQ(sums("1] reduce-scatter(p), dimensions={0}"), Rows(4, {sum}));
}

TEST(AllReduce, StartAndDoneWithTwoOperands) {
  const Rows rows = run_well(
      partitioned(2, std::string(add_f32) +
                         "ENTRY e { p = f32[2] parameter(0)\n q = f32[2] negate(p)\n s = (f32[2], "
                         "f32[2]) all-reduce-start(p, q), channel_id=1, replica_groups={{0,1}}, "
                         "use_global_device_ids=true, to_apply=add\n ROOT r = (f32[2], f32[2]) "
                         "all-reduce-done(s)\n}\n"),
      ramps(2, {2}));
  EXPECT_EQ(rows, (Rows{{10, 12, -10, -12}, {10, 12, -10, -12}}));
}

// Two replicas of two partitions: device = 2 replica + partition.
std::string grid(const std::string& body) {
  return "HloModule m, is_scheduled=true, replica_count=2, num_partitions=2\n" +
         std::string(add_f32) + body;
}

TEST(GroupMode, CrossReplica) {
  EXPECT_EQ(run_well(grid("ENTRY e { p = f32[1] parameter(0)\n ROOT r = f32[1] all-reduce(p), "
                          "replica_groups={{0,1}}, to_apply=add\n}\n"),
                     ramps(4, {1})),
            (Rows{{20}, {40}, {20}, {40}}));
}

TEST(GroupMode, CrossReplicaAndPartition) {
  EXPECT_EQ(run_well(grid("ENTRY e { p = f32[1] parameter(0)\n ROOT r = f32[2] all-gather(p), "
                          "channel_id=1, replica_groups={{1},{0}}, dimensions={0}\n}\n"),
                     ramps(4, {1})),
            (Rows{{0, 10}, {0, 10}, {20, 30}, {20, 30}}));
}

TEST(GroupMode, CrossPartition) {
  EXPECT_EQ(run_well(grid("ENTRY e { p = f32[1] parameter(0)\n ROOT r = f32[1] "
                          "collective-permute(p), channel_id=1, source_target_pairs={{0,1}}\n}\n"),
                     ramps(4, {1})),
            (Rows{{0}, {0}, {0}, {20}}));
}

TEST(GroupMode, FlattenedIds) {
  EXPECT_EQ(run_well(grid("ENTRY e { p = f32[1] parameter(0)\n ROOT r = f32[1] all-reduce(p), "
                          "channel_id=1, replica_groups=[2,2]<=[2,2]T(1,0), "
                          "use_global_device_ids=true, to_apply=add\n}\n"),
                     ramps(4, {1})),
            (Rows{{20}, {40}, {20}, {40}}));
}

TEST(GroupMode, NoGroupsMeansAll) {
  EXPECT_EQ(run_well(grid("ENTRY e { p = f32[1] parameter(0)\n ROOT r = f32[1] all-reduce(p), "
                          "channel_id=1, replica_groups={}, to_apply=add\n}\n"),
                     ramps(4, {1})),
            (Rows{{60}, {60}, {60}, {60}}));
}

TEST(DeviceIds, PartitionAndReplica) {
  EXPECT_EQ(run_well(grid("ENTRY e { p = u32[] partition-id()\n r = u32[] replica-id()\n ROOT t = "
                          "(u32[], u32[]) tuple(p, r)\n}\n"),
                     {{}, {}, {}, {}}),
            (Rows{{0, 0}, {1, 0}, {0, 1}, {1, 1}}));
}

TEST(AllGather, AlongTheMinorDimension) {
  const Rows rows = run_well(
      partitioned(2,
                  "ENTRY e { p = f32[2,1] parameter(0)\n s = (f32[2,1], f32[2,2]) "
                  "all-gather-start(p), channel_id=1, replica_groups={{1,0}}, dimensions={1}, "
                  "use_global_device_ids=true\n ROOT r = f32[2,2] all-gather-done(s)\n}\n"),
      ramps(2, {2, 1}));
  EXPECT_EQ(rows, (Rows{{10, 0, 11, 1}, {10, 0, 11, 1}}));
}

TEST(ReduceScatter, EachDeviceKeepsItsPieceOfTheSum) {
  const Rows rows = run_well(
      partitioned(2, std::string(add_f32) +
                         "ENTRY e { p = f32[2,2] parameter(0)\n ROOT r = f32[2,1] "
                         "reduce-scatter(p), channel_id=1, replica_groups={{0,1}}, dimensions={1}, "
                         "use_global_device_ids=true, to_apply=add\n}\n"),
      ramps(2, {2, 2}));
  EXPECT_EQ(rows, (Rows{{10, 14}, {12, 16}}));
}

TEST(AllToAll, TransposesThePieces) {
  EXPECT_EQ(run_well(partitioned(2,
                                 "ENTRY e { p = f32[4] parameter(0)\n ROOT r = f32[4] "
                                 "all-to-all(p), channel_id=1, replica_groups={{0,1}}, "
                                 "dimensions={0}\n}\n"),
                     ramps(2, {4})),
            (Rows{{0, 1, 10, 11}, {2, 3, 12, 13}}));
  EXPECT_EQ(run_well(partitioned(2,
                                 "ENTRY e { p = f32[1] parameter(0)\n q = f32[1] negate(p)\n "
                                 "ROOT r = (f32[1], f32[1]) all-to-all(p, q), channel_id=1, "
                                 "replica_groups={{0,1}}\n}\n"),
                     ramps(2, {1})),
            (Rows{{0, 10}, {-0.0, -10}}));
}

TEST(RaggedAllToAll, RowsGoWhereTheSenderSays) {
  // Device 0 sends 1 row to itself and 2 to device 1; device 1 sends 2 to device 0 and 1 to itself.
  const std::string text = partitioned(
      2,
      "ENTRY e { p = f32[3] parameter(0)\n o = f32[4] parameter(1)\n io = s32[2] parameter(2)\n ss "
      "= s32[2] parameter(3)\n oo = s32[2] parameter(4)\n rs = s32[2] parameter(5)\n ROOT r = "
      "f32[4] ragged-all-to-all(p, o, io, ss, oo, rs), channel_id=1, replica_groups={{0,1}}\n}\n");
  const auto s32 = [](std::vector<int32_t> v) { return Literal::from<int32_t>({2}, v); };
  auto inputs = ramps(2, {3});
  for (auto& device : inputs) device.push_back(f32({4}, {-1, -1, -1, -1}));
  const std::vector<std::vector<std::vector<int32_t>>> rest = {{{0, 1}, {1, 2}, {0, 0}, {1, 2}},
                                                               {{0, 2}, {2, 1}, {1, 2}, {2, 1}}};
  for (int d = 0; d < 2; ++d)
    for (const auto& v : rest[d]) inputs[d].push_back(s32(v));
  EXPECT_EQ(run_well(text, inputs), (Rows{{0, 10, 11, -1}, {1, 2, 12, -1}}));
  inputs[0][3] = s32({1, 3});
  auto outside = run(text, inputs);
  ASSERT_FALSE(outside);
  EXPECT_EQ(outside.error().kind, ErrorKind::Evaluation);
}

TEST(CollectiveBroadcast, TheFirstMemberIsTheRootUnlessGiven) {
  EXPECT_EQ(run_well(partitioned(3,
                                 "ENTRY e { p = f32[1] parameter(0)\n ROOT r = f32[1] "
                                 "collective-broadcast(p), channel_id=1, "
                                 "replica_groups={{1,0}}\n}\n"),
                     ramps(3, {1})),
            (Rows{{10}, {10}, {0}}));
  EXPECT_EQ(run_well(partitioned(2,
                                 "ENTRY e { p = f32[1] parameter(0)\n c = s32[] constant(1)\n "
                                 "ROOT r = f32[1] collective-broadcast(p, c), channel_id=1, "
                                 "replica_groups={{1,0}}, has_dynamic_root=true\n}\n"),
                     ramps(2, {1})),
            (Rows{{0}, {0}}));
  EXPECT_EQ(run_well(partitioned(2,
                                 "ENTRY e { p = f32[1] parameter(0)\n q = f32[1] negate(p)\n "
                                 "c = s32[2] constant({1, 0})\n ROOT r = (f32[1], f32[1]) "
                                 "collective-broadcast(p, q, c), channel_id=1, "
                                 "replica_groups={{0,1}}, has_dynamic_root=true\n}\n"),
                     ramps(2, {1})),
            (Rows{{10, -0.0}, {10, -0.0}}));
}

TEST(AllReduce, GroupsOfSeveralSizes) {
  EXPECT_EQ(run_well(partitioned(3, std::string(add_f32) +
                                        "ENTRY e { p = f32[1] parameter(0)\n ROOT r = f32[1] "
                                        "all-reduce(p), channel_id=1, "
                                        "use_global_device_ids=true, "
                                        "replica_groups={{0,2},{1}}, to_apply=add\n}\n"),
                     ramps(3, {1})),
            (Rows{{20}, {10}, {20}}));
}

TEST(CollectivePermute, WhoIsNobodysTargetGetsZeros) {
  EXPECT_EQ(run_well(partitioned(3,
                                 "ENTRY e { p = f32[2] parameter(0)\n s = (f32[2], f32[2], "
                                 "u32[], u32[]) collective-permute-start(p), channel_id=1, "
                                 "source_target_pairs={{0,1},{1,2}}\n ROOT r = f32[2] "
                                 "collective-permute-done(s)\n}\n"),
                     ramps(3, {2})),
            (Rows{{0, 0}, {0, 1}, {10, 11}}));
}

TEST(CollectivePermute, CombinedOperands) {
  EXPECT_EQ(run_well(partitioned(2,
                                 "ENTRY e { p = f32[1] parameter(0)\n q = f32[1] negate(p)\n "
                                 "ROOT r = (f32[1], f32[1]) collective-permute(p, q), "
                                 "channel_id=1, source_target_pairs={{0,1},{1,0}}\n}\n"),
                     ramps(2, {1})),
            (Rows{{10, -10}, {0, -0.0}}));
}

TEST(CollectivePermute, InPlaceEqualsSlicePermuteUpdate) {
  const std::string in_place =
      "ENTRY e { p = f32[4] parameter(0)\n o = f32[4] parameter(1)\n one = s32[] constant(1)\n two "
      "= s32[] constant(2)\n a = (s32[]) tuple(one)\n b = (s32[]) tuple(two)\n ROOT r = f32[4] "
      "collective-permute(p, o, a, b), channel_id=1, source_target_pairs={{0,1},{1,0}}, "
      "slice_sizes={{2}}\n}\n";
  const std::string plain =
      "ENTRY e { p = f32[4] parameter(0)\n o = f32[4] parameter(1)\n two = s32[] constant(2)\n s = "
      "f32[2] slice(p), slice={[1:3]}\n c = f32[2] collective-permute(s), channel_id=1, "
      "source_target_pairs={{0,1},{1,0}}\n ROOT r = f32[4] dynamic-update-slice(o, c, two)\n}\n";
  auto inputs = ramps(2, {4});
  for (auto& device : inputs) device.push_back(f32({4}, {-1, -2, -3, -4}));
  EXPECT_EQ(run_well(partitioned(2, in_place), inputs), (Rows{{-1, -2, 11, 12}, {-1, -2, 1, 2}}));
  EXPECT_EQ(run_well(partitioned(2, plain), inputs), run_well(partitioned(2, in_place), inputs));
}

TEST(Collectives, OneChannelOnSeveralInstructionsInALoop) {
  // Three rounds of x = all-reduce(x), twice a round, all on channel 1: 4 devices multiply by 4.
  const Rows rows = run_well(
      partitioned(
          4,
          std::string(add_f32) +
              "cond { t = (s32[], f32[1]) parameter(0)\n i = s32[] get-tuple-element(t), index=0\n "
              "n = s32[] constant(3)\n ROOT c = pred[] compare(i, n), direction=LT\n}\n"
              "body { t = (s32[], f32[1]) parameter(0)\n i = s32[] get-tuple-element(t), index=0\n "
              "x = f32[1] get-tuple-element(t), index=1\n one = s32[] constant(1)\n j = s32[] "
              "add(i, one)\n y = f32[1] all-reduce(x), channel_id=1, replica_groups={{0,1},{2,3}}, "
              "use_global_device_ids=true, to_apply=add\n z = f32[1] all-reduce(y), channel_id=1, "
              "replica_groups={{0,2},{1,3}}, use_global_device_ids=true, to_apply=add\n ROOT r = "
              "(s32[], f32[1]) tuple(j, z)\n}\n"
              "ENTRY e { p = f32[1] parameter(0)\n zero = s32[] constant(0)\n t = (s32[], f32[1]) "
              "tuple(zero, p)\n w = (s32[], f32[1]) while(t), condition=cond, body=body\n ROOT r = "
              "f32[1] get-tuple-element(w), index=1\n}\n"),
      ramps(4, {1}));
  EXPECT_EQ(rows, (Rows{{960}, {960}, {960}, {960}}));
}

TEST(Collectives, SameBitsForAnyNumberOfThreads) {
  const std::string text = partitioned(
      4, std::string(add_f32) +
             "ENTRY e { p = f32[100000] parameter(0)\n ROOT r = f32[100000] all-reduce(p), "
             "channel_id=1, replica_groups={{3,1,0,2}}, use_global_device_ids=true, "
             "to_apply=add\n}\n");
  std::vector<std::vector<Literal>> inputs;
  uint32_t state = 1;
  for (int d = 0; d < 4; ++d) {
    std::vector<float> values(100000);
    for (float& x : values) x = static_cast<float>(state = state * 1664525u + 1013904223u) * 1e-5f;
    inputs.push_back({f32({100000}, values)});
  }
  EvalOptions one, three;
  one.threads = 1;
  three.threads = 3;
  const Rows a = run_well(text, inputs, one), b = run_well(text, inputs, three);
  EXPECT_EQ(a, b);
  std::vector<float> sum(100000);
  for (int i = 0; i < 100000; ++i) {
    const auto x = [&](int d) { return inputs[d][0].data<float>()[i]; };
    sum[i] = ((x(3) + x(1)) + x(0)) + x(2);
    ASSERT_EQ(a[0][i], sum[i]);
  }
}

TEST(Collectives, AGroupBeyondTheDevicesIsAnError) {
  EvalOptions options;
  options.is_verified = true;  // verify() would say that device 5 is none
  auto rows = run("HloModule m, is_scheduled=true, num_partitions=2\n" + std::string(add_f32) +
                      "ENTRY e { p = f32[1] parameter(0)\n ROOT r = f32[1] all-reduce(p), "
                      "channel_id=1, replica_groups={{0,5},{1}}, use_global_device_ids=true, "
                      "to_apply=add\n}\n",
                  ramps(2, {1}), options);
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().kind, ErrorKind::Evaluation);
  EXPECT_NE(rows.error().message.find("names 5"), std::string::npos) << rows.error().message;
}

}  // namespace
}  // namespace hilo::test
