// Advice is what packing the changed program gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "report/report.h"
#include "wire/wire.h"

namespace hilo {
namespace {

MemoryPicture explain(std::string_view text) {
  const DumpText dump{"dump.txt", text};
  auto picture = read_dumps({&dump, 1});
  EXPECT_TRUE(picture) << to_string(picture.error());
  if (!picture) return {};
  for (const Error& fault : picture->faults) ADD_FAILURE() << to_string(fault);
  find_advice(*picture);
  return *picture;
}

const Advice* find(const MemoryPicture& picture, std::string_view kind, std::string_view words) {
  for (const Advice& advice : picture.advice)
    if (advice.kind == kind && advice.text.find(words) != std::string::npos) return &advice;
  return nullptr;
}

std::string shown(const MemoryPicture& picture) {
  std::string out;
  for (const Advice& advice : picture.advice)
    out += fmt::format("{} {}: {}\n", advice.kind, advice.saved_bytes, advice.text);
  return out;
}

// make -> turned (copy) -> flat (reshape) -> back (copy) -> use: 4000 bytes each, two alive at
// once. With one movement the three moments of two values become one.
constexpr std::string_view chain =
    "BufferAssignment:\n"
    "allocation 0: size 4096, parameter 0, shape |f32[1024]| at ShapeIndex {}:\n"
    " value: <0 x @0> (size=4096,offset=0): f32[1024]{0}\n"
    "allocation 1: size 4, maybe-live-out:\n"
    " value: <6 sum @0> (size=4,offset=0): f32[]\n"
    "allocation 2: size 12288, preallocated-temp:\n"
    " value: <1 make @0> (size=4096,offset=0): f32[32,32]{1,0}\n"
    " value: <2 turned @0> (size=8192,offset=4096): f32[32,32]{0,1}\n"
    " value: <3 flat @0> (size=4096,offset=0): f32[1024]{0}\n"
    "\nTotal bytes used: 16388 (16.0KiB)\n\nUsed values:\n"
    "<0 x @0>\n positions:\n  x\n uses:\n  make, operand 0\n"
    " from instruction: %x = f32[1024]{0} parameter(0)\n"
    "<1 make @0>\n positions:\n  make\n uses:\n  turned, operand 0\n"
    " from instruction: %make = f32[32,32]{1,0} negate(%x), metadata={op_name=\"make\" "
    "source_file=\"/src/model.py\" source_line=7}\n"
    "<2 turned @0>\n positions:\n  turned\n uses:\n  flat, operand 0\n"
    " from instruction: %turned = f32[32,32]{0,1} copy(%make), metadata={op_name=\"t\" "
    "source_file=\"/src/model.py\" source_line=8}\n"
    "<3 flat @0>\n positions:\n  flat\n uses:\n  sum, operand 0\n"
    " from instruction: %flat = f32[1024]{0} reshape(%turned)\n"
    "<6 sum @0>\n positions:\n  sum\n uses:\n  (none)\n"
    " from instruction: %sum = f32[] reduce(%flat, %zero), dimensions={0}, to_apply=%add\n"
    "\nHloLiveRange (max 5):\n"
    "  InstructionSequence:\n    0:x\n    1:make\n    2:turned\n    3:flat\n    4:sum\n"
    "  BufferLiveRange:\n    x{}:0-5\n    make{}:1-2\n    turned{}:2-3\n    flat{}:3-4\n"
    "    sum{}:4-5\n";

TEST(Advice, NamesCopiesThatOneCouldDo) {
  const MemoryPicture picture = explain(chain);
  const Advice* one =
      find(picture, "drop-copies", "drop turned (model.py:8): flat could read make");
  ASSERT_NE(one, nullptr) << shown(picture);
  EXPECT_EQ(one->total_bytes, 4096 + 4 + 8192);  // make and flat
  EXPECT_EQ(one->saved_bytes, 4096);
  const Advice* none = find(picture, "drop-copies", "no turned and flat");
  ASSERT_NE(none, nullptr) << shown(picture);
  EXPECT_EQ(none->total_bytes, 4096 + 4 + 4096);
}

// wide is made at 1, read at 4 only; between, a and b fill the memory.
constexpr std::string_view idle =
    "BufferAssignment:\n"
    "allocation 0: size 4, parameter 0, shape |f32[]| at ShapeIndex {}:\n"
    " value: <0 x @0> (size=4,offset=0): f32[]\n"
    "allocation 1: size 4096, maybe-live-out:\n"
    " value: <5 out @0> (size=4096,offset=0): f32[1024]{0}\n"
    "allocation 2: size 12288, preallocated-temp:\n"
    " value: <1 wide @0> (size=4096,offset=0): f32[1024]{0}\n"
    " value: <2 a @0> (size=4096,offset=4096): f32[1024]{0}\n"
    " value: <3 b @0> (size=4096,offset=8192): f32[1024]{0}\n"
    "\nTotal bytes used: 16388 (16.0KiB)\n\nUsed values:\n"
    "<0 x @0>\n positions:\n  x\n uses:\n  wide, operand 0\n  a, operand 0\n"
    " from instruction: %x = f32[] parameter(0)\n"
    "<1 wide @0>\n positions:\n  wide\n uses:\n  out, operand 1\n"
    " from instruction: %wide = f32[1024]{0} broadcast(%x), dimensions={}\n"
    "<2 a @0>\n positions:\n  a\n uses:\n  b, operand 0\n"
    " from instruction: %a = f32[1024]{0} custom-call(%x), custom_call_target=\"t\"\n"
    "<3 b @0>\n positions:\n  b\n uses:\n  out, operand 0\n"
    " from instruction: %b = f32[1024]{0} custom-call(%a), custom_call_target=\"t\"\n"
    "<5 out @0>\n positions:\n  out\n uses:\n"
    " from instruction: %out = f32[1024]{0} add(%b, %wide)\n"
    "\nHloLiveRange (max 5):\n"
    "  InstructionSequence:\n    0:x\n    1:wide\n    2:a\n    3:b\n    4:out\n"
    "  BufferLiveRange:\n    x{}:0-5\n    wide{}:1-4\n    a{}:2-3\n    b{}:3-4\n    out{}:4-5\n";

TEST(Advice, ComputesAgainWhatLiesIdle) {
  const MemoryPicture picture = explain(idle);
  const Advice* advice = find(picture, "recompute", "compute wide (broadcast) again");
  ASSERT_NE(advice, nullptr) << shown(picture);
  EXPECT_EQ(advice->saved_bytes, 4096);
  EXPECT_EQ(find(picture, "recompute", "compute a "), nullptr) << "a custom call may have effects";
}

TEST(Advice, KeepsWideValuesNarrow) {
  const MemoryPicture picture = explain(idle);
  const Advice* advice = find(picture, "narrow", "keep wide, a, b in bf16 instead of f32");
  ASSERT_NE(advice, nullptr) << shown(picture);
  EXPECT_EQ(advice->saved_bytes, 12288 / 2);
}

// w1 and w2 lie idle while a and b fill the memory, and are read later, one after the other: each
// recomputed alone leaves three values at once, both leave two.
constexpr std::string_view two_idle =
    "BufferAssignment:\n"
    "allocation 0: size 4, parameter 0, shape |s32[]| at ShapeIndex {}:\n"
    " value: <0 x @0> (size=4,offset=0): s32[]\n"
    "allocation 1: size 16384, preallocated-temp:\n"
    " value: <1 w1 @0> (size=4096,offset=0): s32[1024]{0}\n"
    " value: <2 w2 @0> (size=4096,offset=4096): s32[1024]{0}\n"
    " value: <3 a @0> (size=4096,offset=8192): s32[1024]{0}\n"
    " value: <4 b @0> (size=4096,offset=12288): s32[1024]{0}\n"
    "\nUsed values:\n"
    "<0 x @0>\n positions:\n  x\n uses:\n  w1, operand 0\n  w2, operand 0\n"
    " from instruction: %x = s32[] parameter(0)\n"
    "<1 w1 @0>\n positions:\n  w1\n uses:\n  c, operand 0\n"
    " from instruction: %w1 = s32[1024]{0} broadcast(%x), dimensions={}\n"
    "<2 w2 @0>\n positions:\n  w2\n uses:\n  d, operand 0\n"
    " from instruction: %w2 = s32[1024]{0} broadcast(%x), dimensions={}\n"
    "<3 a @0>\n positions:\n  a\n uses:\n  b, operand 0\n"
    " from instruction: %a = s32[1024]{0} custom-call(%x), custom_call_target=\"t\"\n"
    "<4 b @0>\n positions:\n  b\n uses:\n"
    " from instruction: %b = s32[1024]{0} custom-call(%a), custom_call_target=\"t\"\n"
    "\nHloLiveRange (max 7):\n"
    "  InstructionSequence:\n    0:x\n    1:w1\n    2:w2\n    3:a\n    4:b\n    5:c\n    6:d\n"
    "  BufferLiveRange:\n    x{}:0-7\n    w1{}:1-5\n    w2{}:2-6\n    a{}:3-4\n    b{}:4-4\n";

TEST(Advice, TakesWhatHelpsTogether) {
  const MemoryPicture picture = explain(two_idle);
  ASSERT_EQ(picture.combined.size(), 1u) << shown(picture);
  const CombinedAdvice& together = picture.combined[0];
  EXPECT_EQ(together.count, 2);
  EXPECT_EQ(together.total_bytes, 4 + 2 * 4096);
  int64_t marked = 0;
  for (const Advice& advice : picture.advice) {
    EXPECT_EQ(advice.total_bytes, 4 + 3 * 4096) << advice.text;
    marked += advice.is_combined ? 1 : 0;
  }
  EXPECT_EQ(marked, together.count) << shown(picture);
  EXPECT_NE(memory_report(picture).find("those with + that are of"), std::string::npos);
}

TEST(Advice, SaysWhichDimensionIsPadded) {
  const MemoryPicture picture = explain(
      "BufferAssignment:\n"
      "allocation 0: size 4194304, preallocated-temp:\n"
      " value: <1 thin @0> (size=4194304,offset=0): f32[8192,4]{1,0:T(8,128)}\n"
      "\nHloLiveRange (max 2):\n  InstructionSequence:\n    0:thin\n    1:end\n"
      "  BufferLiveRange:\n    thin{}:0-1\n");
  const Advice* advice = find(picture, "unpad", "dimension 1 of 4 takes 128");
  ASSERT_NE(advice, nullptr) << shown(picture);
  EXPECT_NE(advice->text.find("f32[8192,4]{0,1:T(8,128)} would take 256.0KiB"), std::string::npos)
      << advice->text;
  EXPECT_EQ(advice->total_bytes, 262144);
}

TEST(Advice, OffersParametersNobodyReadsAnyMore) {
  const MemoryPicture picture = explain(
      "BufferAssignment:\n"
      "allocation 0: size 4096, parameter 0, shape |f32[1024]| at ShapeIndex {}:\n"
      " value: <0 x @0> (size=4096,offset=0): f32[1024]{0}\n"
      "allocation 1: size 4096, output shape is |f32[1024]|, maybe-live-out:\n"
      " value: <2 out @0> (size=4096,offset=0): f32[1024]{0}\n"
      "allocation 2: size 4096, preallocated-temp:\n"
      " value: <1 a @0> (size=4096,offset=0): f32[1024]{0}\n"
      "\nTotal bytes used: 12288 (12.0KiB)\n\nUsed values:\n"
      "<0 x @0>\n positions:\n  x\n uses:\n  a, operand 0\n"
      " from instruction: %x = f32[1024]{0} parameter(0)\n"
      "\nHloLiveRange (max 3):\n  InstructionSequence:\n    0:x\n    1:a\n    2:out\n"
      "  BufferLiveRange:\n    x{}:0-3\n    a{}:1-2\n    out{}:2-3\n");
  const Advice* advice = find(picture, "donate", "donate parameter 0 (x): out");
  ASSERT_NE(advice, nullptr) << shown(picture);
  EXPECT_EQ(advice->total_bytes, 8192);
}

// Figures of the issue that this dump comes from: a relayout doubles the peak.
TEST(Advice, FindsTheRelayoutsOfAnOlderDump) {
  const std::filesystem::path seeds = HILO_SHARED "/seeds";
  if (!std::filesystem::exists(seeds)) GTEST_SKIP() << "no seeds";
  for (const auto& seed : std::filesystem::directory_iterator(seeds)) {
    const auto text = read_whole_file(seed.path());
    ASSERT_TRUE(text);
    if (dump_kind(*text) != DumpKind::BufferAssignment) continue;
    const MemoryPicture picture = explain(*text);
    int64_t others = 0;  // memory spaces besides the first
    for (const PictureSpace& space : picture.spaces)
      if (space.space != 0) others += space.total_bytes;
    const Advice* repack = find(picture, "repack", "");
    ASSERT_NE(repack, nullptr) << shown(picture);
    EXPECT_LE(repack->total_bytes + others, 1348618760);
    const Advice* copies = find(picture, "drop-copies", "drop copy.3 and reshape.6");
    ASSERT_NE(copies, nullptr) << shown(picture);
    EXPECT_EQ(copies->total_bytes + others, 1178225160);
  }
}

}  // namespace
}  // namespace hilo
