// Collectives that can never complete, and failures of one device.
#include "devices.h"

namespace hilo::test {
namespace {

// Device 0 alone goes into `yes`.
std::string only_device_zero(const std::string& yes, const std::string& rest) {
  return partitioned(
      3, std::string(add_f32) + "yes { x = f32[1] parameter(0)\n" + yes +
             "}\nno { ROOT x = f32[1] parameter(0)\n}\nENTRY e { p = f32[1] parameter(0)\n d = "
             "u32[] partition-id()\n z = u32[] constant(0)\n c = pred[] compare(d, z), "
             "direction=EQ\n b = f32[1] conditional(c, p, p), true_computation=yes, "
             "false_computation=no\n" +
             rest + "}\n");
}

TEST(Deadlock, NamesWhoIsMissingAndWhereEachDeviceStands) {
  auto rows = run(only_device_zero("ROOT lonely = f32[1] all-reduce(x), channel_id=1, "
                                   "replica_groups={{0,1,2}}, use_global_device_ids=true, "
                                   "to_apply=add\n",
                                   "ROOT n = f32[1] negate(b)\n"),
                  ramps(3, {1}));
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().kind, ErrorKind::Deadlock);
  const std::string& message = rows.error().message;
  EXPECT_NE(message.find("'lonely' can never complete: devices 1, 2 will not come"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("device 0 waits in all-reduce 'lonely' (execution 1)"), std::string::npos);
  EXPECT_NE(message.find("device 2 has finished"), std::string::npos);
  EXPECT_EQ(rows.error().place.instruction, "lonely");
}

TEST(Deadlock, DevicesThatWaitForEachOther) {
  auto rows = run(
      only_device_zero("ROOT first = f32[1] all-reduce(x), channel_id=1, replica_groups={{0,1,2}}, "
                       "use_global_device_ids=true, to_apply=add\n",
                       "ROOT second = f32[1] all-reduce(b), channel_id=1, "
                       "replica_groups={{0,1,2}}, use_global_device_ids=true, to_apply=add\n"),
      ramps(3, {1}));
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().kind, ErrorKind::Deadlock);
  EXPECT_NE(rows.error().message.find("device 1 waits in all-reduce 'second'"), std::string::npos)
      << rows.error().message;
}

TEST(Deadlock, APermuteWhoseSourceNeverSends) {
  auto rows = run(only_device_zero("ROOT take = f32[1] collective-permute(x), channel_id=1, "
                                   "source_target_pairs={{1,0}}\n",
                                   "ROOT n = f32[1] negate(b)\n"),
                  ramps(3, {1}));
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().kind, ErrorKind::Deadlock);
  EXPECT_NE(rows.error().message.find("device 1 will not come"), std::string::npos);
}

TEST(Failure, OfOneDeviceEndsAllWithItsError) {
  auto rows = run(only_device_zero("ROOT bad = f32[1] custom-call(x), "
                                   "custom_call_target=\"nobody-knows\"\n",
                                   "ROOT r = f32[1] all-reduce(b), channel_id=1, "
                                   "replica_groups={{0,1,2}}, use_global_device_ids=true, "
                                   "to_apply=add\n"),
                  ramps(3, {1}));
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(rows.error().place.instruction, "bad");
}

TEST(Failure, AnInterruptEndsDevicesThatWait) {
  std::atomic<bool> interrupt = true;
  EvalOptions options;
  options.interrupt = &interrupt;
  auto rows = run(
      partitioned(2, std::string(add_f32) + "ENTRY e { p = f32[1] parameter(0)\n ROOT r = f32[1] "
                                            "all-reduce(p), channel_id=1, replica_groups={{0,1}}, "
                                            "use_global_device_ids=true, to_apply=add\n}\n"),
      ramps(2, {1}), options);
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().kind, ErrorKind::Interrupted);
}

}  // namespace
}  // namespace hilo::test
