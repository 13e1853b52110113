#include <gtest/gtest.h>

#include "random_sharding.h"
#include "text/text.h"

namespace hilo {
namespace {

SharedMesh xy(int64_t x, int64_t y) { return *make_mesh(Mesh{{{"x", x}, {"y", y}}, {}, {}}); }

AxisSharding shardy(const SharedMesh& mesh, const std::string& dims) {
  const auto out = parse_shardy_shardings("#sdy.sharding<@m, " + dims + ">", {{"m", mesh}});
  EXPECT_TRUE(out) << to_string(out.error());
  return out->at(0);
}

std::string shardy_text(const AxisSharding& sharding) {
  return print_shardy(sharding, {{"m", sharding.mesh}});
}

TEST(AxisSharding, TilesAreInTheCanonicalForm) {
  const struct {
    SharedMesh mesh;
    const char *axes, *tiles;
  } cases[] = {
      {xy(2, 2), "[{\"x\"}, {}]", "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"},
      {xy(2, 2), "[{\"y\"}, {}]", "{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}"},
      {xy(2, 4), "[{\"y\"}, {\"x\"}]", "{devices=[4,2]<=[2,4]T(1,0)}"},
      {xy(2, 4), "[{\"x\", \"y\"}, {}]", "{devices=[8,1]<=[8]}"},
      {xy(2, 4), "[{\"y\":(2)2}, {}]", "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}"},
      {xy(2, 4), "[{\"y\":(1)2, \"x\"}]",
       "{devices=[4,2]<=[2,2,2]T(1,0,2) last_tile_dim_replicate}"},
      {xy(2, 4), "[{}, {}]", "{replicated}"},
      {xy(1, 1), "[{\"x\"}, {}]", "{replicated}"},
      {xy(2, 4), "[{}, {}], unreduced={\"x\", \"y\"}", "{unreduced}"},
      {xy(2, 4), "[{\"x\"}, {}], unreduced={\"y\"}",
       "{devices=[2,1,4]<=[8] last_tile_dims={unreduced}}"},
      {*make_mesh(Mesh{{{"x", 2}, {"y", 2}}, {}, {0, 2, 1, 3}}), "[{\"x\"}, {\"y\"}]",
       "{devices=[2,2]<=[2,2]T(1,0)}"},
      {*make_mesh(Mesh{{{"x", 4}}, {}, {3, 1, 2, 0}}), "[{\"x\"}]", "{devices=[4]3,1,2,0}"},
      {*make_mesh(Mesh{{}, {}, {3}}), "[{}]", "{maximal device=3}"},
  };
  for (const auto& [mesh, axes, tiles] : cases)
    EXPECT_EQ(print(tile_sharding(shardy(mesh, axes))), tiles) << axes;
}

TEST(AxisSharding, TilesAreReadAsAxesOfTheMesh) {
  const struct {
    const char *tiles, *axes;
  } cases[] = {
      {"{devices=[2,1,4]<=[8] last_tile_dim_replicate}", "[{\"x\"}, {}]"},
      {"{devices=[4,2]<=[8]}", "[{\"x\", \"y\":(1)2}, {\"y\":(2)2}]"},
      {"{devices=[4,2]<=[2,4]T(1,0)}", "[{\"y\"}, {\"x\"}]"},
      {"{devices=[4,2]0,4,1,5,2,6,3,7}", "[{\"y\"}, {\"x\"}]"},
      {"{replicated}", "[{}, {}]"},
      {"{unknown}", "[{?}, {?}]"},
      {"{mesh['x'=2,'y'=4], [{'y', ?}, {}], replicated={'x'}}",
       "[{\"y\", ?}, {}], replicated={\"x\"}"},
  };
  for (const auto& [tiles, axes] : cases) {
    const auto sharding = axis_sharding(*parse_sharding(tiles), 2, xy(2, 4));
    ASSERT_TRUE(sharding) << tiles << to_string(sharding.error());
    EXPECT_EQ(shardy_text(*sharding), "#sdy.sharding<@m, " + std::string(axes) + ">") << tiles;
  }
}

TEST(AxisSharding, ManualAxesAreSubgroups) {
  const struct {
    const char* text;
    size_t rank;
  } cases[] = {{"{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dims={manual}}", 2},
               {"{devices=[1,2,2]<=[4] last_tile_dims={manual}}", 2},
               {"{manual}", 2},
               {"{devices=[1,1,2,2]<=[4] last_tile_dims={manual, replicated}}", 2},
               {"{devices=[2,2]<=[4] last_tile_dims={manual, replicated}}", 0}};
  for (const auto& [text, rank] : cases) {
    const auto axes = axis_sharding(*parse_sharding(text), rank, xy(2, 2));
    ASSERT_TRUE(axes) << text << to_string(axes.error());
    EXPECT_FALSE(axes->manual.empty()) << text;
    EXPECT_EQ(print(tile_sharding(*axes)), text);
  }
}

// Neither the mesh nor any iota has that order, or a dimension ends within an axis.
TEST(AxisSharding, OtherOrdersHaveAMeshOfTheirOwn) {
  for (const char* text : {"{devices=[2,4]0,1,2,3,5,4,7,6}", "{devices=[4,2]0,7,1,6,2,5,3,4}"}) {
    const auto axes = axis_sharding(*parse_sharding(text), 2, xy(2, 4));
    ASSERT_TRUE(axes) << text;
    EXPECT_EQ(axes->mesh->device_ids.size(), 8u);
    EXPECT_EQ(print(tile_sharding(*axes)), text);
  }
  const auto axes = axis_sharding(*parse_sharding("{devices=[3,2]<=[2,3]T(1,0)}"), 2, xy(3, 2));
  ASSERT_TRUE(axes);
  EXPECT_EQ(axes->mesh->axes.size(), 1u);
  EXPECT_EQ(print(tile_sharding(*axes)), "{devices=[3,2]<=[2,3]T(1,0)}");
}

TEST(AxisSharding, MistakesSayWhatWasExpected) {
  const struct {
    const char *text, *message;
  } cases[] = {
      {"{devices=[2,1]<=[2]}", "expected a sharding over 8 devices, found 2"},
      {"{devices=[8]<=[8]}", "expected tiles in 2 dimensions in a sharding, found 1"},
      {"{devices=[4,2]0,1,2,3,4,5,6,6}", "device 6 stands twice in a sharding"},
      {"{devices=[4,2]0,1,2,3,4,5,6,8}", "expected devices from 0 to 7 in a sharding, found 8"},
      {"{mesh['x'=2,'y'=4], [{'z'}, {}]}", "the mesh has no axis 'z'"},
      {"{mesh['x'=2,'y'=4], [{'x'}, {'x'}]}", "the axis 'x' stands twice"},
      {"{mesh['x'=2,'y'=4], [{'y':(1)3}, {}]}", "the sub-axis (1)3 does not divide axis 'y' of 4"},
      {"{mesh['x'=2,'y'=4], [{'y'}, {'y':(2)2}]}", "the axes 'y' and 'y':(2)2 overlap"},
      {"{mesh['x'=2,'y'=4], [{'x'}], manual={'y'}}",
       "expected 2 dimensions in a sharding, found 1"},
      {"{mesh['x'=2], [{'x'}, {}]}", "expected a mesh of 8 devices, found 2"},
      {"{{replicated}}", "expected the sharding of one array, found that of a tuple"},
  };
  for (const auto& [text, message] : cases) {
    const auto axes = axis_sharding(*parse_sharding(text), 2, xy(2, 4));
    ASSERT_FALSE(axes) << text;
    EXPECT_EQ(axes.error().message, message) << text;
  }
  for (const Mesh& mesh :
       {Mesh{{{"x", 2}, {"x", 2}}, {}, {}}, Mesh{{{"x", 0}}, {}, {}}, Mesh{{{"x", 2}}, {}, {1, 1}},
        Mesh{{{"x", 2}}, {}, {1, 2}}, Mesh{{{"x", 2}}, {}, {1}},
        Mesh{{{"x", 1 << 20}, {"y", 1 << 20}}, {}, {}}})
    EXPECT_FALSE(make_mesh(mesh));
}

TEST(AxisSharding, OneShardingIsThatOfAllLeaves) {
  const Shape shape = *parse_shape("(f32[8,8], (f32[8], token[]))");
  const auto all = axis_shardings(*parse_sharding("{replicated}"), shape, xy(2, 4));
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 3u);
  const auto each = axis_shardings(
      *parse_sharding("{{devices=[8,1]<=[8]}, {devices=[8]<=[8]}, {replicated}}"), shape, xy(2, 4));
  ASSERT_TRUE(each) << to_string(each.error());
  EXPECT_EQ(axes_size(each->at(1).dims[0].axes), 8);
  EXPECT_FALSE(axis_shardings(*parse_sharding("{{replicated}}"), shape, xy(2, 4)));
}

class RandomAxes : public testing::TestWithParam<int> {};

// A list of devices for each tile, as the first form has it.
Sharding as_device_list(Sharding sharding) {
  if (!sharding.iota) return sharding;
  sharding.devices = sharding.iota->expand();
  sharding.iota.reset();
  return sharding;
}

TEST_P(RandomAxes, RoundTripOverAllForms) {
  RandomSharding random(GetParam());
  for (int round = 0; round < 500; ++round) {
    const SharedMesh mesh = random.mesh(Dims{1, 2, 3, 4, 6, 8}, 3, true);
    const size_t rank = static_cast<size_t>(random.number(4));
    const AxisSharding sharding = random.sharding(mesh, rank, true);
    const auto expected = meaning_of(sharding);
    const auto same = [&](const Sharding& form, const SharedMesh& over) {
      const auto parsed = parse_sharding(print(form));
      ASSERT_TRUE(parsed) << print(form);
      const auto back = axis_sharding(*parsed, rank, over);
      ASSERT_TRUE(back) << print(form) << to_string(back.error());
      EXPECT_EQ(meaning_of(*back), expected) << print(form) << " of " << shardy_text(sharding);
    };
    const Sharding tiles = tile_sharding(sharding);
    for (const SharedMesh& over : {mesh, flat_mesh(mesh_size(*mesh))}) {
      same(tiles, over);
      same(as_device_list(tiles), over);
      same(named_sharding(sharding), over);
    }
    if (mesh->device_ids.empty() && !mesh->device_iota) {  // canonical
      EXPECT_EQ(print(tile_sharding(*axis_sharding(tiles, rank, flat_mesh(mesh_size(*mesh))))),
                print(tiles));
    }
    AxisSharding without_manual = sharding;
    without_manual.manual.clear();
    const ShardyMeshes meshes = {{"m", mesh}};
    const auto back = parse_shardy_shardings(print_shardy(without_manual, meshes), meshes);
    ASSERT_TRUE(back) << to_string(back.error());
    EXPECT_EQ(back->at(0), without_manual) << shardy_text(without_manual);
  }
}

TEST_P(RandomAxes, TilesPartitionTheArray) {
  RandomSharding random(GetParam() + 100);
  for (int round = 0; round < 300; ++round) {
    const SharedMesh mesh = random.mesh(Dims{1, 2, 3, 4}, 3, true);
    const AxisSharding sharding = random.sharding(mesh, 2, false);
    const Dims dims = {random.number(14), random.number(14)};
    const DeviceTiles tiles(sharding, dims);
    Dims tile(2, 0);
    std::vector<int64_t> covered(dims[0] * dims[1]);
    const int64_t other = random.number(tiles.devices());
    do {
      const int64_t device = tiles.holder(tile, other);
      ASSERT_EQ(tiles.tile_of(device), tile);
      const ArrayBox box = tiles.box_of(device);
      for (int64_t i = 0; i < box.sizes[0]; ++i)
        for (int64_t k = 0; k < box.sizes[1]; ++k)
          ++covered[(box.offset[0] + i) * dims[1] + box.offset[1] + k];
    } while (next_index(tile, tiles.counts()));
    for (int64_t times : covered) ASSERT_EQ(times, 1);
    EXPECT_EQ(tiles.holder(tiles.tile_of(other), other), other);
  }
}

TEST_P(RandomAxes, GroupsDifferAlongTheirAxesAlone) {
  RandomSharding random(GetParam() + 200);
  for (int round = 0; round < 300; ++round) {
    const SharedMesh mesh = random.mesh(Dims{1, 2, 3, 4, 8}, 3, true);
    const AxisSharding sharding = random.sharding(mesh, 2, true);
    const SubAxes axes = sharding.axes();
    const auto groups = device_groups(*mesh, axes);
    EXPECT_EQ(replica_groups(*mesh, axes).expand(), groups);
    const auto meaning = meaning_of(sharding);
    std::vector<int> seen(meaning.size());
    for (const Dims& group : groups) {
      for (size_t i = 0; i < group.size(); ++i) {
        ++seen[group[i]];
        const Dims& tile = meaning[group[i]];
        const int64_t minor = tile_count(sharding, 1);
        EXPECT_EQ(tile[0] * minor + tile[1], static_cast<int64_t>(i));
        EXPECT_EQ(tile[2], meaning[group[0]][2]);
        EXPECT_EQ(tile[3], meaning[group[0]][3]);
      }
    }
    for (int times : seen) EXPECT_EQ(times, 1);
  }
}

TEST(ReplicaGroups, NeighboursAreOneAxis) {
  Mesh mesh;
  mesh.axes = {{"x", 8}};
  const SubAxes parts = {{0, 1, 4}, {0, 4, 2}}, whole = {{0, 1, 8}};
  EXPECT_EQ(replica_groups(mesh, parts), replica_groups(mesh, whole));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomAxes, testing::Range(0, 4));

}  // namespace
}  // namespace hilo
