// Dumps read back: what they say, what they contradict, and that the texts come out as they stood.
#include <gtest/gtest.h>

#include <filesystem>

#include "report/report.h"
#include "wire/wire.h"

namespace hilo {
namespace {

// Two arrays and a padded one in 3584 bytes of which two lie in one place at different times; an
// argument of 1024 and a result of 512 bytes. `late` is born at 3, when `early` is gone.
constexpr std::string_view assignment =
    "BufferAssignment:\n"
    "allocation 0: size 1024, parameter 0, shape |f32[256]| at ShapeIndex {}:\n"
    " value: <0 x @0> (size=1024,offset=0): f32[256]{0}\n"
    "allocation 1: size 512, output shape is |f32[128]|, maybe-live-out:\n"
    " value: <4 out @0> (size=512,offset=0): f32[128]{0}\n"
    "allocation 2: size 3584, preallocated-temp:\n"
    " value: <1 early @0> (size=2048,offset=0): f32[512]{0}\n"
    " value: <2 middle @0> (size=1536,offset=2048): f32[384]{0}\n"
    " value: <3 late @0> (size=1024,offset=0): f32[256]{0}\n";
constexpr std::string_view live_range =
    "HloLiveRange (max 5):\n"
    "  InstructionSequence:\n"
    "    0:x\n"
    "    1:early\n"
    "    2:middle\n"
    "    3:late\n"
    "    4:out\n"
    "  BufferLiveRange:\n"
    "    x{}:0-5\n"
    "    early{}:1-2\n"
    "    middle{}:2-4\n"
    "    late{}:3-4\n"
    "    out{}:4-5\n"
    "  Live ranges at 2 (peak):\n"
    "    early{}: 2048 bytes (cumulative: 2048 bytes)\n"
    "    middle{}: 1536 bytes (cumulative: 3584 bytes)\n"
    "    x{}: 1024 bytes (cumulative: 4608 bytes)\n";

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out(text);
  const size_t at = out.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? out : out.replace(at, from.size(), to);
}

MemoryPicture read(std::string_view allocations, std::string_view ranges = "") {
  std::vector<DumpText> dumps = {{"a.txt", allocations}};
  if (!ranges.empty()) dumps.push_back({"b.txt", ranges});
  auto picture = read_dumps(dumps);
  EXPECT_TRUE(picture) << to_string(picture.error());
  return picture ? *picture : MemoryPicture();
}

std::string first_fault(const MemoryPicture& picture) {
  return picture.faults.empty() ? "none" : to_string(picture.faults[0]);
}

TEST(ReadDumps, SaysWhatIsInUse) {
  const MemoryPicture picture = read(assignment, live_range);
  EXPECT_EQ(first_fault(picture), "none");
  ASSERT_EQ(picture.spaces.size(), 1u);
  const PictureSpace& space = picture.spaces[0];
  EXPECT_EQ(space.total_bytes, 1024 + 512 + 3584);
  EXPECT_EQ(space.temp_bytes, 3584);
  EXPECT_EQ(space.lower_bound_bytes, 3584);
  EXPECT_EQ(space.in_use, (std::vector<int64_t>{1024, 3072, 4608, 3584, 4096, 1536}));
  EXPECT_EQ(space.peak_moment, 2);
  EXPECT_EQ(space.peak_bytes, 4608);
  EXPECT_EQ(picture.unpadded_peak.moment, 2);
  EXPECT_EQ(picture.unpadded_peak.bytes, 4608);
  const auto at_peak = values_at(picture, 2, 0);
  ASSERT_EQ(at_peak.size(), 3u);
  EXPECT_EQ(picture.name_of(picture.values[at_peak[0]]), "early");
}

TEST(ReadDumps, WithoutRangesNothingIsSaidAboutTime) {
  const MemoryPicture picture = read(assignment);
  EXPECT_EQ(picture.spaces[0].total_bytes, 5120);
  EXPECT_EQ(picture.spaces[0].lower_bound_bytes, -1);
  EXPECT_EQ(picture.spaces[0].peak_moment, -1);
  EXPECT_EQ(picture.unpadded_peak.moment, -1);
  ASSERT_EQ(picture.notes.size(), 1u);
  EXPECT_NE(picture.notes[0].find("no live ranges"), std::string::npos);
}

struct Damage {
  std::string_view name, from, to, says;
  bool in_ranges = false;
};
class DamagedDump : public testing::TestWithParam<Damage> {};
TEST_P(DamagedDump, IsSaid) {
  const Damage& damage = GetParam();
  const auto picture = damage.in_ranges
                           ? read(assignment, replaced(live_range, damage.from, damage.to))
                           : read(replaced(assignment, damage.from, damage.to), live_range);
  const std::string fault = first_fault(picture);
  EXPECT_NE(fault.find(damage.says), std::string::npos) << fault;
  EXPECT_GT(picture.faults.empty() ? 0 : picture.faults[0].place.line, 0);
}
constexpr Damage damages[] = {
    {"value_cut", "(size=1024,offset=0): f32[256]{0}\n", "(size=10", "this value is left out"},
    {"shape_cut", "f32[256]{0}\n", "f32[25\n", "its shape is not one"},
    {"allocation_cut", ", parameter 0, shape |f32[256]| at ShapeIndex {}:", ", param",
     "this allocation is left out"},
    {"value_twice", "<4 out @0>", "<0 out @0>", "value 0 stands here a second time"},
    {"name_twice", "<4 out @0>", "<4 x @0>", "value x{} stands here a second time"},
    {"allocation_twice", "allocation 1:", "allocation 0:", "allocation 0 stands here a second"},
    {"values_too_large", "allocation 2: size 3584", "allocation 2: size 3000",
     "has 3000 bytes, its values reach 3584"},
    {"values_missing", "allocation 2: size 3584", "allocation 2: size 4000", "some are missing"},
    {"huge", "size 3584", "size 99999999999999999", "this allocation is left out"},
    {"overflow", "size=2048", "size=99999999999999999999999", "this value is left out"},
    {"tiles", "(size=512,offset=0): f32[128]{0}", "(size=512,offset=0): f32[128]{0:T(256)}",
     "states 512 bytes; its shape f32[128]{0:T(256)} takes 1024"},
    {"overlap", "(size=1536,offset=2048)", "(size=1536,offset=1024)", "its values reach only 2560"},
    {"moment_missing", "    2:middle\n", "", "expected the instruction of step 2", true},
    {"moment_back", "    2:middle\n", "    1:middle\n", "the schedule goes back", true},
    {"scheduled_twice", "    2:middle\n", "    2:early\n", "early is scheduled a second time",
     true},
    {"max", "(max 5)", "(max 7)", "the schedule has 5 instructions", true},
    {"range_outside", "late{}:3-4", "late{}:3-40", "lies outside of the schedule 0-5", true},
    {"range_backwards", "late{}:3-4", "late{}:4-3", "lies outside", true},
    {"range_twice", "late{}:3-4\n", "late{}:3-4\n    late{}:1-4\n", "second range", true},
    {"unknown_value", "late{}:3-4", "lately{}:3-4", "no allocation holds lately{}", true},
    {"peak", "    x{}: 1024 bytes", "    x{}: 1000 bytes", "the stated peak at 2 is of 4584 bytes",
     true},
    {"noise", "  BufferLiveRange:\n", "Segmentation fault\n  BufferLiveRange:\n",
     "nothing is understood", true},
};
INSTANTIATE_TEST_SUITE_P(ReadDumps, DamagedDump, testing::ValuesIn(damages),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ReadDumps, ValuesThatOverlapAreSaid) {
  const MemoryPicture picture = read(
      "BufferAssignment:\n"
      "allocation 0: size 3072, preallocated-temp:\n"
      " value: <1 early @0> (size=2048,offset=0): f32[512]{0}\n"
      " value: <2 middle @0> (size=2048,offset=1024): f32[512]{0}\n",
      "HloLiveRange (max 3):\n  InstructionSequence:\n    0:early\n    1:middle\n    2:end\n"
      "  BufferLiveRange:\n    early{}:0-2\n    middle{}:1-2\n");
  EXPECT_NE(first_fault(picture).find("early and middle overlap in allocation 0"),
            std::string::npos)
      << first_fault(picture);
}

TEST(ReadDumps, UsesOfAValueThatWasLeftOutBelongToNone) {
  const std::string dump = replaced(assignment, "<4 out @0>", "<4 x @0>") +
                           "\nUsed values:\n<4 x @0>\n positions:\n  x\n uses:\n  late, operand 0\n"
                           " from instruction: %x = f32[256]{0} parameter(0)\n";
  const MemoryPicture picture = read(dump, live_range);
  EXPECT_NE(first_fault(picture).find("value x{} stands here a second time"), std::string::npos)
      << first_fault(picture);
}

TEST(ReadDumps, NothingLeftIsAnError) {
  const DumpText dump{"a.txt", "BufferAssignment:\nallocation 0: si"};
  const auto picture = read_dumps({&dump, 1});
  ASSERT_FALSE(picture);
  EXPECT_EQ(picture.error().place.line, 2);
}

TEST(ReadDumps, TextsComeOutAsTheyStood) {
  const MemoryPicture picture = read(assignment, live_range);
  EXPECT_EQ(buffer_assignment_text(picture), assignment);
}

TEST(DumpKind, IsToldByContent) {
  EXPECT_EQ(dump_kind(assignment), DumpKind::BufferAssignment);
  EXPECT_EQ(dump_kind(live_range), DumpKind::LiveRange);
  EXPECT_EQ(dump_kind("\n\nMemory Space: vmem (color=1)\n"), DumpKind::MemoryUsage);
  EXPECT_EQ(dump_kind("\nTotal bytes used: 3 (3B)\n\nUsed values:\n"), DumpKind::Values);
  EXPECT_EQ(dump_kind("Traceback:\n  x: Ran out of memory in memory space hbm. Used 2G of 1G hbm."),
            DumpKind::OutOfMemory);
  EXPECT_EQ(dump_kind("HloModule m\nENTRY e {\n"), std::nullopt);
  EXPECT_EQ(dump_kind(""), std::nullopt);
}

// Where the corpus is: everything in XLA's own dumps is understood, and comes out the same.
class Corpus : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(HILO_SHARED "/corpus/tpu")) GTEST_SKIP() << "no corpus";
  }
};

