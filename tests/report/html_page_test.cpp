// The page as text; tests/report/page_test.py looks at it in a browser.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/report.h"

namespace hilo {
namespace {

using nlohmann::json;

MemoryPicture picture_with(const std::string& name) {
  MemoryPicture picture;
  picture.module_name = name;
  picture.instructions = {{.name = name,
                           .op = "fusion",
                           .op_name = name,
                           .computation = "main",
                           .source_file = name,
                           .source_line = 7,
                           .moment = 0},
                          {.name = "user", .op = "negate", .computation = "main", .moment = 1}};
  picture.sequence = {0, 1};
  picture.allocations = {{.number = 3, .bytes = 4096, .parameter = 2, .parameter_index = {1, 0}},
                         {.number = 4, .bytes = 512, .is_temp = true}};
  PictureValue value;
  value.number = 5, value.defined = {.instruction = 0, .has_index = true, .index = {1}};
  value.shape = "f32[8]{0}", value.bytes = 64, value.unpadded_bytes = 32;
  value.allocation = 1, value.offset = 128, value.start = 0, value.end = 1;
  value.uses = {{.instruction = 1, .operand = 0}};
  picture.values = {value};
  picture.spaces = {{.name = "hbm",
                     .total_bytes = 4608,
                     .temp_bytes = 512,
                     .in_use = {4160, 4160},
                     .peak_moment = 0,
                     .peak_bytes = 4160}};
  return picture;
}

// The text between the data element's tags.
std::string data_of(const std::string& page) {
  const std::string tag = "<script id=\"data\" type=\"application/json\">";
  const size_t from = page.find(tag);
  EXPECT_NE(from, page.npos);
  const size_t begin = from + tag.size();
  return page.substr(begin, page.find("</script>", begin) - begin);
}

TEST(HtmlPage, HoldsTheLimitOfTheFirstSpace) {
  MemoryPicture picture = picture_with("fusion.1");
  picture.spaces.push_back({.space = 1, .name = "vmem"});
  picture.limit = 4000;
  const json data = json::parse(data_of(html_page(picture)));
  EXPECT_EQ(data["spaces"][0]["limit"], 4000);
  EXPECT_EQ(data["spaces"][1]["limit"], 0);
}

TEST(HtmlPage, HoldsThePictureInColumns) {
  const std::string page = html_page(picture_with("fusion.1"));
  const json data = json::parse(data_of(page));
  const auto text = [&](const json& number) { return data["texts"][number.get<size_t>()]; };
  EXPECT_EQ(data["module"], "fusion.1");
  EXPECT_EQ(data["values"]["bytes"], json({64}));
  EXPECT_EQ(data["values"]["offset"], json({128}));
  EXPECT_EQ(text(data["values"]["index"][0]), "{1}");
  EXPECT_EQ(text(data["instructions"]["name"][0]), "fusion.1");
  EXPECT_EQ(text(data["instructions"]["op"][1]), "negate");
  EXPECT_EQ(data["spaces"][0]["limit"], 0);
  EXPECT_EQ(data["use_instructions"], json({1}));
  EXPECT_EQ(text(data["allocations"]["label"][0]), " 2{1,0}");
  EXPECT_EQ(data["allocations"]["kind"], json({0, 3}));
  EXPECT_EQ(data["spaces"][0]["in_use"], json({4160, 4160}));
}

TEST(HtmlPage, NamesDoNoHarm) {
  const std::string evil = "</script><script>alert(1)</script><!--\"'\\\n\x01@DATA@ \xff";
  const std::string page = html_page(picture_with(evil));
  EXPECT_EQ(page.find("alert(1)</script>"), page.npos);
  const std::string data = data_of(page);
  EXPECT_EQ(data.find('<'), data.npos);
  const json parsed = json::parse(data);
  const std::string name = parsed["module"];
  EXPECT_EQ(name.substr(0, evil.size() - 1), evil.substr(0, evil.size() - 1));
  EXPECT_EQ(name.substr(evil.size() - 1), "\xef\xbf\xbd");  // what was no UTF-8
}

TEST(HtmlPage, IsOneFile) {
  const std::string page = html_page(picture_with("a"));
  for (const char* outside :
       {"http://", "https://", "src=", "@import", "url(", "fetch(", "@STYLE@"})
    EXPECT_EQ(page.find(outside), page.npos) << outside;
  EXPECT_EQ(page, html_page(picture_with("a")));
}

TEST(HtmlPage, AnEmptyPictureIsAPageToo) {
  const json data = json::parse(data_of(html_page({})));
  EXPECT_TRUE(data["values"]["bytes"].empty());
}

}  // namespace
}  // namespace hilo
