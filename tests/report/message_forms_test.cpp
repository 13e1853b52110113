// Out-of-memory messages in all the forms that compilers, runtimes and allocators have written them
// in. Each states its figures, its memory and what it shows of the chip.
#include <gtest/gtest.h>

#include "report/report.h"

namespace hilo {
namespace {

constexpr int64_t kib = 1 << 10, mib = 1 << 20, gib = 1 << 30;

MemoryPicture read(std::string_view text) {
  const DumpText dump{"log.txt", text};
  EXPECT_EQ(dump_kind(text), DumpKind::OutOfMemory) << text;
  auto picture = read_dumps({&dump, 1});
  EXPECT_TRUE(picture) << to_string(picture.error());
  if (!picture) return {};
  for (const Error& fault : picture->faults) ADD_FAILURE() << to_string(fault);
  find_advice(*picture);
  return *picture;
}

bool is_about(int64_t bytes, double expected) {
  return std::abs(static_cast<double>(bytes) - expected) <= 0.006 * expected + 1;
}

bool advises(const MemoryPicture& picture, std::string_view words) {
  for (const Advice& advice : picture.advice)
    if (advice.text.contains(words)) return true;
  return false;
}

std::string_view space_of(const MemoryPicture& picture) {
  for (const PictureSpace& space : picture.spaces)
    if (space.space == picture.message->space) return space.name;
  return "";
}

constexpr std::string_view vmem_list =
    "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space vmem. "
    "Used 70.00M of 64.00M vmem. Exceeded vmem capacity by 6.00M.\n\n"
    "Program vmem requirement 70.00M:\n    scoped           70.00M\n\n"
    "  Largest program allocations in vmem:\n\n"
    "  1. Size: 40.00M\n     Operator: op_name=\"jit(f)/cumsum\" source_file=\"m.py\" "
    "source_line=3\n     Shape: f32[256,10]{1,0}\n     Unpadded size: 10.0K\n"
    "     Extra memory due to padding: 118.0K (12.8x expansion)\n"
    "     XLA label: reduce-window.1 = reduce-window(fusion.2, constant.3), window={size=1x128}\n"
    "     Allocation type: scoped\n     ==========================\n\n"
    "  2. Size: 30.00M\n     XLA label: register allocator spill slots call depth 2\n"
    "     Allocation type: scoped\n     ==========================\n";

TEST(MessageForms, VmemOfTheTpuCompiler) {
  const MemoryPicture picture = read(vmem_list);
  EXPECT_EQ(space_of(picture), "vmem");
  EXPECT_EQ(picture.message->needed, 70 * mib);
  EXPECT_EQ(picture.message->limit, 64 * mib);
  EXPECT_EQ(picture.message->part("scoped"), 70 * mib);
  ASSERT_EQ(picture.values.size(), 2u);
  EXPECT_EQ(picture.values[0].space, 1);
  EXPECT_EQ(picture.values[0].kind, "scoped");
  EXPECT_EQ(picture.values[0].unpadded_bytes, 10 * kib);
  EXPECT_EQ(picture.values[0].array_bytes, 128 * kib);
  EXPECT_TRUE(advises(picture, "--xla_tpu_scoped_vmem_limit_kib"));
  EXPECT_TRUE(advises(picture, "cumsum"));
  EXPECT_TRUE(advises(picture, "dimension 1 of 10 takes 128"));
  EXPECT_TRUE(advises(picture, "do not fit into registers"));
  const std::string report = memory_report(picture);
  EXPECT_TRUE(report.contains("12.8x")) << report;
  EXPECT_FALSE(report.contains('?')) << report;
  EXPECT_FALSE(report.contains("hbm")) << report;
}

TEST(MessageForms, ScopedAllocationOfOneKernel) {
  const MemoryPicture picture = read(
      "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: E1001: CompileTimeScopedVmemOom:\n"
      "Ran out of memory in memory space vmem while allocating on stack for %kernel.7 = "
      "bf16[128,512]{1,0:T(8,128)(2,1)} custom-call(%p), custom_call_target=\"tpu_custom_call\". "
      "Scoped allocation with size 36.25M and limit 32.00M exceeded scoped vmem limit by 4.25M. "
      "It should not be possible to run out of scoped vmem\n");
  EXPECT_EQ(space_of(picture), "vmem");
  EXPECT_TRUE(is_about(picture.message->scoped, 36.25 * mib));
  EXPECT_EQ(picture.message->scoped_limit, 32 * mib);
  ASSERT_EQ(picture.values.size(), 1u);
  EXPECT_EQ(picture.name_of(picture.values[0]), "kernel.7");
  EXPECT_EQ(picture.instruction_of(picture.values[0]).op, "custom-call");
  EXPECT_TRUE(advises(picture, "--xla_tpu_scoped_vmem_limit_kib=37888"));
  EXPECT_TRUE(advises(picture, "vmem_limit_bytes"));
  const auto& others = picture.other_machines;
  EXPECT_EQ(std::find(others.begin(), others.end(), "v4"), others.end()) << "16 MiB of vmem";
}

TEST(MessageForms, AllocationLargerThanTheMemory) {
  const MemoryPicture picture = read(
      "XlaRuntimeError: RESOURCE_EXHAUSTED: Allocation (size=134217728) would exceed memory "
      "(size=67108864) :: #allocation4 [shape = 'u8[134217728]{0}', space=vmem, size = 0x8000000, "
      "tag = 'scoped memory for kernel.2'] :: kernel.2\n");
  EXPECT_EQ(space_of(picture), "vmem");
  EXPECT_EQ(picture.message->asked, 128 * mib);
  EXPECT_EQ(picture.message->limit, 64 * mib);
  ASSERT_EQ(picture.values.size(), 1u);
  EXPECT_EQ(picture.name_of(picture.values[0]), "kernel.2");
  const MemoryPicture hbm = read(
      "RESOURCE_EXHAUSTED: Allocation (size=38654705664) would exceed memory "
      "(size=33822867456)");
  EXPECT_EQ(space_of(hbm), "hbm");
  EXPECT_EQ(hbm.message->asked, 36 * gib);
}

TEST(MessageForms, ScalarMemoryAndUnknownMemories) {
  const MemoryPicture smem = read(
      "RuntimeError: Bad StatusOr access: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran "
      "out of memory in memory space smem. Used 1.10M of 1.00M smem. Exceeded smem capacity by "
      "102.0K.\n");
  EXPECT_EQ(space_of(smem), "smem");
  EXPECT_TRUE(advises(smem, "page tables"));
  const MemoryPicture old = read(
      "(0) Resource exhausted: Ran out of memory in memory space sflag. It should not be possible "
      "to run out of sflag - please file a bug against XLA.\n\n"
      "  Largest program allocations in sflag:\n\n  1. Size: 12.0K\n     Allocation type: "
      "scoped\n");
  EXPECT_EQ(space_of(old), "sflag");
  ASSERT_EQ(old.values.size(), 1u);
  const MemoryPicture other =
      read("Ran out of memory in memory space tilespmem. Used 2.00M of 1.00M tilespmem. Exceeded");
  EXPECT_EQ(space_of(other), "tilespmem");
  EXPECT_EQ(other.message->needed, 2 * mib);
}

// As they come out of a chat, a Python string, a terminal and a worker's log.
TEST(MessageForms, WrappedEscapedColouredAndPrefixed) {
  for (const std::string_view text : {
           "Ran out of memory in memory space\nhbm. Used 54.36G of 31.25G hbm.\nExceeded hbm "
           "capacity by 23.11G.\n",
           "'XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 54.36G "
           "of 31.25G hbm. Exceeded hbm capacity by 23.11G.\\n\\nTotal hbm usage >= 54.61G:\\n    "
           "reserved        260.00M \\n'",
           "Ran out of memory in memory space hbm. **Used 54.36G of 31.25G hbm. Exceeded hbm "
           "capacity by 23.11G**.",
           "\033[36m(Worker pid=489, ip=10.0.0.1)\033[0m Ran out of memory in memory space hbm. "
           "Used 54.36G of 31.25G hbm. Exceeded",
           "> E0101 10:00:00.0 77 client.cc:9] Ran out of memory in memory space hbm. Used 54.36G "
           "of 31.25G hbm. Exceeded",
       }) {
    const MemoryPicture picture = read(text);
    EXPECT_TRUE(is_about(picture.message->needed, 54.36 * gib)) << text;
    EXPECT_EQ(picture.machine, "v6e") << text << picture.machine_reason;
    EXPECT_FALSE(picture.is_machine_assumed) << text;
  }
}

TEST(MessageForms, TotalsOnOneRowAndUnknownSizes) {
  const MemoryPicture picture = read(
      "Ran out of memory in memory space hbm. Used 49.34G of 32.00G hbm. Exceeded hbm capacity by "
      "17.34G. Total hbm usage >= 49.34G: reserved 3.12M program unknown size arguments 49.34G\n");
  EXPECT_TRUE(is_about(picture.message->part("arguments"), 49.34 * gib));
  EXPECT_TRUE(is_about(picture.message->part("reserved"), 3.12 * mib));
  EXPECT_TRUE(advises(picture, "shard them"));
}

TEST(MessageForms, ListsAreReadOnce) {
  const std::string list =
      "Ran out of memory in memory space hbm. Used 20.00G of 15.75G hbm. Exceeded hbm capacity by "
      "4.25G.\n\nOutput size 4.00G; shares 0B with arguments.\n\nTotal hbm usage >= 20.25G:\n"
      "    reserved        258.00M\n    program          14.00G\n    arguments         6.00G\n\n"
      "  Largest program allocations in hbm:\n\n  1. Size: 2.00G\n"
      "     Operator: op_name=\"jit(step)/jvp(Model)/dot_general\" source_file=\"m.py\" "
      "source_line=9\n     Shape: f32[4096,131072]{1,0:T(8,128)}\n     Unpadded size: 2.00G\n"
      "     XLA label: fusion.1 = fusion(p.1), kind=kOutput\n     Allocation type: HLO temp\n"
      "     ==========================\n";
  const MemoryPicture picture = read(list + "\nThe above exception was raised again:\n" + list);
  EXPECT_EQ(picture.values.size(), 1u);
  EXPECT_EQ(picture.machine, "v5e");
  EXPECT_FALSE(picture.is_machine_assumed) << picture.machine_reason;
  EXPECT_TRUE(advises(picture, "jax.checkpoint"));
  EXPECT_TRUE(advises(picture, "bf16"));
  EXPECT_TRUE(advises(picture, "donate_argnums"));
}

TEST(MessageForms, BothCoresOfATpu) {
  const MemoryPicture picture = read(
      "RESOURCE_EXHAUSTED: TPU TensorCore Hbm usage: 40.00G, SparseCore Hbm usage 160.00G, "
      "exceeding available bytes: 95.74G\n");
  EXPECT_EQ(picture.machine, "v5p");
  EXPECT_TRUE(is_about(picture.message->needed, 200.0 * gib));
  EXPECT_TRUE(advises(picture, "SparseCore"));
}

TEST(MessageForms, TpuRuntime) {
  const MemoryPicture buffer = read(
      "ValueError: RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate "
      "1.50G. That was not possible. There are 300.00M free.; (0x0x0_HBM0)\n");
  EXPECT_EQ(buffer.message->asked, gib + gib / 2);
  EXPECT_EQ(buffer.message->free, 300 * mib);
  EXPECT_TRUE(memory_report(buffer).contains("1.50GiB asked for, 300.00MiB free"))
      << memory_report(buffer);
  EXPECT_TRUE(advises(buffer, "donate"));
  const MemoryPicture pieces = read(
      "Attempting to allocate 1.50G. That was not possible. There are 2.00G free. The largest "
      "contiguous region of free memory is 512.00M due to fragmentation.");
  EXPECT_EQ(pieces.message->largest_free, 512 * mib);
  EXPECT_TRUE(advises(pieces, "not in one block"));
  const MemoryPicture program = read(
      "XlaRuntimeError: RESOURCE_EXHAUSTED: Error loading program 'jit_step': Attempting to "
      "reserve 29.00G at the bottom of memory. That was not possible. There are 147.00M free, "
      "0B reserved, and 147.00M reservable. Scope: unknown..\n");
  EXPECT_EQ(program.message->asked, 29 * gib);
  EXPECT_TRUE(memory_report(program).contains("jit_step"));
}

TEST(MessageForms, AllocatorOfAGpuWithItsBlocks) {
  const MemoryPicture picture = read(
      "2024-01-01 10:00:00.1: W tensorflow/tsl/framework/bfc_allocator.cc:485] Allocator "
      "(GPU_0_bfc) ran out of memory trying to allocate 2.00GiB (rounded to 2147483648)requested "
      "by op fusion\n"
      "2024-01-01 10:00:00.2: I tensorflow/tsl/framework/bfc_allocator.cc:1040] BFCAllocator dump\n"
      "2024-01-01 10:00:00.2: I tensorflow/tsl/framework/bfc_allocator.cc:1103] 4 Chunks of size "
      "1073741824 totalling 4.00GiB\n"
      "2024-01-01 10:00:00.2: I tensorflow/tsl/framework/bfc_allocator.cc:1107] Sum Total of "
      "in-use "
      "chunks: 4.00GiB\n"
      "2024-01-01 10:00:00.2: I tensorflow/tsl/framework/bfc_allocator.cc:1114] Stats: \n"
      "Limit:                      5368709120\nInUse:                      4294967296\n"
      "MaxInUse:                   4294967296\nLargestFreeBlock:            536870912\n");
  EXPECT_EQ(picture.message->allocator, "GPU_0_bfc");
  EXPECT_EQ(picture.message->asked, 2 * gib);
  EXPECT_EQ(picture.message->in_use, 4 * gib);
  EXPECT_EQ(picture.message->limit, 5 * gib);
  EXPECT_EQ(picture.message->largest_free, 512 * mib);
  ASSERT_EQ(picture.message->chunks.size(), 1u);
  EXPECT_EQ(picture.message->chunks[0].count, 4);
  EXPECT_TRUE(picture.machine_reason.contains("GPU_0_bfc")) << picture.machine_reason;
  EXPECT_TRUE(advises(picture, "XLA_PYTHON_CLIENT_MEM_FRACTION"));
}

TEST(MessageForms, OtherWordsOfGpus) {
  EXPECT_EQ(read("RESOURCE_EXHAUSTED: Failed to allocate request for 512.00MiB (536870912B) on "
                 "device ordinal 0")
                .message->asked,
            512 * mib);
  EXPECT_EQ(
      read("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 24.41GiB.").message->source,
      MemoryMessage::Source::GpuRuntime);
  EXPECT_EQ(read("E stream_executor/cuda/cuda_driver.cc:828] failed to allocate 2.00G (2147483648 "
                 "bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory")
                .message->asked,
            2 * gib);
  EXPECT_EQ(read("failed to allocate 2.00GiB (2147483648 bytes) from device: HIP_ERROR_OutOfMemory")
                .machine,
            "mi300x");
  const MemoryPicture shared = read(
      "XlaRuntimeError: RESOURCE_EXHAUSTED: Shared memory size limit exceeded: requested 3145728, "
      "available: 101376");
  EXPECT_EQ(space_of(shared), "shared memory");
  EXPECT_TRUE(advises(shared, "block shapes"));
  EXPECT_EQ(read("Resource exhausted: OOM when allocating tensor with shape[64,32,28,28] and type "
                 "float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc")
                .message->allocator,
            "GPU_0_bfc");
  EXPECT_EQ(read("RESOURCE_EXHAUSTED: Out of memory allocating 1099511627776 bytes.").machine,
            "cpu");
}

TEST(MessageForms, WhatRematerialisationReached) {
  const MemoryPicture picture = read(
      "hlo_rematerialization.cc:2941] Can't reduce memory use below 14.00GiB (15032385536 bytes) "
      "by "
      "rematerialization; only reduced to 33.00GiB (35433480192 bytes), down from 37.00GiB "
      "(39728447488 bytes) originally\n"
      "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 35433480192 bytes.\n");
  EXPECT_EQ(picture.message->remat_reached, 33 * gib);
  EXPECT_EQ(picture.message->remat_goal, 14 * gib);
}

// The capacities that compile errors state tell the chips apart.
TEST(MessageForms, CapacitiesNameTheChip) {
  for (const auto& [capacity, machine] : {std::pair("7.48G", "v2"),
                                          {"15.48G", "v3"},
                                          {"15.75G", "v5e"},
                                          {"30.75G", "v4"},
                                          {"31.25G", "v6e"},
                                          {"94.75G", "v7x"},
                                          {"95.74G", "v5p"}}) {
    const MemoryPicture picture =
        read(fmt::format("Ran out of memory in memory space hbm. Used 200.00G of {} hbm. Exceeded "
                         "hbm capacity by 100.00G.",
                         capacity));
    EXPECT_EQ(picture.machine, machine);
    EXPECT_TRUE(picture.machine_reason.starts_with("inferred")) << picture.machine_reason;
  }
  const MemoryPicture both = read(
      "Ran out of memory in memory space vmem. Used 131.69M of 128.00M vmem. Exceeded vmem "
      "capacity by 3.69M.");
  EXPECT_EQ(both.machine, "v5e");
  EXPECT_EQ(both.other_machines, std::vector<std::string>{"v6e"});
  EXPECT_TRUE(both.is_machine_assumed);
  const MemoryPicture old = read(
      "Ran out of memory in memory space hbm. Used 17.60G of 16.00G hbm. Exceeded hbm capacity by "
      "1.60G.\n\nTotal hbm usage >= 17.60G:\n    reserved        528.00M \n    program          "
      "17.08G \n    arguments       unknown size \n\nOutput size unknown.\n");
  EXPECT_EQ(old.machine, "v3") << old.machine_reason;
}

TEST(MessageForms, CutAnywhere) {
  for (size_t length = 0; length < vmem_list.size(); length += 7) {
    const DumpText dump{"log.txt", vmem_list.substr(0, length)};
    auto picture = read_dumps({&dump, 1});
    if (!picture) continue;
    find_advice(*picture);
    EXPECT_FALSE(memory_report(*picture).empty());
  }
}

}  // namespace
}  // namespace hilo
