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
  EXPECT_EQ(meshes->at("mesh").axes, (std::vector<MeshAxis>{{"x", 4}, {"y", 2}}));
  EXPECT_EQ(meshes->at("other one").device_ids, (Dims{1, 0}));
  EXPECT_EQ(meshes->at("one").device_ids, (Dims{3}));
}

// As JAX writes them, and with the backslashes of a string in a string.
TEST(ParseShardy, ShardingsOfValues) {
  const ShardyMeshes meshes = {{"mesh", Mesh{{{"x", 4}, {"y", 2}}, {}, {}}}};
  const auto list = parse_shardy_shardings(
      "#sdy.sharding_per_value<[<@mesh, [{\\\"x\\\":(2)2, \\\"y\\\", ?}p1, {}], "
      "replicated={\\\"x\\\":(1)2}>, <mesh<[\"a\"=2]>, []>]>",
      meshes);
  ASSERT_TRUE(list.has_value()) << to_string(list.error());
  ASSERT_EQ(list->size(), 2u);
  const Sharding& first = list->at(0);
  EXPECT_EQ(first.kind, Sharding::Kind::Mesh);
  EXPECT_EQ(first.mesh, meshes.at("mesh"));
  ASSERT_EQ(first.mesh_dims.size(), 2u);
  EXPECT_TRUE(first.mesh_dims[0].open);
  ASSERT_EQ(first.mesh_dims[0].axes.size(), 2u);
  EXPECT_EQ(first.mesh_dims[0].axes[0].sub, (std::pair<int64_t, int64_t>{2, 2}));
  EXPECT_EQ(first.mesh_dims[0].axes[1].name, "y");
  ASSERT_EQ(first.replicated_axes.size(), 1u);
  EXPECT_EQ(list->at(1).mesh.axes, (std::vector<MeshAxis>{{"a", 2}}));
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
  const ShardyMeshes meshes = {{"mesh", Mesh{{{"x", 4}}, {}, {}}}};
  for (const char* text :
       {"", "#sdy.sharding<@mesh, [{\"x\"}]", "#sdy.sharding<@mesh, [{\"x\"}]> z",
        "#sdy.sharding<@mesh, [{x}]>", "#sdy.sharding_per_value<[<@mesh",
        "#sdy.sharding<@mesh, [{\"x\":(99999999999999999999)2}]>"}) {
    const auto out = parse_shardy_shardings(text, meshes);
    ASSERT_FALSE(out.has_value()) << text;
    EXPECT_EQ(out.error().kind, ErrorKind::Syntax) << to_string(out.error());
  }
  const auto unknown = parse_shardy_shardings("#sdy.sharding<@other, []>", meshes);
  ASSERT_FALSE(unknown.has_value());
  EXPECT_NE(unknown.error().message.find("'other'"), std::string::npos);
}

}  // namespace
}  // namespace hilo
