// Index maps of random modules against the reference evaluator, element by element, and what
// composition, inverse and footprint say against the maps they are made of.
#include <map>

#include "../base/environment.h"
#include "../compile/wide_random_module.h"
#include "index_map_judge.h"
#include "random_op.h"

namespace hilo {
namespace {

using test::Dice;
using test::IndexMapJudge;

// Seeds of a longer run: HILO_RANDOM_FIRST and HILO_RANDOM_COUNT, which counts modules.
struct Seeds {
  uint64_t first, count;
  explicit Seeds(uint64_t otherwise)
      : first(test::number_from("HILO_RANDOM_FIRST", 1)),
        count(test::number_from("HILO_RANDOM_COUNT", otherwise)) {}
};

bool is_judged(const Module& module, InstructionId id) {
  const Instruction& instruction = module[id];
  return !instruction.removed && instruction.operand_count > 0 &&
         !has_trait(instruction.op, TraitEffect);
}

void judge(const Module& module, uint64_t seed, IndexMapJudge::Counts& counts) {
  const auto count = static_cast<uint32_t>(module.instructions.size());
  for (uint32_t i = 0; i < count; ++i) {
    if (!is_judged(module, {i})) continue;
    const std::string wrong = IndexMapJudge(module, {i}, seed * 1000 + i, counts).run();
    ASSERT_EQ(wrong, "") << seed << " " << module.instructions[i].name << "\n" << print(module);
  }
}

void report(const IndexMapJudge::Counts& counts) {
  int ops = 0;
  for (int64_t of_op : counts.by_op) ops += of_op > 0;
  fmt::print("{} ops, {} maps, {} without, {} changes seen, {} complete, {} moved\n", ops,
             counts.maps, counts.unmapped, counts.changes, counts.complete, counts.moved);
}

TEST(RandomIndexMaps, OfPrograms) {
  const Seeds seeds(80);
  IndexMapJudge::Counts counts;
  for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    const Module module =
        seed % 2 ? test::RandomModule(seed).make(24) : test::WideRandomModule(seed).make(16);
    judge(module, seed, counts);
    if (testing::Test::HasFatalFailure()) return;
  }
  report(counts);
  EXPECT_GT(counts.changes, static_cast<int64_t>(seeds.count));
}

TEST(RandomIndexMaps, OfFusedPrograms) {
  const Seeds seeds(60);
  IndexMapJudge::Counts counts;
  for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    judge(test::after_passes(test::RandomModule(seed).make(30), "fusion"), seed, counts);
    if (testing::Test::HasFatalFailure()) return;
  }
  report(counts);
  EXPECT_GT(counts.by_op[static_cast<size_t>(Op::Fusion)], static_cast<int64_t>(seeds.count));
}

TEST(RandomIndexMaps, OfSingleOps) {
  const Seeds seeds(400);
  IndexMapJudge::Counts counts;
  for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    const std::string text = test::RandomOp(seed).module_text();
    const auto module = parse(text);
    ASSERT_TRUE(module) << seed << to_string(module.error()) << "\n" << text;
    for (const Error& error : verify(*module)) FAIL() << seed << to_string(error) << "\n" << text;
    const std::string wrong =
        IndexMapJudge(*module, (*module)[module->entry].root, seed, counts).run();
    ASSERT_EQ(wrong, "") << seed << "\n" << text;
  }
  report(counts);
  EXPECT_GT(counts.changes, static_cast<int64_t>(seeds.count));
}

// Symbols of maps without data: any number, the same for the same symbol and index.
int64_t any_number(const IndexSymbol& symbol, const Dims& index) {
  uint64_t seed = symbol.value.value;
  for (int64_t at : index) seed = seed * 31 + static_cast<uint64_t>(at);
  return Dice(seed).below(20) - 5;
}

double points_of(const IndexMap& map) {
  double out = 1;
  for (int64_t size : map.range_sizes) out *= static_cast<double>(size);
  return out;
}

