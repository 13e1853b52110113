#include "expect.h"

namespace hilo {
namespace {

std::string module_of(const char* instruction, const char* counts) {
  return fmt::format(R"(HloModule m{}
add {{ a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }}
ENTRY main {{ p = f32[8] parameter(0)
  ROOT x = {} }})",
                     counts, instruction);
}

void expect(const char* instruction, const char* message,
            const char* counts = ", num_partitions=4") {
  const std::string module = module_of(instruction, counts);
  if (*message == 0) EXPECT_EQ(mistakes_of(module.c_str()), "") << module;
  else expect_mistake({module.c_str(), message, "x"});
}

TEST(VerifyCollective, Groups) {
  const char* ok =
      "f32[8] all-reduce(p), replica_groups={{0,1,2,3}}, channel_id=1, "
      "use_global_device_ids=true, to_apply=add";
  expect(ok, "");
  expect(ok, "", "");
  expect(ok, "replica_groups: expected all 8 devices, found 4", ", num_partitions=8");
  expect(ok, "replica_groups: device 2 is not in [0, 2)", ", replica_count=2");
  expect(
      "f32[8] all-reduce(p), replica_groups={{0,1},{1,2}}, channel_id=1, "
      "use_global_device_ids=true, to_apply=add",
      "replica_groups: device 1 stands twice");
  expect(
      "f32[8] all-reduce(p), replica_groups={{0,1,2},{3}}, channel_id=1, "
      "use_global_device_ids=true, to_apply=add",
      "");
  expect(
      "f32[24] all-gather(p), replica_groups={{0,1,2},{3}}, channel_id=1, "
      "use_global_device_ids=true, dimensions={0}",
      "replica_groups: groups differ in size: 3 and 1");
  expect(
      "f32[8] all-reduce(p), replica_groups={{0,1,2,3}}, use_global_device_ids=true, "
      "to_apply=add",
      "use_global_device_ids needs a channel_id", ", replica_count=4");
  expect("f32[8] all-reduce(p), replica_groups={}, channel_id=0, to_apply=add",
         "expected a positive channel_id, found 0");
  expect(
      "f32[8] all-reduce(p), replica_groups=[2,4]<=[8], channel_id=1, "
      "use_global_device_ids=true, to_apply=add",
      "replica_groups: {8} is not a list of at most 4 devices");
  expect(
      "f32[8] all-reduce(p), replica_groups=mesh['x'=2,'y'=2] {'x'}, channel_id=1, "
      "use_global_device_ids=true, to_apply=add",
      "");
  expect(
      "f32[8] all-reduce(p), replica_groups=mesh['x'=2,'y'=4] {'x'}, channel_id=1, "
      "use_global_device_ids=true, to_apply=add",
      "replica_groups: the mesh {2,4} has more than 4 devices");
  expect(
      "f32[8] all-reduce(p), replica_groups=mesh['x'=2,'y'=2] {'z'}, channel_id=1, "
      "use_global_device_ids=true, to_apply=add",
      "replica_groups: the mesh has no axis 'z'");
  expect(
      "f32[8] all-reduce(p), replica_groups=mesh['x'=2,'x'=2] {'x'}, channel_id=1, "
      "use_global_device_ids=true, to_apply=add",
      "replica_groups: the mesh has two axes 'x'");
}

TEST(VerifyCollective, Sizes) {
  expect(
      "f32[32] all-gather(p), replica_groups={{0,1,2,3}}, channel_id=1, dimensions={0}, "
      "use_global_device_ids=true",
      "");
  expect(
      "f32[16] all-gather(p), replica_groups={{0,1,2,3}}, channel_id=1, dimensions={0}, "
      "use_global_device_ids=true",
      "expected dimension 0 of f32[16] to be 4 times that of f32[8]");
  expect(
      "f32[17] all-gather(p), replica_groups={{0,1,2,3}}, channel_id=1, dimensions={0}, "
      "use_global_device_ids=true",
      "dimension 0 of f32[17] is not a multiple of that of f32[8]");
  expect(
      "f32[32] all-gather(p), replica_groups={{0,1,2,3}}, channel_id=1, dimensions={1}, "
      "use_global_device_ids=true",
      "dimension 1 is not in [0, 1)");
  expect(
      "f32[4] reduce-scatter(p), replica_groups={{0,1,2,3}}, channel_id=1, dimensions={0}, "
      "use_global_device_ids=true, to_apply=add",
      "expected dimension 0 of f32[8] to be 4 times that of f32[4]");
  expect("f32[8] all-to-all(p), replica_groups={{0,1,2}}, dimensions={0}",
         "dimension 0 of f32[8] does not divide into 3 pieces", ", replica_count=3");
  expect("(f32[8], f32[8]) all-to-all(p, p), replica_groups={{0,1,2}}",
         "expected 3 operands, one for each device of a group, found 2", ", replica_count=3");
  expect("f32[16] all-reduce(p), replica_groups={}, to_apply=add",
         "expected a result of f32[8], found f32[16]");
}

TEST(VerifyCollective, PairsAndBroadcasts) {
  expect("f32[8] collective-permute(p), source_target_pairs={{0,1},{1,2}}, channel_id=1", "");
  expect("f32[8] collective-permute(p), source_target_pairs={{0,1},{0,2}}, channel_id=1",
         "source_target_pairs: source 0 stands twice");
  expect("f32[8] collective-permute(p), source_target_pairs={{0,1},{2,1}}, channel_id=1",
         "source_target_pairs: target 1 stands twice");
  expect("f32[8] collective-permute(p), source_target_pairs={{0,4}}, channel_id=1",
         "source_target_pairs: target 4 is not in [0, 4)");
  expect("f32[8] collective-permute(p), source_target_pairs={{-1,2}}, channel_id=1",
         "source_target_pairs: source -1 is not in [0, 4)");
  expect("f32[8] collective-broadcast(p), replica_groups={{0,1},{1,2}}, channel_id=1",
         "replica_groups: device 1 stands twice");
}

TEST(VerifySharding, Mistakes) {
  expect("f32[8] negate(p), sharding={devices=[4]0,1,2,3}", "");
  expect("f32[8] negate(p), sharding={devices=[4,1]0,1,2,3}",
         "sharding: expected 1 tile dimensions for f32[8], found {4,1}");
  std::string ones = "1", shown = "{1";
  for (int i = 0; i < 1000; ++i) ones += ",1";
  for (int i = 0; i < 99; ++i) shown += ",1";
  const std::string long_one = "f32[8] negate(p), sharding={devices=[" + ones + "]0}";
  const std::string cut =
      "sharding: expected 1 tile dimensions for f32[8], found " + shown + ",1,...}";
  expect(long_one.c_str(), cut.c_str());
  expect("f32[8] negate(p), sharding={devices=[4,1]<=[4] last_tile_dim_replicate}", "");
  expect("f32[8] negate(p), sharding={devices=[4]0,1,1,3}", "sharding: device 1 stands twice");
  expect("(f32[8], f32[8]) tuple(p, p), sharding={{replicated}}",
         "sharding: expected 2 shardings for (f32[8], f32[8]), found 1");
  expect("f32[8] negate(p), sharding={mesh['x'=2,'y'=2], [{'x'}]}", "");
  expect("f32[8] negate(p), sharding={mesh['x'=2,'y'=2], [{'x'},{}]}",
         "sharding: expected 1 dimensions for f32[8], found 2");
  expect("f32[8] negate(p), sharding={mesh['x'=2,'y'=2], [{'z'}]}",
         "sharding: the mesh has no axis 'z'");
  expect("f32[8] negate(p), sharding={mesh['x'=2,'y'=2], [{'x','x'}]}",
         "sharding: the axis 'x' stands twice");
  expect("f32[8] negate(p), sharding={mesh['x'=4], [{'x':(1)3}]}",
         "sharding: the sub-axis (1)3 does not divide axis 'x' of 4");
}

}  // namespace
}  // namespace hilo
