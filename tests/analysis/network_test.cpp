// How long collectives take over links: formulas by hand, in bytes over the rate of one link.
#include <gtest/gtest.h>

#include "analysis/analysis.h"
#include "text/text.h"

namespace hilo {
namespace {

constexpr double whole = 4096;  // bytes of the gathered array, or of what one device exchanges

Machine on(std::string_view name, TorusShape torus) {
  Machine out = *find_machine(name);
  out.torus = torus;
  return out;
}

LinkUse use_on(const Machine& machine, int64_t devices, const std::string& instruction) {
  const auto module = parse(fmt::format(
      "HloModule m, num_partitions={}\n"
      "add {{ a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }}\n"
      "ENTRY e {{\n  w = f32[1024] parameter(0)\n  x = f32[{}] parameter(1)\n  ROOT r = {}\n}}\n",
      devices, 1024 / devices, instruction));
  EXPECT_TRUE(module) << instruction << " " << to_string(module.error());
  const std::vector<double> runs(module->instructions.size(), 1);
  const Network network(*module, machine, runs);
  return network.use_of(*module, (*module)[module->entry].root);
}

std::string gather(int64_t size, const std::string& groups) {
  return fmt::format(
      "f32[{}] all-gather(x), channel_id=1, replica_groups={{{}}}, dimensions={{0}}, "
      "use_global_device_ids=true",
      size, groups);
}

// Seconds of the bytes, in those that a link takes for the whole array.
double share(const LinkUse& use, const Machine& machine, double bytes = whole) {
  return use.transfer * machine.links.bytes_per_second / bytes;
}

TEST(Network, GathersAlongALineAndRoundARing) {
  const Machine line = on("v5e", {4, 1, 1}), ring = on("v5e", {16, 1, 1});
  const LinkUse of_line = use_on(line, 4, gather(1024, "{0,1,2,3}"));
  EXPECT_DOUBLE_EQ(share(of_line, line), 3.0 / 4);
  EXPECT_DOUBLE_EQ(of_line.latency, line.links.start_seconds + 3 * line.links.step_seconds);
  EXPECT_EQ(of_line.axes, 1U);
  const LinkUse of_ring = use_on(ring, 16, gather(1024, "{0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15}"));
  EXPECT_DOUBLE_EQ(share(of_ring, ring), 15.0 / 16 / 2);
  EXPECT_DOUBLE_EQ(of_ring.latency, ring.links.start_seconds + 8 * ring.links.step_seconds);
}

TEST(Network, UsesBothAxesAtOnce) {
  const Machine square = on("v5e", {2, 2, 1});
  const LinkUse use = use_on(square, 4, gather(1024, "{0,1,2,3}"));
  EXPECT_DOUBLE_EQ(share(use, square), 3.0 / 4 / 2);
  EXPECT_EQ(use.axes, 3U);
  // Halves go along x then y, and along y then x: the longer of each phase counts.
  const Machine oblong = on("v5e", {4, 2, 1});
  EXPECT_DOUBLE_EQ(share(use_on(oblong, 8, gather(1024, "{0,1,2,3,4,5,6,7}")), oblong),
                   3.0 / 8 / 2 + 3.0 / 4 / 2);
}

TEST(Network, GroupsThatLieBetweenEachOtherShareLinks) {
  const Machine line = on("v5e", {4, 1, 1});
  EXPECT_DOUBLE_EQ(share(use_on(line, 4, gather(512, "{0,2},{1,3}")), line, whole / 2), 2.0 / 2);
  EXPECT_DOUBLE_EQ(share(use_on(line, 4, gather(512, "{0,1},{2,3}")), line, whole / 2), 1.0 / 2);
  // No box: a ring through members that lie apart.
  EXPECT_GT(share(use_on(line, 4, gather(512, "{0,3},{1,2}")), line, whole / 2), 1.0 / 2);
}

TEST(Network, OtherKinds) {
  const Machine line = on("v5e", {4, 1, 1});
  const std::string rest = ", channel_id=1, replica_groups={{0,1,2,3}}, ";
  EXPECT_DOUBLE_EQ(
      share(use_on(line, 4,
                   "f32[1024] all-reduce(w)" + rest + "use_global_device_ids=true, to_apply=add"),
            line),
      2 * 3.0 / 4);
  EXPECT_DOUBLE_EQ(share(use_on(line, 4,
                                "f32[256] reduce-scatter(w)" + rest +
                                    "dimensions={0}, use_global_device_ids=true, to_apply=add"),
                         line),
                   3.0 / 4);
  // Half of the devices have two quarters of theirs for the other half, over the middle link.
  EXPECT_DOUBLE_EQ(
      share(use_on(line, 4, "f32[1024] all-to-all(w)" + rest + "dimensions={0}"), line), 1.0);
}

TEST(Network, PermutesTakeTheShortestWay) {
  const Machine line = on("v5e", {4, 1, 1}), ring = on("v5e", {16, 1, 1});
  const std::string start = "f32[1024] collective-permute(w), channel_id=1, source_target_pairs=";
  const LinkUse round = use_on(line, 4, start + "{{0,1},{1,2},{2,3},{3,0}}");
  EXPECT_DOUBLE_EQ(share(round, line), 1);
  EXPECT_DOUBLE_EQ(round.latency, line.links.start_seconds + 3 * line.links.step_seconds);
  // Both pairs go over the link between 1 and 2.
  EXPECT_DOUBLE_EQ(share(use_on(line, 4, start + "{{0,2},{1,3}}"), line), 2);
  const LinkUse closing = use_on(ring, 16, start + "{{15,0}}");
  EXPECT_DOUBLE_EQ(closing.latency, ring.links.start_seconds + ring.links.step_seconds);
}

// Whichever way the torus is written, the mesh lies on it so that collectives take the least:
// groups of four neighbours in a square, every second device in a row.
TEST(Network, LaysTheMeshAsItFits) {
  for (const TorusShape torus : {TorusShape{4, 2, 1}, TorusShape{2, 4, 1}}) {
    const Machine machine = on("v5e", torus);
    const LinkUse square = use_on(machine, 8, gather(512, "{0,1,2,3},{4,5,6,7}"));
    EXPECT_DOUBLE_EQ(share(square, machine, whole / 2), 3.0 / 8);
    EXPECT_EQ(square.axes, 3U);
    const LinkUse row = use_on(machine, 8, gather(512, "{0,2,4,6},{1,3,5,7}"));
    EXPECT_DOUBLE_EQ(share(row, machine, whole / 2), 3.0 / 4);
    EXPECT_EQ(row.axes, 1U);
  }
}

TEST(Network, ANodeHasOneSwitch) {
  const Machine node = *find_machine("h100_sxm");
  const LinkUse use = use_on(node, 8, gather(1024, "{0,1,2,3,4,5,6,7}"));
  EXPECT_DOUBLE_EQ(share(use, node), 7.0 / 8);
  EXPECT_DOUBLE_EQ(use.latency, node.links.start_seconds + 7 * node.links.step_seconds);
}

TEST(Network, NothingIsKnownOfAProcessor) {
  EXPECT_EQ(use_on(*find_machine("cpu"), 4, gather(1024, "{0,1,2,3}")).seconds(), 0);
}

// Published: an all-gather of 34 MB over 4 chips of v5e without wraparound took 680 us, where the
// formula says 560 ("How to Scale Your Model", part 3).
TEST(Network, IsNearWhatWasMeasured) {
  const Machine line = on("v5e", {4, 1, 1});
  const LinkUse use = use_on(line, 4, gather(1024, "{0,1,2,3}"));
  const double seconds = use.latency + use.transfer * 34e6 / whole;
  EXPECT_NEAR(seconds, 680e-6, 0.25 * 680e-6);
  EXPECT_LT(seconds, 680e-6);
}

}  // namespace
}  // namespace hilo
