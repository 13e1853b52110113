// Manual regions in which some axes of the mesh are manual and others are not.
#include "partition_judge.h"

namespace hilo::test {
namespace {

constexpr std::string_view add =
    "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n";

std::string fault(int devices, std::string_view entry,
                  std::string_view passes = "spmd-partitioner") {
  const Module module = parsed(
      fmt::format("HloModule m, num_partitions={}\n{}ENTRY e {{{}}}\n", devices, add, entry));
  for (const Error& error : verify(module)) return to_string(error);
  return fault_of(module, 1, passes);
}

// Two groups of three devices: what one of them lacks the other has not.
TEST(PartitionRegion, ChunksStayWithinTheirGroup) {
  EXPECT_EQ(fault(6, R"(
  p = f32[8,5] parameter(0), sharding={devices=[2,1,3]<=[6] last_tile_dim_replicate}
  a = f32[8,5] custom-call(p), custom_call_target="Sharding", sharding={devices=[2,1,3]<=[6] last_tile_dim_replicate}
  b = f32[4,5] custom-call(a), custom_call_target="SPMDFullToShardShape", sharding={devices=[1,1,2,3]<=[6] last_tile_dims={manual, replicated}}
  c = f32[4,5] negate(b), sharding={devices=[3,1,2]<=[2,3]T(1,0) last_tile_dims={manual}}
  d = f32[4,5] copy(c), sharding={devices=[1,3,2]<=[2,3]T(1,0) last_tile_dims={manual}}
  o = f32[4,5] opt-barrier(d), sharding={devices=[1,3,2]<=[2,3]T(1,0) last_tile_dims={manual}}
  s = f32[4,5] custom-call(o), custom_call_target="Sharding", sharding={devices=[1,1,2,3]<=[6] last_tile_dims={manual, replicated}}
  ROOT r = f32[8,5] custom-call(s), custom_call_target="SPMDShardToFullShape", sharding={devices=[2,1,3]<=[6] last_tile_dim_replicate}
)"),
            "");
}

// Six rows on two groups of two devices: within a group a tile is two rows of three, while four
// tiles of the whole are two rows each.
TEST(PartitionRegion, TilesThatDoNotDivideWhatManualAxesLeave) {
  const std::string_view entry = R"(
  p = f32[6] parameter(0), sharding={devices=[4]<=[4]}
  a = f32[6] custom-call(p), custom_call_target="Sharding", sharding={devices=[4]<=[4]}
  b = f32[3] custom-call(a), custom_call_target="SPMDFullToShardShape", sharding={devices=[2,2]<=[2,2]T(1,0) last_tile_dims={manual}}
  c = f32[3] negate(b), sharding={devices=[2,2]<=[2,2]T(1,0) last_tile_dims={manual}}
  s = f32[3] custom-call(c), custom_call_target="Sharding", sharding={devices=[2,2]<=[2,2]T(1,0) last_tile_dims={manual}}
  ROOT r = f32[6] custom-call(s), custom_call_target="SPMDShardToFullShape", sharding={devices=[4]<=[4]}
)";
  EXPECT_EQ(fault(4, entry), "");
  EXPECT_EQ(fault(4, entry, "sharding-propagation, spmd-partitioner"), "");
}

// Groups over an axis that is not manual: devices there have the whole array.
TEST(PartitionRegion, GroupsAlongAnAxisThatIsNotManual) {
  EXPECT_EQ(fault(4, R"(
  p = f32[8] parameter(0), sharding={devices=[2,2]<=[4] last_tile_dim_replicate}
  a = f32[8] custom-call(p), custom_call_target="Sharding", sharding={devices=[2,2]<=[4] last_tile_dim_replicate}
  b = f32[4] custom-call(a), custom_call_target="SPMDFullToShardShape", sharding={devices=[2,2]<=[2,2]T(1,0) last_tile_dims={manual}}
  c = f32[4] all-reduce(b), to_apply=add, channel_id=1, replica_groups={{0,1},{2,3}}, use_global_device_ids=true, sharding={devices=[2,2]<=[2,2]T(1,0) last_tile_dims={manual}}
  s = f32[4] custom-call(c), custom_call_target="Sharding", sharding={devices=[2,2]<=[2,2]T(1,0) last_tile_dims={manual}}
  ROOT r = f32[8] custom-call(s), custom_call_target="SPMDShardToFullShape", sharding={devices=[4]<=[4]}
)"),
            "");
}

// One local array is cut outside of a region and enters the next one.
TEST(PartitionRegion, WhatALaterRegionGetsOfAnEarlierOne) {
  EXPECT_EQ(fault(4, R"(
  p = f32[8,2] parameter(0)
  a = f32[8,2] custom-call(p), custom_call_target="Sharding", sharding={replicated}
  b = f32[8,2] custom-call(a), custom_call_target="SPMDFullToShardShape", sharding={devices=[1,1,2,2]<=[4] last_tile_dims={manual, replicated}}
  n = f32[8,2] negate(b), sharding={devices=[1,1,2,2]<=[4] last_tile_dims={manual, replicated}}
  c = f32[8,2] custom-call(n), custom_call_target="Sharding", sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dims={manual}}
  d = f32[8,2] custom-call(c), custom_call_target="SPMDShardToFullShape", sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}
  e = f32[8,2] custom-call(d), custom_call_target="Sharding", sharding={devices=[2,2]<=[4]}
  f = f32[4,2] custom-call(e), custom_call_target="SPMDFullToShardShape", sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dims={manual}}
  g = f32[4,2] copy(f), sharding={devices=[1,1,2,2]<=[4] last_tile_dims={manual, replicated}}
  s = f32[4,2] custom-call(g), custom_call_target="Sharding", sharding={devices=[1,1,2,2]<=[4] last_tile_dims={manual, replicated}}
  ROOT r = f32[8,2] custom-call(s), custom_call_target="SPMDShardToFullShape", sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
)"),
            "");
}

