// What collectives move over links, and what a step's values are by their names.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/report.h"
#include "text/text.h"

namespace hilo {
namespace {

constexpr std::string_view step =
    "HloModule step, is_scheduled=true, num_partitions=4\n\n"
    "%add (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n"
    "  ROOT %sum = f32[] add(%a, %b)\n}\n\n"
    "%body (s: (s32[], f32[4,256])) -> (s32[], f32[4,256]) {\n"
    "  %s = (s32[], f32[4,256]{1,0}) parameter(0)\n"
    "  %i = s32[] get-tuple-element(%s), index=0\n"
    "  %stack = f32[4,256]{1,0} get-tuple-element(%s), index=1\n"
    "  %one = s32[] constant(1)\n  %zero = s32[] constant(0)\n"
    "  %row = f32[1,256]{1,0} dynamic-slice(%stack, %i, %zero), dynamic_slice_sizes={1,256}\n"
    "  %all = f32[1,256]{1,0} all-reduce(%row), channel_id=1, replica_groups={{0,1,2,3}}, "
    "use_global_device_ids=true, to_apply=%add\n"
    "  %written = f32[4,256]{1,0} dynamic-update-slice(%stack, %all, %i, %zero), "
    "metadata={op_name=\"jit(step)/jvp(Model)/scan\" source_file=\"model.py\" source_line=21}\n"
    "  %next = s32[] add(%i, %one)\n"
    "  ROOT %out = (s32[], f32[4,256]{1,0}) tuple(%next, %written)\n}\n\n"
    "%cond (s.1: (s32[], f32[4,256])) -> pred[] {\n"
    "  %s.1 = (s32[], f32[4,256]{1,0}) parameter(0)\n"
    "  %i.1 = s32[] get-tuple-element(%s.1), index=0\n  %four = s32[] constant(4)\n"
    "  ROOT %less = pred[] compare(%i.1, %four), direction=LT\n}\n\n"
    "ENTRY %main (w: f32[256]) -> f32[1024] {\n"
    "  %w = f32[256]{0} parameter(0), metadata={op_name=\"state.opt_state[0].mu\"}\n"
    "  %none = s32[] constant(0)\n  %zeros = f32[] constant(0)\n"
    "  %start = f32[4,256]{1,0} broadcast(%zeros), dimensions={}\n"
    "  %init = (s32[], f32[4,256]{1,0}) tuple(%none, %start)\n"
    "  %loop = (s32[], f32[4,256]{1,0}) while(%init), condition=%cond, body=%body\n"
    "  %last = f32[4,256]{1,0} get-tuple-element(%loop), index=1\n"
    "  %sum.1 = f32[4,256]{1,0} negate(%last)\n"
    "  %gathered = f32[1024]{0} all-gather(%w), channel_id=2, replica_groups=[1,4]<=[4], "
    "dimensions={0}, use_global_device_ids=true, metadata={source_file=\"model.py\" "
    "source_line=30}\n"
    "  %flat = f32[1024]{0} reshape(%sum.1)\n"
    "  ROOT %result = f32[1024]{0} add(%gathered, %flat)\n}\n";

MemoryPicture picture_of_step(std::string_view machine) {
  auto module = parse(step);
  EXPECT_TRUE(module) << to_string(module.error());
  const auto planned = plan(*module, *find_machine(machine));
  EXPECT_TRUE(planned) << to_string(planned.error());
  return picture_of(*module, *find_machine(machine), *planned);
}

TEST(Collectives, BytesThatADeviceMustSend) {
  const MemoryPicture picture = picture_of_step("h100_sxm");
  ASSERT_EQ(picture.collectives.size(), 2u);
  const PictureCollective& reduce = picture.collectives[0];
  EXPECT_EQ(reduce.instruction.name, "all");
  EXPECT_EQ(reduce.devices, 4);
  EXPECT_EQ(reduce.runs, 4);
  EXPECT_EQ(reduce.link_bytes, 2 * 1024 * 3 / 4);
  const PictureCollective& gather = picture.collectives[1];
  EXPECT_EQ(gather.instruction.op, "all-gather");
  EXPECT_EQ(gather.link_bytes, 3 * 1024);
  const std::string report = memory_report(picture);
  EXPECT_TRUE(report.contains("Collectives of one run")) << report;
  EXPECT_TRUE(report.contains("model.py:30")) << report;
  EXPECT_TRUE(report.contains("1 link of h100_sxm with 450.00GB/s")) << report;
  const auto json = nlohmann::json::parse(memory_json(picture));
  EXPECT_EQ(json["collectives"][0]["link_bytes"], 1536);
}

TEST(Collectives, AsynchronousOnesCountOnce) {
  auto module = parse(
      "HloModule m, is_scheduled=true, num_partitions=2\n\n"
      "ENTRY %main (x: f32[256]) -> f32[512] {\n  %x = f32[256]{0} parameter(0)\n"
      "  %begin = (f32[256]{0}, f32[512]{0}) all-gather-start(%x), channel_id=1, "
      "replica_groups={{0,1}}, dimensions={0}, use_global_device_ids=true\n"
      "  %moved = f32[256]{0} collective-permute(%x), channel_id=2, "
      "source_target_pairs={{0,1},{1,0}}\n"
      "  ROOT %end = f32[512]{0} all-gather-done(%begin)\n}\n");
  ASSERT_TRUE(module) << to_string(module.error());
  const Machine& machine = *find_machine("v5e");
  const auto planned = plan(*module, machine);
  ASSERT_TRUE(planned) << to_string(planned.error());
  const MemoryPicture picture = picture_of(*module, machine, *planned);
  ASSERT_EQ(picture.collectives.size(), 2u);
  EXPECT_EQ(picture.collectives[0].link_bytes, 1024);
  EXPECT_EQ(picture.collectives[1].link_bytes, 1024);
  EXPECT_TRUE(memory_report(picture).contains("4 links of v5e with 45.00GB/s"));
}

TEST(Collectives, APermuteCountsASender) {
  auto module = parse(
      "HloModule m, is_scheduled=true, num_partitions=4\n\n"
      "ENTRY %main (x: f32[256]) -> f32[256] {\n  %x = f32[256]{0} parameter(0)\n"
      "  ROOT %moved = f32[256]{0} collective-permute(%x), channel_id=1, "
      "source_target_pairs={{0,1},{1,2},{2,3}}\n}\n");
  ASSERT_TRUE(module) << to_string(module.error());
  const Machine& machine = *find_machine("v5e");
  const auto planned = plan(*module, machine);
  ASSERT_TRUE(planned) << to_string(planned.error());
  const MemoryPicture picture = picture_of(*module, machine, *planned);
  ASSERT_EQ(picture.collectives.size(), 1u);
  EXPECT_EQ(picture.collectives[0].link_bytes, 1024);
  EXPECT_EQ(collective_bytes(*module, (*module)[module->entry].root)->sent_bytes, 1024);
}

TEST(Collectives, ACarriedStackIsNamedByItsWriter) {
  const std::string report = memory_report(picture_of_step("h100_sxm"));
  EXPECT_TRUE(report.contains("written in ")) << report;
  EXPECT_TRUE(report.contains("model.py:21")) << report;
}

TEST(Collectives, RolesByNames) {
  const MemoryPicture picture = picture_of_step("h100_sxm");
  const auto json = nlohmann::json::parse(memory_json(picture));
  const auto& roles = json["memory_spaces"][0]["bytes_by_role"];
  EXPECT_EQ(roles["optimiser state"], 1024) << json["memory_spaces"][0].dump();
  EXPECT_EQ(roles["activations"], 4096) << json["memory_spaces"][0].dump();
}

// One gather is waited for, the other goes on beside a product.
constexpr std::string_view hidden_gather =
    "HloModule m, is_scheduled=true, num_partitions=4\n\n"
    "ENTRY %main {\n"
    "  %x = bf16[8192,8192]{1,0} parameter(0)\n  %w = bf16[256,8192]{1,0} parameter(1)\n"
    "  %first = bf16[1024,8192]{1,0} all-gather(%w), channel_id=1, "
    "replica_groups={{0,1,2,3}}, dimensions={0}, use_global_device_ids=true\n"
    "  %begin = (bf16[256,8192]{1,0}, bf16[1024,8192]{1,0}) all-gather-start(%w), channel_id=2, "
    "replica_groups={{0,1,2,3}}, dimensions={0}, use_global_device_ids=true\n"
    "  %y = bf16[8192,8192]{1,0} dot(%x, %x), lhs_contracting_dims={1}, "
    "rhs_contracting_dims={0}\n"
    "  %end = bf16[1024,8192]{1,0} all-gather-done(%begin)\n"
    "  ROOT %z = (bf16[8192,8192]{1,0}, bf16[1024,8192]{1,0}, bf16[1024,8192]{1,0}) "
    "tuple(%y, %end, %first)\n}\n";

TEST(Collectives, WhatIsExposedAndBehindWhatTheRestHides) {
  auto module = parse(hidden_gather);
  ASSERT_TRUE(module) << to_string(module.error());
  const Machine& machine = *find_machine("v5e");
  const std::string report = collective_report(*module, &machine, {.width = 200});
  EXPECT_TRUE(report.contains("On v5e 2x2 a step takes")) << report;
  EXPECT_TRUE(report.contains("hidden behind")) << report;
  const auto json = nlohmann::json::parse(collectives_json(*module, &machine));
  ASSERT_EQ(json["collectives"].size(), 2u);
  double exposed = 0;
  for (const auto& one : json["collectives"]) {
    const bool is_first = one["name"] == "first";
    EXPECT_DOUBLE_EQ(one["exposed_seconds"].get<double>() + one["hidden_seconds"].get<double>(),
                     one["seconds"].get<double>());
    EXPECT_EQ(one["exposed_seconds"] == one["seconds"], is_first);
    EXPECT_EQ(one["hidden_by"].empty(), is_first);
    if (!is_first) {
      EXPECT_EQ(one["hidden_by"][0], "y");
    }
    exposed += one["exposed_seconds"].get<double>();
  }
  EXPECT_NEAR(json["exposed_communication_seconds"].get<double>(), exposed, 1e-12);
  EXPECT_EQ(json["topology"], nlohmann::json({2, 2, 1}));
}

TEST(Collectives, WrappedOnesAreToldOnceEach) {
  auto module = parse(
      "HloModule m, is_scheduled=true, num_partitions=4\n\n"
      "%add (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n"
      "  ROOT %sum = f32[] add(%a, %b)\n}\n\n"
      "%wrapped (p: f32[1024]) -> f32[256] {\n  %p = f32[1024]{0} parameter(0)\n"
      "  ROOT %r = f32[256]{0} reduce-scatter(%p), channel_id=1, replica_groups={{0,1,2,3}}, "
      "dimensions={0}, use_global_device_ids=true, to_apply=%add\n}\n\n"
      "%alike (p: f32[1024]) -> f32[256] {\n  %p = f32[1024]{0} parameter(0)\n"
      "  ROOT %q = f32[256]{0} reduce-scatter(%p), channel_id=1, replica_groups={{0,1,2,3}}, "
      "dimensions={0}, use_global_device_ids=true, to_apply=%add\n}\n\n"
      "ENTRY %main {\n  %w = f32[1024]{0} parameter(0)\n"
      "  %begin = ((f32[1024]{0}), f32[256]{0}, u32[]) async-start(%w), calls=%wrapped\n"
      "  %end = f32[256]{0} async-done(%begin), calls=%wrapped\n"
      "  %more = ((f32[1024]{0}), f32[256]{0}, u32[]) async-start(%w), calls=%alike\n"
      "  %done = f32[256]{0} async-done(%more), calls=%alike\n"
      "  ROOT %both = (f32[256]{0}, f32[256]{0}) tuple(%end, %done)\n}\n");
  ASSERT_TRUE(module) << to_string(module.error());
  const auto json = nlohmann::json::parse(collectives_json(*module, find_machine("v5e")));
  ASSERT_EQ(json["collectives"].size(), 2u);
  double exposed = 0;
  for (const auto& one : json["collectives"]) exposed += one["exposed_seconds"].get<double>();
  EXPECT_NEAR(json["exposed_communication_seconds"].get<double>(), exposed, 1e-15);
}

TEST(Collectives, NothingIsSaidOfTimesWhereNoLinksAreKnown) {
  auto module = parse(hidden_gather);
  ASSERT_TRUE(module) << to_string(module.error());
  for (const Machine* machine : {static_cast<const Machine*>(nullptr), find_machine("cpu")}) {
    EXPECT_FALSE(collective_report(*module, machine).contains("exposed"));
    EXPECT_FALSE(collectives_json(*module, machine).contains("exposed"));
  }
}

TEST(Collectives, ThePageAndTheDocumentSayItToo) {
  auto module = parse(hidden_gather);
  ASSERT_TRUE(module) << to_string(module.error());
  const Machine& machine = *find_machine("v5e");
  const auto planned = plan(*module, machine);
  ASSERT_TRUE(planned) << to_string(planned.error());
  const MemoryPicture picture = picture_of(*module, machine, *planned);
  ASSERT_EQ(picture.collectives.size(), 2u);
  EXPECT_TRUE(html_page(picture).contains("\"hidden_by\":[\"y\"]"));
  const auto json = nlohmann::json::parse(memory_json(picture));
  EXPECT_TRUE(json["collectives"][0].contains("exposed_seconds"));
  EXPECT_TRUE(memory_report(picture).contains("exposed"));
}

}  // namespace
}  // namespace hilo