// The map of a user behind one of its operand, at some elements.
void expect_composed(const Module& module, const IndexMap& outer, const IndexMap& inner,
                     Dice& dice) {
  const IndexMap both = compose(outer, inner);
  if (element_count(both.result_dims) == 0 || points_of(outer) * points_of(inner) > 5000) return;
  for (int i = 0; i < 4; ++i) {
    const Dims index =
        test::index_at(dice.below(element_count(both.result_dims)), both.result_dims);
    std::vector<int64_t> expected;
    for (int64_t between : test::named(outer, index, any_number)) {
      const auto found = test::named(inner, test::index_at(between, inner.result_dims), any_number);
      expected.insert(expected.end(), found.begin(), found.end());
    }
    std::ranges::sort(expected);
    expected.erase(std::ranges::unique(expected).begin(), expected.end());
    ASSERT_EQ(test::named(both, index, any_number), expected) << to_string(module, outer) << "\n"
                                                              << to_string(module, inner) << "\n"
                                                              << to_string(module, both);
  }
}

void expect_inverse(const Module& module, const IndexMap& map) {
  const auto back = inverse(map);
  if (!back) return;
  ASSERT_TRUE(is_identity(compose(*back, map)) && is_identity(compose(map, *back)))
      << to_string(module, map) << "\n"
      << to_string(module, *back);
}

// Every element that a box of the result needs lies in the footprint.
void expect_footprint(const Module& module, const IndexMap& map, Dice& dice) {
  const int64_t count = element_count(map.result_dims);
  if (count == 0 || points_of(map) > 5000) return;
  const Dims a = test::index_at(dice.below(count), map.result_dims);
  std::vector<IndexInterval> box;
  Dims sizes;
  for (size_t d = 0; d < a.size(); ++d) {
    sizes.push_back(1 + dice.below(std::min<int64_t>(3, map.result_dims[d] - a[d])));
    box.push_back({a[d], a[d] + sizes[d] - 1});
  }
  const auto found = footprint(map, box);
  Dims offset(a.size(), 0);
  do {
    Dims index = a;
    for (size_t d = 0; d < a.size(); ++d) index[d] += offset[d];
    for (int64_t position : test::named(map, index, any_number)) {
      const Dims at = test::index_at(position, map.operand_dims);
      for (size_t d = 0; d < at.size(); ++d)
        ASSERT_TRUE(at[d] >= found[d].lower && at[d] <= found[d].upper) << to_string(module, map);
    }
  } while (next_index(offset, sizes));
  EXPECT_TRUE(map.needs_nothing || reuse(map) == 0 || reuse(map) >= 1) << to_string(module, map);
}

void expect_laws(const Module& module, uint64_t seed) {
  Dice dice(seed);
  std::vector<InstructionId> ids;
  for (uint32_t i = 0; i < module.instructions.size(); ++i)
    if (!module.instructions[i].removed && module.shape(InstructionId{i}).is_array())
      ids.push_back({i});
  for (InstructionId user : ids)
    for (size_t k = 0; k < module[user].operand_count; ++k) {
      const InstructionId value = module.operand(user, k);
      if (!module.shape(value).is_array()) continue;
      const auto outer = index_map(module, user, k);
      if (!outer) continue;
      expect_inverse(module, *outer);
      expect_footprint(module, *outer, dice);
      for (size_t j = 0; j < module[value].operand_count; ++j)
        if (module.shape(module.operand(value, j)).is_array())
          if (const auto inner = index_map(module, value, j))
            expect_composed(module, *outer, *inner, dice);
      if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(RandomIndexMaps, LawsOfMaps) {
  const Seeds seeds(200);
  for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    const Module module =
        seed % 2 ? test::RandomModule(seed).make(40) : test::WideRandomModule(seed).make(24);
    expect_laws(module, seed);
    if (testing::Test::HasFatalFailure()) {
      fmt::print("seed {}\n{}\n", seed, print(module));
      return;
    }
  }
}

}  // namespace
}  // namespace hilo
