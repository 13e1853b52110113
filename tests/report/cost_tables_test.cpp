// Costs by op and by source line, and what a chip's rates make of them.
#include <gtest/gtest.h>

#include "report/report.h"

namespace hilo {
namespace {

MemoryPicture picture_on(const std::string& machine) {
  MemoryPicture picture;
  picture.module_name = "m";
  picture.machine = machine;
  PictureInstruction dot{.name = "dot.1",
                         .op = "dot",
                         .source_file = "a/model.py",
                         .source_line = 7,
                         .moment = 0,
                         .has_cost = true};
  dot.cost = {.flops = 1.97e12, .bytes_read = 4e8, .bytes_written = 4.19e8};
  PictureInstruction add{.name = "add.1", .op = "add", .moment = 1, .has_cost = true};
  add.cost = {.flops = 1e9, .bytes_read = 8.19e8, .runs = 10};
  picture.instructions = {dot, add};
  picture.sequence = {0, 1};
  return picture;
}

std::string line_with(const std::string& report, const std::string& end) {
  for (size_t from = 0; from < report.size();) {
    const size_t stop = std::min(report.find('\n', from), report.size());
    const std::string line = report.substr(from, stop - from);
    if (line.ends_with(end)) return line;
    from = stop + 1;
  }
  return "";
}

TEST(CostTables, TheRooflineOfAKnownChip) {  // v5e: 197 Tflop/s, 819 GB/s
  const std::string report = memory_report(picture_on("v5e"));
  const std::string dot = line_with(report, " dot"), add = line_with(report, " add");
  EXPECT_NE(dot.find("1.97T"), dot.npos) << report;
  EXPECT_NE(dot.find("10.00 ms"), dot.npos) << report;  // against 1 ms for its bytes
  EXPECT_NE(dot.find("compute"), dot.npos) << report;
  EXPECT_NE(add.find("8.19G"), add.npos) << report;  // ten runs
  EXPECT_NE(add.find("10.00 ms"), add.npos) << report;
  EXPECT_NE(add.find("memory"), add.npos) << report;
  EXPECT_NE(report.find("model.py:7"), report.npos) << report;
}

TEST(CostTables, NoRatesNoRoofline) {
  const std::string report = memory_report(picture_on("cpu"));
  EXPECT_NE(line_with(report, " dot"), "") << report;
  EXPECT_EQ(report.find("at best"), report.npos) << report;
}

}  // namespace
}  // namespace hilo
