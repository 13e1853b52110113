// Asynchronous forms, transfers and feeds; fused async collectives against plain ones.
#include "devices.h"

namespace hilo::test {
namespace {

using Rows = std::vector<Numbers>;

const std::string negate_wrapped =
    "HloModule m\nwrapped { a = f32[2] parameter(0)\n b = f32[2] parameter(1)\n ROOT s = f32[2] "
    "subtract(a, b)\n}\n";

TEST(Async, StartUpdateDone) {
  EXPECT_EQ(run_well(negate_wrapped +
                         "ENTRY e { p = f32[2] parameter(0)\n q = f32[2] parameter(1)\n s = "
                         "((f32[2], f32[2]), f32[2], s32[]) async-start(p, q), calls=wrapped\n u = "
                         "((f32[2], f32[2]), f32[2], s32[]) async-update(s)\n ROOT d = f32[2] "
                         "async-done(u)\n}\n",
                     {{f32({2}, {1, 2}), f32({2}, {10, 20})}}),
            (Rows{{-9, -18}}));
}

TEST(Async, OperandsBoundByAnUpdate) {
  EXPECT_EQ(run_well(negate_wrapped +
                         "ENTRY e { p = f32[2] parameter(0)\n q = f32[2] parameter(1)\n s = "
                         "((f32[2]), f32[2], s32[]) async-start(p), calls=wrapped\n u = ((f32[2], "
                         "f32[2]), f32[2], s32[]) async-update(s, q)\n ROOT d = f32[2] "
                         "async-done(u)\n}\n",
                     {{f32({2}, {1, 2}), f32({2}, {10, 20})}}),
            (Rows{{-9, -18}}));
}

// As a core beside the main one is told: its program first, later what it works on.
TEST(Async, ResultAndContextsThatAppearWithTheOperands) {
  EXPECT_EQ(run_well(negate_wrapped + R"(ENTRY e { p = f32[2] parameter(0)
  q = f32[2] parameter(1)
  s = ((), (), (s32[8], s32[3])) async-start(), calls=wrapped
  t = ((f32[2]), (), (s32[8], s32[3])) async-update(s, p)
  u = ((f32[2], f32[2]), f32[2], (s32[8])) async-update(t, q)
  v = ((f32[2], f32[2]), f32[2], ()) async-update(u)
  ROOT d = f32[2] async-done(v)
}
)",
                     {{f32({2}, {1, 2}), f32({2}, {10, 20})}}),
            (Rows{{-9, -18}}));
}

TEST(Async, ReduceScatterInAWrappedComputation) {
  const Rows rows = run_well(
      partitioned(2, std::string(add_f32) +
                         "wrapped { a = f32[2] parameter(0)\n ROOT r = f32[1] reduce-scatter(a), "
                         "channel_id=1, replica_groups={{0,1}}, dimensions={0}, "
                         "use_global_device_ids=true, to_apply=add\n}\nENTRY e { p = f32[2] "
                         "parameter(0)\n s = ((f32[2]), f32[1]) async-start(p), calls=wrapped\n "
                         "ROOT d = f32[1] async-done(s)\n}\n"),
      ramps(2, {2}));
  EXPECT_EQ(rows, (Rows{{10}, {12}}));
}

TEST(CopyStart, DoneGivesTheCopy) {
  EXPECT_EQ(run_well("HloModule m\nENTRY e { p = f32[2] parameter(0)\n s = (f32[2]{0:S(1)}, "
                     "f32[2], u32[]{:S(2)}) copy-start(p)\n ROOT d = f32[2]{0:S(1)} "
                     "copy-done(s)\n}\n",
                     ramps(1, {2})),
            (Rows{{0, 1}}));
}

TEST(SendRecv, AlongPairs) {
  const std::string attributes =
      ", channel_id=5, "
      "frontend_attributes={_xla_send_recv_source_target_pairs=\"{{0,1},{1,2}}\"}\n";
  const Rows rows = run_well(
      partitioned(3,
                  "ENTRY e { p = f32[2] parameter(0)\n t = token[] after-all()\n r = (f32[2], "
                  "u32[], token[]) recv(t)" +
                      attributes + " s = (f32[2], u32[], token[]) send(p, t)" + attributes +
                      " sd = token[] send-done(s), channel_id=5\n rd = (f32[2], token[]) "
                      "recv-done(r), channel_id=5\n ROOT v = f32[2] get-tuple-element(rd), "
                      "index=0\n}\n"),
      ramps(3, {2}));
  EXPECT_EQ(rows, (Rows{{0, 0}, {0, 1}, {10, 11}}));
}