// Within the region one number everywhere, but each group of devices has another.
TEST(PartitionRegion, ANumberThatLeaves) {
  const std::string_view entry = R"(
  p = f32[8] parameter(0), sharding={devices=[4,2]<=[8] last_tile_dim_replicate}
  a = f32[8] custom-call(p), custom_call_target="Sharding", sharding={devices=[4,2]<=[8] last_tile_dim_replicate}
  b = f32[2] custom-call(a), custom_call_target="SPMDFullToShardShape", sharding={devices=[1,4,2]<=[8] last_tile_dims={manual, replicated}}
  z = f32[] constant(0)
  s = f32[] reduce(b, z), dimensions={0}, to_apply=add, sharding={devices=[4,2]<=[8] last_tile_dims={manual, replicated}}
  c = f32[1] broadcast(s), dimensions={}, sharding={devices=[1,4,2]<=[8] last_tile_dims={manual, replicated}}
  d = f32[4] custom-call(c), custom_call_target="SPMDShardToFullShape", sharding={devices=[4,2]<=[8] last_tile_dim_replicate}
  ROOT r = f32[4] copy(d), sharding={devices=[8]<=[8]}
)";
  EXPECT_EQ(fault(8, entry), "");
  EXPECT_EQ(fault(8, entry, "sharding-propagation, spmd-partitioner"), "");
}

// The mesh of a sharding lists its devices in another way than the module's.
TEST(PartitionRegion, OneMeshInTwoSpellings) {
  const Module module = parsed(
      R"(HloModule m, num_partitions=4, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["a"=2, "b"=2], device_ids=[0, 2, 1, 3]>}}
ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] custom-call(p), custom_call_target="Sharding", sharding={replicated}
  b = f32[4] custom-call(a), custom_call_target="SPMDFullToShardShape", sharding={mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)), [{}], manual={'b'}}
  n = f32[4] negate(b), sharding={mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)), [{'a'}], manual={'b'}}
  s = f32[4] custom-call(n), custom_call_target="Sharding", sharding={mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)), [{'a'}], manual={'b'}}
  ROOT r = f32[8] custom-call(s), custom_call_target="SPMDShardToFullShape", sharding={devices=[4]<=[4]}
})");
  EXPECT_EQ(fault_of(module, 1, "spmd-partitioner"), "");
}

// A dimension of no elements holds no axis, and manual ones stand in front of it all the same.
TEST(PartitionRegion, ManualAxesOfADimensionWithoutElements) {
  EXPECT_EQ(fault(6, R"(
  p = f32[0,4] parameter(0), sharding={devices=[3,1,2]<=[6] last_tile_dim_replicate}
  a = f32[0,4] custom-call(p), custom_call_target="Sharding", sharding={devices=[3,1,2]<=[6] last_tile_dim_replicate}
  b = f32[0,4] custom-call(a), custom_call_target="SPMDFullToShardShape", sharding={devices=[1,1,3,2]<=[6] last_tile_dims={manual, replicated}}
  n = f32[0,4] negate(b)
  s = f32[0,4] custom-call(n), custom_call_target="Sharding", sharding={devices=[1,1,3,2]<=[6] last_tile_dims={manual, replicated}}, backend_config="unspecified_dims=[0,1]"
  c = f32[0,4] custom-call(s), custom_call_target="SPMDShardToFullShape", sharding={devices=[3,1,2]<=[6] last_tile_dim_replicate}, backend_config="unspecified_dims=[0,1]"
  q = f32[0,2,2] reshape(c)
  ROOT r = f32[0,2,2] negate(q)
)",
                  "sharding-propagation, spmd-partitioner"),
            "");
}

// The number of a partition has a meaning in regions alone; nobody asks for this one.
TEST(PartitionRegion, ANumberThatNobodyReads) {
  EXPECT_EQ(fault(2, R"(
  p = f32[4] parameter(0), sharding={devices=[2]<=[2]}
  id = u32[] partition-id()
  n = f32[] convert(id)
  ROOT r = f32[4] negate(p), sharding={devices=[2]<=[2]}
)"),
            "");
}

}  // namespace
}  // namespace hilo::test
