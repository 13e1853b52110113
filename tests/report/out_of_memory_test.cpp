// The messages of compilers and runtimes that ran out of memory, as users paste them.
#include <gtest/gtest.h>

#include "report/report.h"

namespace hilo {
namespace {

MemoryPicture read(std::string_view text) {
  const DumpText dump{"log.txt", text};
  EXPECT_EQ(dump_kind(text), DumpKind::OutOfMemory);
  auto picture = read_dumps({&dump, 1});
  EXPECT_TRUE(picture) << to_string(picture.error());
  return picture ? *picture : MemoryPicture();
}

constexpr std::string_view tpu_message = R"(Traceback (most recent call last):
  File "train.py", line 3, in <module>
jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 20.50G of 15.48G hbm. Exceeded hbm capacity by 5.02G.

Total hbm usage >= 21.00G:
    reserved        530.00M
    program          20.50G
    arguments            0B

Output size 0B; shares 0B with arguments.

Program hbm requirement 20.50G:
    global            65.0K
    HLO temp         20.44G (10.0% utilization: Unpadded (2.00G) Padded (20.00G), 2.2% fragmentation (450.56M))

  Largest program allocations in hbm:

  1. Size: 16.00G
     Operator: op_type="mul" op_name="jit(step)/mul" source_file="/home/me/train.py" source_line=17
     Shape: f32[8388608,4]{1,0:T(8,128)}
     Unpadded size: 512.00M
     Extra memory due to padding: 15.50G (32.0x expansion)
     XLA label: %multiply.3 = f32[8388608,4]{1,0:T(8,128)} multiply(f32[8388608,4]{1,0:T(8,128)} %p, f32[8388608,4]{1,0:T(8,128)} %q)
     Allocation type: HLO temp
     ==========================

  2. Size: 4.00G
     Shape: bf16[32768,65536]{1,0:T(8,128)(2,1)}
     Unpadded size: 4.00G
     XLA label: fusion.7 = fusion(copy.1), kind=kLoop, calls=%f
     Allocation type: HLO temp
     ==========================
)";

TEST(OutOfMemory, TpuCompilerTellsUsedAndLimit) {
  const MemoryPicture picture = read(tpu_message);
  EXPECT_TRUE(picture.is_partial);
  EXPECT_TRUE(picture.faults.empty()) << to_string(picture.faults[0]);
  ASSERT_EQ(picture.spaces.size(), 1u);
  EXPECT_EQ(picture.spaces[0].total_bytes, 20 * (int64_t{1} << 30) + (int64_t{1} << 29));
  EXPECT_EQ(picture.spaces[0].capacity, std::llround(15.48 * (1 << 30)));
  EXPECT_EQ(picture.spaces[0].peak_moment, -1);
  ASSERT_EQ(picture.values.size(), 2u);
  const PictureValue& first = picture.values[0];
  EXPECT_EQ(picture.name_of(first), "multiply.3");
  EXPECT_EQ(first.bytes, int64_t{16} << 30);
  EXPECT_EQ(first.unpadded_bytes, int64_t{512} << 20);
  EXPECT_EQ(picture.instruction_of(first).op, "multiply");
  EXPECT_EQ(picture.instruction_of(first).op_name, "jit(step)/mul");
  EXPECT_EQ(picture.source_of(first), "/home/me/train.py:17");
  EXPECT_EQ(picture.name_of(picture.values[1]), "fusion.7");
  const std::string report = memory_report(picture);
  EXPECT_NE(report.find("multiply.3"), std::string::npos);
  EXPECT_NE(report.find("train.py:17"), std::string::npos);
}

TEST(OutOfMemory, EachOfSeveralMessagesIsRead) {
  std::string second(tpu_message);
  for (const auto& [from, to] : {std::pair("20.50G of", "18.00G of"), {"16.00G", "13.00G"}})
    second.replace(second.find(from), std::string_view(from).size(), to);
  const std::string log = std::string(tpu_message) + std::string(tpu_message) + second;
  const MemoryPicture picture = read(log);
  EXPECT_EQ(picture.message->needed, std::llround(20.5 * (1 << 30)));
  ASSERT_EQ(picture.further.size(), 1u);
  EXPECT_EQ(picture.further[0].message->needed, int64_t{18} << 30);
  EXPECT_EQ(picture.further[0].values[0].bytes, int64_t{13} << 30);
  EXPECT_TRUE(picture.further[0].read_from.contains("log.txt:")) << picture.further[0].read_from;
  const std::string report = memory_report(picture);
  EXPECT_NE(report.find("needs 18.00GiB"), std::string::npos) << report;
  EXPECT_NE(memory_json(picture).find("\"further\""), std::string::npos);
}

TEST(OutOfMemory, LogPrefixesAreLeftOut) {
  std::string prefixed;
  for (size_t at = 0; at < tpu_message.size();) {
    const size_t end = tpu_message.find('\n', at);
    prefixed += "2026-05-04 09:05:40.720128: E    1578 xla/client/util.cc:76] ";
    prefixed += tpu_message.substr(at, end + 1 - at);
    at = end + 1;
  }
  const MemoryPicture picture = read(prefixed);
  ASSERT_EQ(picture.values.size(), 2u);
  EXPECT_EQ(picture.name_of(picture.values[0]), "multiply.3");
}

constexpr std::string_view gpu_message =
    "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 22271409880 bytes.\n"
    "BufferAssignment OOM Debugging.\n"
    "BufferAssignment stats:\n"
    "             parameter allocation:    1.00GiB\n"
    "              constant allocation:         4B\n"
    "        maybe_live_out allocation:  512.00MiB\n"
    "     preallocated temp allocation:   20.00GiB\n"
    "  preallocated temp fragmentation:         0B (0.00%)\n"
    "                 total allocation:   21.50GiB\n"
    "Peak buffers:\n"
    "\tBuffer 1:\n"
    "\t\tSize: 16.00GiB\n"
    "\t\tOperator: op_name=\"jit(f)/dot\" source_file=\"a.py\" source_line=4\n"
    "\t\tXLA Label: custom-call\n"
    "\t\tShape: f32[65536,65536]\n"
    "\t\t==========================\n"
    "\n"
    "\tBuffer 2:\n"
    "\t\tSize: 1.00GiB\n"
    "\t\tEntry Parameter Subshape: f32[16384,16384]\n"
    "\t\t==========================\n";

TEST(OutOfMemory, RuntimeTellsPartsAndPeakBuffers) {
  const MemoryPicture picture = read(gpu_message);
  EXPECT_TRUE(picture.faults.empty()) << to_string(picture.faults[0]);
  constexpr int64_t gib = int64_t{1} << 30;
  EXPECT_EQ(picture.spaces[0].total_bytes, 21 * gib + gib / 2 + 4);
  EXPECT_EQ(picture.spaces[0].temp_bytes, 20 * gib);
  ASSERT_EQ(picture.values.size(), 2u);
  EXPECT_EQ(picture.instruction_of(picture.values[0]).op, "custom-call");
  EXPECT_EQ(picture.instruction_of(picture.values[1]).op, "parameter");
  EXPECT_EQ(picture.values[1].bytes, gib);
}

TEST(OutOfMemory, SizesThatAreNoneAreFaults) {
  std::string text(gpu_message);
  text.replace(text.find("Size: 16.00GiB"), 14, "Size: 16.00XiB");
  const MemoryPicture picture = read(text);
  ASSERT_EQ(picture.faults.size(), 1u);
  EXPECT_EQ(picture.faults[0].place.line, 12);
}

}  // namespace
}  // namespace hilo
