#include <gtest/gtest.h>

#include "text/text.h"

namespace hilo {
namespace {

TEST(ParseShardy, MeshesByName) {
  const auto meshes = parse_shardy_meshes(
      "{mesh = #sdy.mesh<[\"x\"=4, \"y\"=2]>, \"other one\" = #sdy.mesh<[\"a\"=2], "
      "device_ids=[1, 0]>, one = #sdy.mesh<maximal_device_id=3>}");
  ASSERT_TRUE(meshes.has_value()) << to_string(meshes.error());
  ASSERT_EQ(meshes->size(), 3u);
  EXPECT_EQ(meshes->at("mesh")->axes, (std::vector<MeshAxis>{{"x", 4}, {"y", 2}}));
  EXPECT_EQ(meshes->at("other one")->device_ids, (Dims{1, 0}));
  EXPECT_EQ(meshes->at("one")->device_ids, (Dims{3}));
}

// As JAX writes them, and with the backslashes of a string in a string.
TEST(ParseShardy, ShardingsOfValues) {
  const ShardyMeshes meshes = {{"mesh", *make_mesh(Mesh{{{"x", 4}, {"y", 2}}, {}, {}})}};
  const auto list = parse_shardy_shardings(
      "#sdy.sharding_per_value<[<@mesh, [{\\\"x\\\":(2)2, \\\"y\\\", ?}p1, {}], "
      "replicated={\\\"x\\\":(1)2}>, <mesh<[\"a\"=2]>, []>]>",
      meshes);
  ASSERT_TRUE(list.has_value()) << to_string(list.error());
  ASSERT_EQ(list->size(), 2u);
  const AxisSharding& first = list->at(0);
  EXPECT_EQ(first.mesh, meshes.at("mesh"));
  ASSERT_EQ(first.dims.size(), 2u);
  EXPECT_TRUE(first.dims[0].is_open);
  EXPECT_EQ(first.dims[0].priority, 1);
  EXPECT_EQ(first.dims[0].axes, (SubAxes{{0, 2, 2}, {1, 1, 2}}));
  EXPECT_EQ(first.replicated, (SubAxes{{0, 1, 2}}));
  EXPECT_EQ(list->at(1).mesh->axes, (std::vector<MeshAxis>{{"a", 2}}));
  EXPECT_EQ(print_shardy(*list, meshes),
            "#sdy.sharding_per_value<[<@mesh, [{\"x\":(2)2, \"y\", ?}p1, {}], "
            "replicated={\"x\":(1)2}>, <mesh<[\"a\"=2]>, []>]>");
  const auto one = parse_shardy_shardings("#sdy.sharding<@mesh, [{\"x\"}]>", meshes);
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(one->size(), 1u);
}

TEST(ParseShardy, AxesInBothForms) {
  for (const char* text : {"#sdy<manual_axes{\"x\", \"y\"}>", "#sdy.manual_axes{\"x\", \"y\"}"}) {
    const auto axes = parse_shardy_manual_axes(text);
    ASSERT_TRUE(axes.has_value()) << text;
    ASSERT_EQ(axes->size(), 2u);
    EXPECT_EQ(axes->at(1).name, "y");
  }
}

TEST(ParseShardy, MistakesSayWhatWasExpected) {
  const ShardyMeshes meshes = {{"mesh", *make_mesh(Mesh{{{"x", 4}}, {}, {}})}};
  for (const char* text :
       {"", "#sdy.sharding<@mesh, [{\"x\"}]", "#sdy.sharding<@mesh, [{\"x\"}]> z",
        "#sdy.sharding<@mesh, [{x}]>", "#sdy.sharding_per_value<[<@mesh",
        "#sdy.sharding<@mesh, [{\"x\":(99999999999999999999)2}]>"}) {
    const auto out = parse_shardy_shardings(text, meshes);
    ASSERT_FALSE(out.has_value()) << text;
    EXPECT_EQ(out.error().kind, ErrorKind::Syntax) << to_string(out.error());
  }
  const struct {
    const char *text, *message;
  } unsound[] = {
      {"[{\"y\"}]", "the mesh has no axis 'y'"},
      {"[{\"x\"}, {\"x\"}]", "the axis 'x' stands twice"},
      {"[{\"x\"}], replicated={\"x\":(2)2}", "the axes 'x' and 'x':(2)2 overlap"},
      {"[{\"x\":(3)2}]", "the sub-axis (3)2 does not divide axis 'x' of 4"},
  };
  for (const auto& [text, message] : unsound) {
    const auto out =
        parse_shardy_shardings("#sdy.sharding<@mesh, " + std::string(text) + ">", meshes);
    ASSERT_FALSE(out.has_value()) << text;
    EXPECT_EQ(out.error().message, message);
  }
  EXPECT_FALSE(parse_shardy_meshes("{m = #sdy.mesh<[\"x\"=2, \"x\"=2]>}").has_value());
  const auto unknown = parse_shardy_shardings("#sdy.sharding<@other, []>", meshes);
  ASSERT_FALSE(unknown.has_value());
  EXPECT_NE(unknown.error().message.find("'other'"), std::string::npos);
}

}  // namespace
}  // namespace hilo