TEST(SendRecv, ToItself) {
  const std::string attributes = ", channel_id=5\n";
  const Rows rows = run_well(
      "HloModule m\nENTRY e { p = f32[2] parameter(0)\n t = token[] after-all()\n s = (f32[2], "
      "u32[], token[]) send(p, t)" +
          attributes + " r = (f32[2], u32[], token[]) recv(t)" + attributes +
          " sd = token[] send-done(s), channel_id=5\n rd = (f32[2], token[]) recv-done(r), "
          "channel_id=5\n ROOT v = f32[2] get-tuple-element(rd), index=0\n}\n",
      ramps(1, {2}));
  EXPECT_EQ(rows, (Rows{{0, 1}}));
}

TEST(SendRecv, HostTransfersAreRefused) {
  auto rows =
      run("HloModule m\nENTRY e { t = token[] after-all()\n r = (f32[2], u32[], token[]) "
          "recv(t), channel_id=1, is_host_transfer=true\n rd = (f32[2], token[]) "
          "recv-done(r), channel_id=1, is_host_transfer=true\n ROOT v = f32[2] "
          "get-tuple-element(rd), index=0\n}\n",
          {{}});
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().kind, ErrorKind::Unsupported);
}

const std::string feeds =
    "HloModule m\nENTRY e { t = token[] after-all()\n i = (f32[2], token[]) infeed(t)\n x = f32[2] "
    "get-tuple-element(i), index=0\n u = token[] get-tuple-element(i), index=1\n j = (f32[2], "
    "token[]) infeed(u)\n y = f32[2] get-tuple-element(j), index=0\n o = token[] outfeed(y, u), "
    "outfeed_shape=f32[2]\n ROOT s = f32[2] subtract(y, x)\n}\n";

TEST(Feeds, InOrder) {
  EvalOptions options;
  options.infeed = {{f32({2}, {1, 2}), f32({2}, {10, 30})}};
  std::vector<std::vector<Literal>> out;
  options.outfeed = &out;
  EXPECT_EQ(run_well(feeds, {{}}, options), (Rows{{9, 28}}));
  ASSERT_EQ(out.size(), 1u);
  ASSERT_EQ(out[0].size(), 1u);
  EXPECT_EQ(out[0][0].data<float>()[1], 30);
}

TEST(Feeds, TooFewOrOfAnotherShape) {
  EvalOptions options;
  options.infeed = {{f32({2}, {1, 2})}};
  auto few = run(feeds, {{}}, options);
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().kind, ErrorKind::Input);
  options.infeed = {{f32({3}, {1, 2, 3})}};
  auto other = run(feeds, {{}}, options);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::Input);
}

