// Pictures of plans, and their texts read back.
#include <gtest/gtest.h>

#include <filesystem>

#include "report/report.h"
#include "wire/wire.h"

namespace hilo {
namespace {

constexpr std::string_view header =
    "HloModule wide, is_scheduled=true, entry_computation_layout={(f32[1024]{0})->(f32[], "
    "f32[256,1024]{1,0})}\n";
constexpr std::string_view tables =
    "\nFileNames\n1 \"/src/model.py\"\n2 \"/src/layers.py\"\n\nFunctionNames\n1 \"main\"\n2 "
    "\"f\"\n\n"
    "FileLocations\n"
    "1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=2}\n"
    "2 {file_name_id=2 function_name_id=2 line=41 end_line=41 column=1 end_column=2}\n\n"
    "StackFrames\n1 {file_location_id=1 parent_frame_id=1}\n"
    "2 {file_location_id=2 parent_frame_id=2}\n\n";
constexpr std::string_view body = R"(
%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}

ENTRY %main (x: f32[1024]) -> (f32[], f32[256,1024]) {
  %x = f32[1024]{0} parameter(0)
  %zero = f32[] constant(0)
  %rows = f32[256,1024]{1,0} broadcast(%x), dimensions={1}, metadata={op_name="rows" stack_frame_id=2}
  %product = f32[256,256]{1,0} dot(%rows, %rows), lhs_contracting_dims={1}, rhs_contracting_dims={1}, metadata={op_name="product" source_file="/src/old.py" source_line=8}
  %total = f32[] reduce(%product, %zero), dimensions={0,1}, to_apply=%add
  %twice = f32[256,1024]{1,0} add(%rows, %rows)
  ROOT %result = (f32[], f32[256,1024]{1,0}) tuple(%total, %twice)
}
)";

struct Explained {
  Module module;
  Plan plan;
  const Machine* machine = nullptr;
  MemoryPicture picture;
};

Explained explain(Module module, std::string_view machine, bool older = false) {
  Explained out{std::move(module), {}, find_machine(machine), {}};
  auto made = plan(out.module, *out.machine);
  EXPECT_TRUE(made) << to_string(made.error());
  if (!made) return out;
  out.plan = std::move(*made);
  out.picture = picture_of(out.module, *out.machine, out.plan,
                           {.instruction_texts = true, .older_texts = older, .costs = true});
  return out;
}

Explained explain_text(std::string_view machine, bool older = false) {
  auto module = parse(std::string(header) + std::string(tables) + std::string(body));
  EXPECT_TRUE(module) << to_string(module.error());
  return explain(std::move(*module), machine, older);
}

const PictureValue& value_named(const MemoryPicture& picture, std::string_view name) {
  for (const PictureValue& value : picture.values)
    if (picture.name_of(value) == name) return value;
  ADD_FAILURE() << "no value " << name;
  return picture.values.front();
}

TEST(Picture, KnowsSourcesThroughStackFrames) {
  const MemoryPicture picture = explain_text("cpu").picture;
  EXPECT_EQ(picture.source_of(value_named(picture, "rows")), "/src/layers.py:41");
  EXPECT_EQ(picture.source_of(value_named(picture, "product")), "/src/old.py:8");
  EXPECT_EQ(picture.source_of(value_named(picture, "x")), "");
}

TEST(Picture, AddsUpWhatIsInUse) {
  const MemoryPicture picture = explain_text("cpu").picture;
  ASSERT_EQ(picture.spaces.size(), 1u);
  const PictureSpace& space = picture.spaces[0];
  ASSERT_EQ(space.in_use.size(), picture.sequence.size() + 1);
  for (size_t moment = 0; moment < space.in_use.size(); ++moment) {
    int64_t sum = 0;
    for (const size_t v : values_at(picture, static_cast<int64_t>(moment), 0))
      sum += picture.values[v].bytes;
    EXPECT_EQ(sum, space.in_use[moment]) << moment;
  }
  EXPECT_EQ(space.peak_bytes, space.in_use[static_cast<size_t>(space.peak_moment)]);
  EXPECT_LE(space.lower_bound_bytes, space.temp_bytes);
  EXPECT_LE(space.peak_bytes, space.total_bytes);
}

TEST(Picture, SizesAreTheMachines) {
  const MemoryPicture gpu = explain_text("h100_sxm").picture, tpu = explain_text("v5e").picture;
  EXPECT_EQ(value_named(gpu, "result{}").bytes, 16);
  EXPECT_EQ(value_named(tpu, "result{}").bytes, 512);
  EXPECT_EQ(value_named(tpu, "result{}").unpadded_bytes, 16);
}

