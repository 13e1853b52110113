// Pipelines as text, and what the runner promises about passes.
#include <gtest/gtest.h>

#include "rewrite/rewrite.h"
#include "text/text.h"

namespace hilo {
namespace {

Result<bool> rename_once(Module& module, const PassOptions&) {
  if (module.header.name == "renamed") return false;
  module.header.name = "renamed";
  return true;
}
Result<bool> do_nothing(Module&, const PassOptions&) { return false; }
Result<bool> break_root(Module& module, const PassOptions&) {
  Editor editor(module);
  const InstructionId root = module[module.entry].root;
  const Shape scalar = Shape::scalar(ElementType::F32);
  editor.set_root(module.entry, editor.add(root, Op::Add, scalar, std::array{root, root}));
  return true;
}

constexpr Pass passes[] = {
    {"rename", "", rename_once}, {"nothing", "", do_nothing}, {"break", "", break_root}};
constexpr NamedPipeline pipelines[] = {{"both", "", "nothing, rename"}};

Module module() { return *parse("HloModule m\nENTRY e { ROOT x = f32[2] parameter(0) }\n"); }

std::vector<std::string> names(const PipelineReport& report) {
  std::vector<std::string> out;
  for (const PassRun& run : report.runs) out.emplace_back(run.name);
  return out;
}

TEST(Runner, RepeatsUntilNothingChanges) {
  Module m = module();
  const auto pipeline = parse_pipeline("(both)*, nothing", passes, pipelines);
  ASSERT_TRUE(pipeline.has_value()) << pipeline.error().message;
  const auto report = run_pipeline(m, *pipeline);
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->changed);
  // The second round runs `nothing` because `rename` changed the module after it.
  EXPECT_EQ(names(*report),
            (std::vector<std::string>{"nothing", "rename", "nothing", "rename", "nothing"}));
}

TEST(Runner, StopsAfterAndLeavesOut) {
  Module m = module();
  PipelineOptions options;
  options.stop_after = 1;
  auto report = run_pipeline(m, *parse_pipeline("both", passes, pipelines), options);
  EXPECT_EQ(names(*report), (std::vector<std::string>{"nothing"}));
  options.stop_after.reset();
  options.disabled = {"rename"};
  report = run_pipeline(m, *parse_pipeline("both", passes, pipelines), options);
  EXPECT_FALSE(report->changed);
  EXPECT_EQ(m.header.name, "m");
}

TEST(Runner, NamesThePassThatBreaksTheModule) {
  Module m = module();
  PipelineOptions options;
  options.verify = true;
  const auto report = run_pipeline(m, *parse_pipeline("nothing, break", passes), options);
  ASSERT_FALSE(report.has_value());
  EXPECT_NE(report.error().message.find("after pass break (run 2)"), std::string::npos);
}

TEST(Runner, SaysTheNearestName) {
  const auto pipeline = parse_pipeline("renam", passes);
  ASSERT_FALSE(pipeline.has_value());
  EXPECT_EQ(pipeline.error().kind, ErrorKind::Usage);
  EXPECT_NE(pipeline.error().message.find("the nearest is rename"), std::string::npos);
  for (const char* wrong : {"(nothing", "(nothing)", "nothing)", "nothing,", ""})
    EXPECT_FALSE(parse_pipeline(wrong, passes).has_value()) << wrong;
}

}  // namespace
}  // namespace hilo
