// Collectives joined, in two parts, and ordered beside computation.
#include "pass/collective/live_bytes.h"

#include <filesystem>
#include <fstream>

#include "devices.h"

namespace hilo::test {
namespace {

const Machine& v5e() { return *find_machine("v5e"); }

PipelineOptions on_v5e() {
  PipelineOptions options;
  options.pass.machine = &v5e();
  options.verify = true;
  return options;
}

Timeline timeline(const Module& module) { return StepTimes(module, v5e()).along(module.entry); }

const std::string all = "channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true";

TEST(CombineCollectives, SmallOnesOfOneKind) {
  const Rewritten one = rewritten(
      module_text(4,
                  "  x = f32[8] parameter(0)\n  y = f32[4,2] parameter(1)\n"
                  "  z = s32[8] parameter(2)\n  a = f32[8] all-reduce(x), " +
                      all + ", to_apply=add\n  b = f32[4,2] all-reduce(y), " + all +
                      ", to_apply=add\n  c = s32[8] all-reduce(z), " + all +
                      ", to_apply=addi\n  d = f32[8] all-reduce(x), " + all +
                      ", to_apply=largest\n"
                      "  ROOT t = (f32[8], f32[4,2], s32[8], f32[8]) tuple(a, b, c, d)\n"),
      "collective-combiner", 4, on_v5e());
  EXPECT_EQ(count_op(one.after, Op::AllReduce), 3) << print(one.after);
}

TEST(CombineCollectives, OfElementsThatAreNamedLater) {
  const Rewritten one =
      rewritten(module_text(4,
                            "  p = (f32[8], f32[8]) parameter(0)\n  e = (f32[8], f32[8]) "
                            "opt-barrier(p)\n  x = f32[8] get-tuple-element(e), index=0\n"
                            "  a = f32[8] all-reduce(x), " +
                                all +
                                ", to_apply=add\n  n = f32[8] negate(a)\n"
                                "  y = f32[8] get-tuple-element(e), index=1\n"
                                "  b = f32[8] all-reduce(y), " +
                                all + ", to_apply=add\n  ROOT s = f32[8] add(n, b)\n"),
                "collective-combiner", 4, on_v5e());
  EXPECT_EQ(count_op(one.after, Op::AllReduce), 1);
}

TEST(CombineCollectives, NotOneThatNeedsTheOther) {
  const Rewritten one = rewritten(
      module_text(4, "  x = f32[8] parameter(0)\n  a = f32[8] all-reduce(x), " + all +
                         ", to_apply=add\n  n = f32[8] tanh(a)\n  b = f32[8] all-reduce(n), " +
                         all + ", to_apply=add\n  ROOT t = (f32[8], f32[8]) tuple(a, b)\n"),
      "collective-combiner", 4, on_v5e());
  EXPECT_EQ(count_op(one.after, Op::AllReduce), 2);
}

// a needs b of another kind, which needs what would be joined with a.
TEST(CombineCollectives, NotInACircle) {
  const std::string gather = ", dimensions={0}\n";
  const Rewritten one = rewritten(
      module_text(4,
                  "  x = f32[8] parameter(0)\n  y = f32[8] parameter(1)\n"
                  "  a1 = f32[8] all-reduce(x), " +
                      all +
                      ", to_apply=add\n"
                      "  b1 = f32[32] all-gather(a1), " +
                      all + gather + "  b2 = f32[32] all-gather(y), " + all + gather +
                      "  s = f32[8] slice(b2), slice={[0:8]}\n  a2 = f32[8] all-reduce(s), " + all +
                      ", to_apply=add\n  ROOT t = (f32[8], f32[32], f32[8]) tuple(a1, b1, a2)\n"),
      "collective-combiner", 4, on_v5e());
  EXPECT_EQ(count_op(one.after, Op::AllReduce) + count_op(one.after, Op::AllGather), 3);
}

// Devices of a processor are threads, which wait for each other at each collective.
TEST(CombineCollectives, BetweenDevicesOfAProcessor) {
  PipelineOptions options = on_v5e();
  options.pass.machine = &find_cpu("x86-64-v3");
  const auto reductions = [&](int64_t size) {
    std::string lines, names, shapes;
    for (int i = 0; i < 4; ++i) {
      lines += fmt::format(
          "  x{0} = f32[{1}] parameter({0})\n  a{0} = f32[{1}] all-reduce(x{0}), {2}, "
          "to_apply=add\n",
          i, size, all);
      names += fmt::format("{}a{}", i ? ", " : "", i);
      shapes += fmt::format("{}f32[{}]", i ? ", " : "", size);
    }
    lines += fmt::format("  ROOT t = ({}) tuple({})\n", shapes, names);
    const Rewritten one = rewritten(module_text(4, lines), "collective-combiner", 4, options);
    return count_op(one.after, Op::AllReduce);
  };
  EXPECT_EQ(reductions(16), 1);
  EXPECT_EQ(reductions(1 << 20), 4);
}

// Gathered one after the other and made less of, or both there in any case.
TEST(CombineCollectives, NotWhereMoreIsAlive) {
  const auto gathers = [&](std::string_view first, std::string_view last) {
    const Rewritten one = rewritten(
        module_text(4, fmt::format("  x = f32[8] parameter(0)\n  y = f32[8] parameter(1)\n"
                                   "  a = f32[32] all-gather(x), {0}{1}"
                                   "  b = f32[32] all-gather(y), {0}{2}",
                                   "dimensions={0}, " + all + "\n", first, last)),
        "collective-combiner", 4, on_v5e());
    return count_op(one.after, Op::AllGather);
  };
  EXPECT_EQ(gathers("  sa = f32[8] slice(a), slice={[3:11]}\n",
                    "  sb = f32[8] slice(b), slice={[5:13]}\n"
                    "  ROOT t = (f32[8], f32[8]) tuple(sa, sb)\n"),
            2);
  EXPECT_EQ(gathers("", "  ROOT s = f32[32] add(a, b)\n"), 1);
}

TEST(CombineCollectives, NotWithoutAMachine) {
  const Rewritten one =
      rewritten(module_text(4,
                            "  x = f32[8] parameter(0)\n  y = f32[8] parameter(1)\n"
                            "  a = f32[8] all-reduce(x), " +
                                all +
                                ", to_apply=add\n"
                                "  b = f32[8] all-reduce(y), " +
                                all +
                                ", to_apply=add\n"
                                "  ROOT t = (f32[8], f32[8]) tuple(a, b)\n"),
                "collective-combiner", 4);
  EXPECT_EQ(count_op(one.after, Op::AllReduce), 2);
}

TEST(MakeAsynchronous, EveryKind) {
  const Rewritten one = rewritten(
      module_text(4,
                  "  x = f32[8] parameter(0)\n  y = f32[8] parameter(1)\n"
                  "  a = f32[8] all-reduce(x), " +
                      all +
                      ", to_apply=add\n"
                      "  b = (f32[8], f32[8]) all-reduce(x, y), " +
                      all +
                      ", to_apply=add\n"
                      "  g = f32[32] all-gather(x), " +
                      all +
                      ", dimensions={0}\n"
                      "  h = (f32[32], f32[32]) all-gather(x, y), " +
                      all +
                      ", dimensions={0}\n"
                      "  r = f32[2] reduce-scatter(x), " +
                      all +
                      ", dimensions={0}, to_apply=add\n"
                      "  e = f32[8] all-to-all(x), channel_id=1, replica_groups={{0,1,2,3}}, "
                      "dimensions={0}\n  p = f32[8] collective-permute(x), channel_id=1, "
                      "source_target_pairs={{0,1},{1,0}}\n"
                      "  ROOT t = (f32[8], (f32[8], f32[8]), f32[32], (f32[32], f32[32]), f32[2], "
                      "f32[8], f32[8]) tuple(a, b, g, h, r, e, p)\n"),
      "async-collective-creator", 4);
  EXPECT_EQ(count_op(one.after, Op::AllReduceStart), 2);
  EXPECT_EQ(count_op(one.after, Op::AllGatherStart), 2);
  EXPECT_EQ(count_op(one.after, Op::CollectivePermuteStart), 1);
  EXPECT_EQ(count_op(one.after, Op::AsyncStart), 2);
}

// Three products with gathered weights: all gathers but the first hide behind products.
std::string layers(int64_t size) {
  std::string lines = fmt::format("  x0 = f32[{0},{0}] parameter(0)\n", size);
  for (int layer = 0; layer < 3; ++layer)
    lines += fmt::format(
        "  w{0} = f32[{2},{1}] parameter({3})\n  g{0} = f32[{1},{1}] all-gather(w{0}), {4}, "
        "dimensions={{0}}\n  {5}x{3} = f32[{1},{1}] dot(x{0}, g{0}), lhs_contracting_dims={{1}}, "
        "rhs_contracting_dims={{0}}\n",
        layer, size, size / 4, layer + 1, all, layer == 2 ? "ROOT " : "");
  return module_text(4, lines);
}

TEST(ScheduleCollectives, GathersBehindProducts) {
  const Module before = parsed(layers(8192));
  const Module after =
      after_passes(before, "async-collective-creator, latency-hiding-scheduler", on_v5e());
  EXPECT_TRUE(verify(after).empty());
  EXPECT_TRUE(after.header.is_scheduled);
  const Timeline old_time = timeline(before), new_time = timeline(after);
  EXPECT_DOUBLE_EQ(old_time.exposed(), old_time.communication);
  EXPECT_NEAR(new_time.exposed(), new_time.communication / 3, 1e-9) << print(after);
}

TEST(ScheduleCollectives, KeepsValuesAndOrder) {
  const Rewritten one =
      rewritten(layers(16), "async-collective-creator, latency-hiding-scheduler", 4, on_v5e());
  EXPECT_EQ(count_op(one.after, Op::AllGatherDone), 3);
}

TEST(ScheduleCollectives, KeepsTheMemoryOfTheMachine) {
  const Module before = parsed(layers(32768));  // each gathered matrix takes 4 GiB of 16
  const Module after =
      after_passes(before, "async-collective-creator, latency-hiding-scheduler", on_v5e());
  const auto& order = after[after.entry].instructions;
  int64_t arguments = 0;
  for (InstructionId parameter : after[after.entry].parameters)
    arguments += literal_bytes(after.shape(parameter));
  const LiveBytes live(after, order);
  EXPECT_LE(live.peak(order) + arguments,
            std::max(memory_space(v5e(), 0).bytes,
                     arguments + live.peak(operands_first(after, after.entry))));
}

TEST(CollectiveMatmul, RingsKeepValues) {
  const char* dots[] = {
      // rows, the summed dimension, columns of what is gathered
      "  x = s32[4,32] parameter(0)\n  y = s32[32,8] parameter(1)\n"
      "  g = s32[16,32] all-gather(x), {}, dimensions={{0}}\n"
      "  ROOT d = s32[16,8] dot(g, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n",
      "  x = s32[16,8] parameter(0)\n  y = s32[32,8] parameter(1)\n"
      "  g = s32[16,32] all-gather(x), {}, dimensions={{1}}\n"
      "  ROOT d = s32[16,8] dot(g, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n",
      "  x = s32[32,4] parameter(0)\n  y = s32[32,8] parameter(1)\n"
      "  g = s32[32,16] all-gather(x), {}, dimensions={{1}}\n"
      "  ROOT d = s32[8,16] dot(y, g), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}\n",
      "  x = s32[16,32] parameter(0)\n  y = s32[32,8] parameter(1)\n"
      "  d = s32[16,8] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n"
      "  ROOT r = s32[4,8] reduce-scatter(d), {}, dimensions={{0}}, to_apply=addi\n",
      "  x = s32[3,16,32] parameter(0)\n  y = s32[3,32,8] parameter(1)\n"
      "  d = s32[3,16,8] dot(x, y), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, "
      "lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}}\n"
      "  ROOT r = s32[3,16,2] reduce-scatter(d), {}, dimensions={{2}}, to_apply=addi\n"};
  // A machine whose links are so fast, and products so slow, that rings always pay.
  Machine slow = v5e();
  slow.flops_bf16 = 1e6;
  PipelineOptions options = on_v5e();
  options.pass.machine = &slow;
  for (const char* dot : dots) {
    const Rewritten one = rewritten(module_text(4, fmt::format(fmt::runtime(dot), all)),
                                    "collective-matmul, dce", 4, options);
    EXPECT_EQ(count_op(one.after, Op::Dot), 4) << dot;
    EXPECT_EQ(count_op(one.after, Op::CollectivePermute), 3) << dot;
    EXPECT_EQ(one.bytes_after, one.bytes_before);
  }
}

// Where the links close to a ring, half of the permutes go the other way.
TEST(CollectiveMatmul, BothWaysRoundARing) {
  const char* dots[] = {
      "  x = s32[{1},32] parameter(0)\n  y = s32[32,8] parameter(1)\n"
      "  g = s32[{2},32] all-gather(x), {0}, dimensions={{0}}\n"
      "  ROOT d = s32[{2},8] dot(g, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n",
      "  x = s32[16,{1}] parameter(0)\n  y = s32[{2},8] parameter(1)\n"
      "  g = s32[16,{2}] all-gather(x), {0}, dimensions={{1}}\n"
      "  ROOT d = s32[16,8] dot(g, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n",
      "  x = s32[{2},8] parameter(0)\n  y = s32[8,8] parameter(1)\n"
      "  d = s32[{2},8] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n"
      "  ROOT r = s32[{1},8] reduce-scatter(d), {0}, dimensions={{0}}, to_apply=addi\n"};
  for (const int64_t devices : {3, 4, 5}) {
    Machine ring = v5e();
    // A shard takes a second, and its product a little more than half of one.
    ring.flops_bf16 = 3413;
    ring.links.bytes_per_second = 512;
    ring.torus = {devices, 1, 1};
    ring.links.ring_size = devices;
    PipelineOptions options = on_v5e();
    options.pass.machine = &ring;
    std::string group = "0";
    for (int64_t i = 1; i < devices; ++i) group += fmt::format(",{}", i);
    const std::string over =
        fmt::format("channel_id=1, replica_groups={{{{{}}}}}, use_global_device_ids=true", group);
    for (const char* dot : dots) {
      const Rewritten one =
          rewritten(module_text(devices, fmt::format(fmt::runtime(dot), over, 4, 4 * devices)),
                    "collective-matmul, dce", devices, options);
      int64_t forwards = 0, backwards = 0;
      for (const Instruction& instruction : one.after.instructions)
        if (!instruction.removed && instruction.op == Op::CollectivePermute) {
          const auto& pairs = one.after.attributes<CollectivePermuteAttributes>(instruction)
                                  .source_target_pairs.pairs;
          (pairs[0].second == 1 ? forwards : backwards) += 1;
        }
      EXPECT_EQ(forwards + backwards, devices - 1) << dot;
      EXPECT_LE(std::abs(forwards - backwards), 1) << dot;
      EXPECT_EQ(one.bytes_after, one.bytes_before);
    }
  }
}

constexpr std::string_view into_products =
    "async-collective-creator, latency-hiding-scheduler, async-collective-fusion";

TEST(FuseGathers, GoOnInsideProducts) {
  const Module before = parsed(layers(8192));
  const Module ordered =
      after_passes(before, "async-collective-creator, latency-hiding-scheduler", on_v5e());
  const Module after = after_passes(before, into_products, on_v5e());
  EXPECT_TRUE(verify(after).empty());
  EXPECT_TRUE(after.header.is_scheduled);
  const auto texts = print(after);
  int64_t starts = 0, at_once = 0;
  for (InstructionId id : after[after.entry].instructions) {
    starts += after[id].name.starts_with("async-collective-start");
    at_once += after[id].op == Op::AllGather;
  }
  EXPECT_EQ(starts, 2) << texts;
  EXPECT_EQ(at_once, 1) << texts;
  EXPECT_EQ(count_op(after, Op::AllGatherStart), 0);
  EXPECT_NEAR(timeline(after).exposed(), timeline(ordered).exposed(), 1e-9);
  EXPECT_DOUBLE_EQ(sent_bytes(after), sent_bytes(before));
}

TEST(FuseGathers, KeepsValues) {
  const Rewritten one = rewritten(layers(16), into_products, 4, on_v5e());
  EXPECT_GT(count_op(one.after, Op::Fusion), 0);
}

TEST(FuseGathers, OnlyWhereProductsDoSo) {
  PipelineOptions options = on_v5e();
  options.pass.machine = find_machine("h100_sxm");
  const Module after = after_passes(parsed(layers(8192)), into_products, options);
  EXPECT_EQ(count_op(after, Op::Fusion), 0);
  EXPECT_EQ(count_op(after, Op::AllGatherStart), 3);
}

// Rows of a batch and of the weights on four devices: a layer of a model as its author writes it.
std::string sharded_layer(int64_t rows, int64_t width, int64_t inner) {
  const std::string by_rows =
      ", frontend_attributes={xla.sdy.sharding=\"#sdy.sharding<@mesh, [{\\\"d\\\"}, {}]>\"}\n";
  const std::string product = ", lhs_contracting_dims={1}, rhs_contracting_dims={0}\n";
  return fmt::format(
      "HloModule layer, num_partitions=4, frontend_attributes={{xla.sdy.meshes={{mesh = "
      "#sdy.mesh<[\"d\"=4]>}}}}\nENTRY main {{\n"
      "  x = f32[{0},{1}] parameter(0){3}  w1 = f32[{1},{2}] parameter(1){3}"
      "  w2 = f32[{1},{2}] parameter(2){3}  w3 = f32[{2},{1}] parameter(3){3}"
      "  xb = bf16[{0},{1}] convert(x)\n  b1 = bf16[{1},{2}] convert(w1)\n"
      "  b2 = bf16[{1},{2}] convert(w2)\n  b3 = bf16[{2},{1}] convert(w3)\n"
      "  a = f32[{0},{2}] dot(xb, b1){4}  g = f32[{0},{2}] dot(xb, b2){4}"
      "  s = f32[{0},{2}] logistic(a)\n  sa = f32[{0},{2}] multiply(a, s)\n"
      "  h = f32[{0},{2}] multiply(sa, g)\n  hb = bf16[{0},{2}] convert(h)\n"
      "  o = f32[{0},{1}] dot(hb, b3){4}  ROOT r = f32[{0},{1}] copy(o){3}}}\n",
      rows, width, inner, by_rows, product);
}

PipelineOptions on_v5p() {
  PipelineOptions options = on_v5e();
  options.pass.machine = find_machine("v5p");
  return options;
}

TEST(Overlap, OfALayerHasTheStructureOfATpuModule) {
  const Module after =
      after_passes(parsed(sharded_layer(65536, 4096, 14336)), "spmd, overlap", on_v5p());
  EXPECT_TRUE(verify(after).empty());
  EXPECT_LE(sent_bytes(after), 264'241'152);
  const StepTimes times(after, *find_machine("v5p"));
  const auto all = times.collectives();
  ASSERT_EQ(all.size(), 3U) << print(after);
  int64_t exposed = 0;
  for (const CollectiveTime& one : all) {
    exposed += one.exposed > 0;
    EXPECT_EQ(after[one.id].op == Op::Fusion, one.exposed == 0) << print(after);
  }
  EXPECT_EQ(exposed, 1) << print(after);
}

TEST(Overlap, OfALayerKeepsValues) {
  const Module given = parsed(sharded_layer(32, 16, 24));
  const Module tiles = after_passes(given, "spmd");
  const Module after = after_passes(given, "spmd, overlap", on_v5p());
  EXPECT_EQ(difference_on_devices(tiles, after, 4), "") << print(after);
}

TEST(CollectiveMatmul, NotWhereTheProductIsShort) {
  const Rewritten one = rewritten(layers(16), "collective-matmul, dce", 4, on_v5e());
  EXPECT_EQ(count_op(one.after, Op::CollectivePermute), 0);
}

// The step of a model of eight billion parameters on 4 x 2 chips. Nothing of it is asynchronous as
// XLA's partitioner leaves it, so that in its order all communication is exposed; computation is
// that of fusions in any case.
TEST(Overlap, OfALargeStep) {
  const std::filesystem::path file =
      std::filesystem::path(HILO_SHARED) / "corpus/spmd/big/llama8b_fsdp_tp_scan/partitioned.hlo";
  if (!std::filesystem::exists(file)) GTEST_SKIP();
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  const Module given = parsed(text.str());
  const Module own_order =
      after_passes(given, "async-collective-creator, fusion, latency-hiding-scheduler", on_v5e());
  const Module fewer = after_passes(given, "collectives", on_v5e());
  const Module after = after_passes(fewer, "overlap", on_v5e());
  const Timeline as_given = timeline(after_passes(given, "fusion", on_v5e()));
  const Timeline saved = timeline(after_passes(fewer, "fusion", on_v5e()));
  const Timeline hidden = timeline(after);
  const auto show = [](const char* what, const Timeline& one) {
    std::printf("%-12s step %.4f s, computes %.4f s, communicates %.4f s, exposed %.4f s\n", what,
                one.step, one.compute, one.communication, one.exposed());
  };
  show("as given", as_given), show("scheduled", timeline(own_order));
  show("collectives", saved), show("overlap", hidden);
  EXPECT_LE(hidden.exposed(), as_given.exposed() / 2);
  EXPECT_LT(hidden.step, saved.step);
}

}  // namespace
}  // namespace hilo::test