void expect_read_back(const Explained& made, const MemoryPicture& read) {
  for (const Error& fault : read.faults) ADD_FAILURE() << to_string(fault);
  ASSERT_EQ(read.spaces.size(), made.picture.spaces.size());
  for (size_t i = 0; i < read.spaces.size(); ++i) {
    EXPECT_EQ(read.spaces[i].total_bytes, made.picture.spaces[i].total_bytes) << i;
    EXPECT_EQ(read.spaces[i].temp_bytes, made.picture.spaces[i].temp_bytes) << i;
    EXPECT_EQ(read.spaces[i].in_use, made.picture.spaces[i].in_use) << i;
  }
  EXPECT_EQ(read.unpadded_peak.moment, made.picture.unpadded_peak.moment);
  EXPECT_EQ(read.unpadded_peak.bytes, made.picture.unpadded_peak.bytes);
  EXPECT_EQ(buffer_assignment_text(read), buffer_assignment_text(made.picture));
}

MemoryPicture read_back(const Explained& made) {
  const std::string assignment = buffer_assignment_text(made.picture);
  const std::string values = values_text(made.picture);
  const std::string ranges = live_range_text(made.module, made.plan.aliases, made.plan.liveness);
  const std::string usage = memory_usage_text(made.picture);
  const std::vector<DumpText> dumps = {
      {"a", assignment}, {"v", values}, {"l", ranges}, {"u", usage}};
  auto read = read_dumps(dumps, {.module = nullptr, .machine = made.machine});
  EXPECT_TRUE(read) << to_string(read.error());
  return read ? *read : MemoryPicture();
}

TEST(Picture, TextsAreReadBack) {
  for (const char* machine : {"cpu", "h100_sxm", "v5e"}) {
    SCOPED_TRACE(machine);
    const Explained made = explain_text(machine);
    expect_read_back(made, read_back(made));
  }
}

TEST(Picture, TheOlderTextIsReadBack) {
  const Explained made = explain_text("cpu", true);
  const std::string text = older_dump_text(made.picture);
  const DumpText dump{"a", text};
  const auto read = read_dumps({&dump, 1});
  ASSERT_TRUE(read) << to_string(read.error());
  expect_read_back(made, *read);
  EXPECT_EQ(older_dump_text(*read), text);
}

TEST(Picture, ReportSaysWhatThePictureHolds) {
  Explained made = explain_text("cpu");
  find_advice(made.picture, made.module, *made.machine);
  made.picture.limit = 1000;
  const std::string report = memory_report(made.picture);
  for (const char* words : {"layers.py:41", "peak in use (allocated, padded)", "XLA's peak",
                            "does not fit", "What would help", "flops/byte", "step  0"})
    EXPECT_NE(report.find(words), std::string::npos) << words << "\n" << report;
  EXPECT_FALSE(made.picture.fits());
}

TEST(Picture, StrangersBytesDoNotReachTheTerminal) {
  Explained made = explain_text("cpu");
  made.picture.module_name = "\033[31mred";
  for (PictureInstruction& instruction : made.picture.instructions)
    instruction.op_name = "a\033]0;title\007b\n";
  const std::string report = memory_report(made.picture);
  EXPECT_EQ(report.find('\033'), std::string::npos);
  EXPECT_EQ(report.find('\007'), std::string::npos);
}

std::string file(const std::filesystem::path& path) {
  auto text = read_whole_file(path);
  EXPECT_TRUE(text) << path;
  return text ? *text : "";
}

// "v5e_2x2" of "rnn_scan.v5e_2x2".
std::string machine_of(const std::filesystem::path& folder) {
  const std::string name = folder.filename();
  return name.substr(name.rfind('.') + 1);
}

TEST(PictureCorpus, PlansOfCompiledModulesAreReadBackAndPeakWhereXlaSays) {
  const std::filesystem::path corpus = HILO_SHARED "/corpus";
  if (!std::filesystem::exists(corpus)) GTEST_SKIP() << "no corpus";
  for (const char* family : {"tpu", "gpu"})
    for (const auto& folder : std::filesystem::directory_iterator(corpus / family)) {
      SCOPED_TRACE(folder.path().string());
      auto module = read_module_file(folder.path() / "after.hlo");
      ASSERT_TRUE(module) << to_string(module.error());
      const Explained made = explain(std::move(*module), machine_of(folder.path()));
      expect_read_back(made, read_back(made));
      const std::string ranges = file(folder.path() / "live-range.txt");
      const DumpText dump{"live-range.txt", ranges};
      const auto xla = read_dumps({&dump, 1});
      ASSERT_TRUE(xla);
      EXPECT_EQ(made.picture.unpadded_peak.moment, xla->unpadded_peak.moment);
      EXPECT_EQ(made.picture.unpadded_peak.bytes, xla->unpadded_peak.bytes);
    }
}

}  // namespace
}  // namespace hilo
