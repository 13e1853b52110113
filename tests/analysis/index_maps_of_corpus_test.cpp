// Maps and factors of every instruction of real modules, where they are at hand: all kinds of ops,
// tiles, collectives and fusions; sound, and inside of their arrays.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "../base/environment.h"
#include "analysis/analysis.h"
#include "text/text.h"
#include "verify/verify.h"

namespace hilo {
namespace {

namespace fs = std::filesystem;

struct Counts {
  int64_t maps = 0, unmapped = 0, factors = 0;
};

bool is_inside(const std::vector<IndexInterval>& box, const Dims& dims) {
  for (size_t d = 0; d < dims.size(); ++d)
    if (!box[d].is_empty() && (box[d].lower < 0 || box[d].upper >= dims[d])) return false;
  return box.size() == dims.size();
}

void expect_sound(const Module& module, InstructionId id, Counts& counts) {
  const auto outputs = static_cast<size_t>(leaf_count(module.shape(id)));
  for (size_t k = 0; k < module[id].operand_count; ++k) {
    const auto leaves = static_cast<size_t>(leaf_count(module.shape(module.operand(id, k))));
    for (size_t leaf = 0; leaf < leaves; ++leaf)
      // Of wide tuples every array, but not with every other.
      for (size_t output = 0; output < outputs; output += leaves > 8 ? leaves : 1) {
        const size_t asked = (output + leaf) % outputs;
        const auto map = index_map(module, id, k, asked, leaf);
        ++(map ? counts.maps : counts.unmapped);
        if (!map) continue;
        IndexMap twice = *map;
        simplify(twice);
        EXPECT_EQ(to_string(module, twice), to_string(module, *map));
        EXPECT_TRUE(is_inside(footprint(*map, whole_box(map->result_dims)), map->operand_dims))
            << to_string(module, *map);
        if (const auto back = inverse(*map)) {
          EXPECT_TRUE(is_identity(compose(*back, *map))) << to_string(module, *map);
        }
      }
  }
  const ShardingFactors factors = sharding_factors(module, id);
  counts.factors += static_cast<int64_t>(factors.factors.size());
  EXPECT_EQ(factors.results.size(), outputs);
}

TEST(IndexMapsOfCorpus, EveryInstruction) {
  const fs::path corpus = fs::path(HILO_SHARED) / "corpus";
  if (!fs::exists(corpus)) GTEST_SKIP() << corpus << " is not there";
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(corpus))
    if (entry.path().extension() == ".hlo" && entry.file_size() < 300'000)
      files.push_back(entry.path());
  std::ranges::sort(files);
  Counts counts;
  int modules = 0;
  // HILO_CORPUS_STEP=1 takes all of them.
  const size_t step = test::number_from("HILO_CORPUS_STEP", 16);
  for (size_t at = 0; at < files.size(); at += step) {
    const fs::path& file = files[at];
    std::ifstream in(file);
    std::stringstream text;
    text << in.rdbuf();
    const auto module = parse(text.str());
    if (!module || !verify(*module).empty()) continue;
    ++modules;
    for (uint32_t i = 0; i < module->instructions.size(); ++i) expect_sound(*module, {i}, counts);
    if (testing::Test::HasFailure()) FAIL() << file;
  }
  fmt::print("{} modules, {} maps, {} without, {} factors\n", modules, counts.maps, counts.unmapped,
             counts.factors);
}

}  // namespace
}  // namespace hilo
