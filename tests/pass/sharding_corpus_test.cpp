// Propagation over the programs of the corpus, where it is at hand, in both notations.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "same_program.h"

namespace hilo::test {
namespace {

namespace fs = std::filesystem;

const fs::path corpus = fs::path(HILO_SHARED) / "corpus/spmd";

std::string read_text(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream out;
  out << file.rdbuf();
  return out.str();
}

std::vector<fs::path> cases() {
  std::vector<fs::path> out;
  if (HILO_SHARED[0] == '\0' || !fs::exists(corpus)) return out;
  for (const auto& entry : fs::directory_iterator(corpus))
    if (fs::exists(entry.path() / "before.hlo")) out.push_back(entry.path());
  std::ranges::sort(out);
  return out;
}

std::optional<Module> propagated(const Module& before) {
  Module module = before;
  const auto done = run_pass(module, propagate_all_shardings);
  EXPECT_TRUE(done) << (done ? "" : to_string(done.error()));
  if (!done) return std::nullopt;
  for (const Error& error : verify(module)) ADD_FAILURE() << to_string(error);
  return module;
}

std::string sharding_of(const Module& module, InstructionId id) {
  const auto& sharding = module.extra(module[id]).sharding;
  return sharding ? print(*sharding) : "";
}

// What is said of the program's parameters and results, and closed, is there afterwards.
void expect_closed_kept(const Module& before, const Module& after) {
  const auto& was = before[before.entry].parameters;
  const auto& is = after[after.entry].parameters;
  ASSERT_EQ(was.size(), is.size());
  for (size_t i = 0; i < was.size(); ++i)
    if (const std::string said = sharding_of(before, was[i]); !said.empty())
      EXPECT_EQ(sharding_of(after, is[i]), said) << before[was[i]].name;
  const auto &said = before.extra(before[before[before.entry].root]).sharding,
             &found = after.extra(after[after[after.entry].root]).sharding;
  if (!said) return;
  ASSERT_TRUE(found);
  const auto& open = before.header.allow_spmd_sharding_propagation_to_output;
  const auto leaves = [](const Sharding& sharding) {
    return sharding.kind == Sharding::Kind::Tuple ? sharding.elements : std::vector{sharding};
  };
  for (size_t i = 0; i < leaves(*said).size(); ++i)
    if (open.empty() || !open[open.size() == 1 ? 0 : i]) {
      EXPECT_EQ(print(leaves(*found)[i]), print(leaves(*said)[i])) << "result " << i;
    }
}

void expect_all_said(const Module& module) {
  for (ComputationId computation : module.post_order()) {
    const bool has_arrays =
        std::ranges::any_of(module[computation].parameters, [&](InstructionId id) {
          return module.shape(id).is_array() && !module.shape(id).dims.empty();
        });
    for (InstructionId id : module[computation].instructions)
      if (has_arrays && module.shape(id).is_array() && !module.shape(id).dims.empty())
        EXPECT_NE(sharding_of(module, id), "") << module[id].name;
  }
}

TEST(ShardingCorpus, LawsHoldInBothNotations) {
  for (const fs::path& folder : cases())
    for (const char* file : {"before.hlo", "before_gspmd.hlo"}) {
      if (!fs::exists(folder / file)) continue;
      SCOPED_TRACE((folder / file).string());
      const Module before = sound_module(read_text(folder / file));
      auto after = propagated(before);
      if (!after) continue;
      expect_closed_kept(before, *after);
      expect_all_said(*after);
      const std::string once = print(*after);
      ASSERT_TRUE(run_pass(*after, propagate_all_shardings));
      EXPECT_EQ(print(*after), once) << "a second run changed something";
    }
}

// The same program, the same shardings: callers see the same.
TEST(ShardingCorpus, BothNotationsMeanTheSame) {
  for (const fs::path& folder : cases()) {
    if (!fs::exists(folder / "before_gspmd.hlo")) continue;
    SCOPED_TRACE(folder.string());
    const auto a = propagated(sound_module(read_text(folder / "before.hlo")));
    const auto b = propagated(sound_module(read_text(folder / "before_gspmd.hlo")));
    if (!a || !b) continue;
    for (size_t i = 0; i < (*a)[a->entry].parameters.size(); ++i)
      EXPECT_EQ(sharding_of(*a, (*a)[a->entry].parameters[i]),
                sharding_of(*b, (*b)[b->entry].parameters[i]));
    EXPECT_EQ(sharding_of(*a, (*a)[a->entry].root), sharding_of(*b, (*b)[b->entry].root));
  }
}

}  // namespace
}  // namespace hilo::test