std::string file(const std::filesystem::path& path) {
  auto text = read_whole_file(path);
  EXPECT_TRUE(text) << path;
  return text ? *text : "";
}

TEST_F(Corpus, DumpsAreUnderstoodAndComeOutTheSame) {
  int count = 0;
  for (const char* family : {"tpu", "gpu"})
    for (const auto& folder : std::filesystem::directory_iterator(
             std::filesystem::path(HILO_SHARED "/corpus") / family)) {
      SCOPED_TRACE(folder.path().string());
      const std::string allocations = file(folder.path() / "buffer-assignment.txt");
      const std::string ranges = file(folder.path() / "live-range.txt");
      const std::string usage = file(folder.path() / "memory-usage-report.txt");
      const MemoryPicture picture = read(allocations, ranges);
      EXPECT_EQ(first_fault(picture), "none");
      EXPECT_EQ(buffer_assignment_text(picture), allocations);
      EXPECT_EQ(memory_usage_text(picture), usage);
      const MemoryPicture used = read(usage);
      EXPECT_EQ(first_fault(used), "none");
      for (const PictureSpace& space : used.spaces)
        for (const PictureSpace& known : picture.spaces)
          if (space.space == known.space) {
            EXPECT_EQ(space.total_bytes, known.total_bytes + known.thread_local_bytes);
          }
      ++count;
    }
  EXPECT_GT(count, 20);
}

TEST_F(Corpus, AnOlderDumpComesOutTheSame) {
  for (const auto& seed : std::filesystem::directory_iterator(HILO_SHARED "/seeds")) {
    const std::string text = file(seed.path());
    if (dump_kind(text) != DumpKind::BufferAssignment) continue;
    const MemoryPicture picture = read(text);
    EXPECT_EQ(first_fault(picture), "none");
    EXPECT_EQ(picture.spaces[0].total_bytes + picture.spaces[1].total_bytes +
                  picture.spaces[2].total_bytes,
              1348651528);
    EXPECT_EQ(older_dump_text(picture), text);
  }
}

}  // namespace
}  // namespace hilo