// The TPU form: the collective stands again in a fusion that starts it, in one that overlaps with
// it, and in the one that ends it.
std::string fused_async(int devices, const std::string& group, int64_t whole) {
  const std::string big = "f32[" + std::to_string(whole) + ",2]";
  const std::string flags = "s32[2]{0:S(4)}, u32[]{:S(2)}, u32[]{:S(2)}";
  const std::string gather = "all-gather(p0), channel_id=4, replica_groups={" + group +
                             "}, dimensions={0}, use_global_device_ids=true, "
                             "frontend_attributes={chain_id=\"0\"}\n";
  const std::string rest =
      "p2 = s32[2]{0:S(4)} parameter(2)\n p3 = u32[]{:S(2)} parameter(3)\n p4 "
      "= u32[]{:S(2)} parameter(4)\n";
  const std::string started = "(f32[3,2], " + big + ", " + flags + ")";
  return partitioned(
      devices,
      "start { p0 = f32[3,2] parameter(0)\n g = " + big + " " + gather + "ROOT c = " + started +
          " custom-call(g), custom_call_target=\"AsyncCollectiveStart\"\n}\n"
          "middle { p0 = f32[3,2] parameter(0)\n p1 = " +
          big + " parameter(1)\n" + rest +
          "p5 = f32[4] parameter(5)\n n = f32[4] negate(p5)\n g = " + big + " " + gather +
          "ROOT t = (f32[4], f32[3,2], " + big + ", " + big + ", " + flags +
          ") tuple(n, p0, p1, g, p2, p3, p4)\n}\n"
          "end { p0 = f32[3,2] parameter(0)\n p1 = " +
          big + " parameter(1)\n" + rest + "g = " + big + " " + gather + "ROOT c = " + big +
          " custom-call(p0, p1, g, p2, p3, p4), custom_call_target=\"AsyncCollectiveDone\"\n}\n"
          "ENTRY e { x = f32[3,2] parameter(0)\n w = f32[4] constant({1, 2, 3, 4})\n s = " +
          started +
          " fusion(x), kind=kCustom, calls=start, "
          "output_to_operand_aliasing={{0}: (0, {})}\n a0 = f32[3,2] get-tuple-element(s), "
          "index=0\n a1 = " +
          big +
          " get-tuple-element(s), index=1\n a2 = s32[2]{0:S(4)} "
          "get-tuple-element(s), index=2\n a3 = u32[]{:S(2)} get-tuple-element(s), index=3\n a4 = "
          "u32[]{:S(2)} get-tuple-element(s), index=4\n m = (f32[4], f32[3,2], " +
          big + ", " + big + ", " + flags +
          ") fusion(a0, a1, a2, a3, a4, w), kind=kOutput, calls=middle, "
          "output_to_operand_aliasing={{1}: (0, {}), {2}: (1, {}), {3}: (1, {}), {4}: (2, {})}\n "
          "b = f32[4] get-tuple-element(m), index=0\n b0 = f32[3,2] get-tuple-element(m), "
          "index=1\n "
          "b1 = " +
          big +
          " get-tuple-element(m), index=3\n b2 = s32[2]{0:S(4)} "
          "get-tuple-element(m), index=4\n b3 = u32[]{:S(2)} get-tuple-element(m), index=5\n b4 = "
          "u32[]{:S(2)} get-tuple-element(m), index=6\n d = " +
          big + " fusion(b0, b1, b2, b3, b4), kind=kCustom, calls=end\n ROOT r = (" + big +
          ", f32[4]) tuple(d, b)\n}\n");
}

std::string plain_gather(int devices, const std::string& group, int64_t whole) {
  const std::string big = "f32[" + std::to_string(whole) + ",2]";
  return partitioned(devices,
                     "ENTRY e { x = f32[3,2] parameter(0)\n w = f32[4] constant({1, 2, 3, "
                     "4})\n n = f32[4] negate(w)\n g = " +
                         big + " all-gather(x), channel_id=4, replica_groups={" + group +
                         "}, dimensions={0}, use_global_device_ids=true\n ROOT r = (" + big +
                         ", f32[4]) tuple(g, n)\n}\n");
}

TEST(FusedAsyncCollective, EqualsAPlainAllGather) {
  struct Case {
    int devices;
    std::string group;
    int64_t whole;
  };
  for (const Case& c : {Case{2, "{0,1}", 6}, Case{4, "{0,1,2,3}", 12}, Case{4, "{0,2},{3,1}", 6}}) {
    const Rows got = run_well(fused_async(c.devices, c.group, c.whole), ramps(c.devices, {3, 2}));
    const Rows want = run_well(plain_gather(c.devices, c.group, c.whole), ramps(c.devices, {3, 2}));
    ASSERT_EQ(got.size(), static_cast<size_t>(c.devices));
    EXPECT_EQ(got, want) << c.group;
  }
  // Each device starts with 10 d: the first row of the gathered array says whose it is.
  const Rows rows = run_well(fused_async(4, "{0,2},{3,1}", 6), ramps(4, {3, 2}));
  EXPECT_EQ(rows[1][0], 30);
  EXPECT_EQ(rows[1][6], 10);
}

}  // namespace
}  // namespace hilo::test
