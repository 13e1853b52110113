// Every sharding of real programs means the same in all forms.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "random_sharding.h"
#include "wire/wire.h"

namespace hilo {
namespace {

namespace fs = std::filesystem;

const fs::path corpus = fs::path(HILO_SHARED) / "corpus";

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class ShardingCorpus : public testing::Test {
 protected:
  void SetUp() override {
    if (HILO_SHARED[0] == '\0' || !fs::exists(corpus / "spmd")) GTEST_SKIP() << "no corpus";
  }

  static ShardyMeshes meshes_of(const Module& module) {
    const auto found = module.header.frontend_attributes.find("xla.sdy.meshes");
    if (found == module.header.frontend_attributes.end()) return {};
    const auto out = parse_shardy_meshes(found->second.text);
    EXPECT_TRUE(out) << to_string(out.error());
    return *out;
  }

  // Through tiles and names, and, where it had no metadata, to the text it came from.
  void check_leaf(const Sharding& sharding, size_t rank, const SharedMesh& mesh) {
    const auto axes = axis_sharding(sharding, rank, mesh);
    ASSERT_TRUE(axes) << print(sharding) << ": " << to_string(axes.error());
    const Sharding tiles = tile_sharding(*axes);
    for (const Sharding& form : {tiles, named_sharding(*axes)}) {
      const auto back = axis_sharding(form, rank, mesh);
      ASSERT_TRUE(back) << print(form) << ": " << to_string(back.error());
      EXPECT_EQ(meaning_of(*back), meaning_of(*axes)) << print(form) << print(sharding);
    }
    Sharding bare = sharding;
    bare.metadata.clear();
    bare.shard_as.reset(), bare.shard_like.reset();
    EXPECT_EQ(print(tiles), print(bare));
    ++leaves_;
  }

  // What both attributes of an instruction say.
  void check_shardy(const Module& module, const Instruction& instruction,
                    const ShardyMeshes& meshes) {
    const Extra& extra = module.extra(instruction);
    const auto found = extra.frontend_attributes.find("xla.sdy.sharding");
    if (found == extra.frontend_attributes.end()) return;
    const auto shardings = parse_shardy_shardings(found->second.text, meshes);
    ASSERT_TRUE(shardings) << found->second.text << to_string(shardings.error());
    const auto reread = parse_shardy_shardings(print_shardy(*shardings, meshes), meshes);
    ASSERT_TRUE(reread) << to_string(reread.error());
    EXPECT_EQ(*reread, *shardings);
    ++shardy_;
    if (!extra.sharding || extra.sharding->kind == Sharding::Kind::Tuple) return;
    const AxisSharding& one = shardings->at(0);
    const auto tiles = axis_sharding(*extra.sharding, one.dims.size(), one.mesh);
    ASSERT_TRUE(tiles) << to_string(tiles.error());
    EXPECT_EQ(meaning_of(*tiles), meaning_of(one)) << found->second.text << print(*extra.sharding);
    ++both_;
  }

  void check_module(const fs::path& path) {
    SCOPED_TRACE(path.string());
    const std::string bytes = read(path);
    auto module = read_module(std::as_bytes(std::span(bytes)), Format::Detect);
    if (!module && path.filename().string().starts_with("dyn_")) return;  // sizes are given later
    ASSERT_TRUE(module) << to_string(module.error());
    const ShardyMeshes meshes = meshes_of(*module);
    for (const Instruction& instruction : module->instructions) {
      check_shardy(*module, instruction, meshes);
      const Sharding* sharding = module->extra(instruction).sharding.get();
      if (!sharding) continue;
      const SharedMesh mesh =
          meshes.empty() ? flat_mesh(module->header.num_partitions) : meshes.begin()->second;
      std::vector<size_t> ranks;
      for_each_leaf(module->shape(instruction),
                    [&](const Shape& leaf, auto) { ranks.push_back(leaf.dims.size()); });
      const bool is_tuple = sharding->kind == Sharding::Kind::Tuple;
      ASSERT_TRUE(!is_tuple || ranks.size() == sharding->elements.size());
      for (size_t i = 0; i < ranks.size(); ++i)
        check_leaf(is_tuple ? sharding->elements[i] : *sharding, ranks[i], mesh);
    }
  }

  int64_t leaves_ = 0, shardy_ = 0, both_ = 0;
};

TEST_F(ShardingCorpus, PartitionedPrograms) {
  for (const auto& entry : fs::recursive_directory_iterator(corpus / "spmd"))
    for (const char* name : {"before.hlo", "before_gspmd.hlo", "propagated.hlo"})
      if (entry.path().filename() == name) check_module(entry.path());
  EXPECT_GT(leaves_, 1000);
  EXPECT_GT(shardy_, 300);
  EXPECT_GT(both_, 100);
}

TEST_F(ShardingCorpus, StableHlo) {
  for (const auto& entry : fs::directory_iterator(corpus / "stablehlo"))
    if (entry.path().extension() == ".mlir") check_module(entry.path());
  EXPECT_GT(leaves_, 0);
}

}  // namespace
}  // namespace hilo
