// Random programs with random shardings over random meshes, partitioned: each device ends with its
// tile of what the program computes, bit for bit, whatever padding holds. HILO_RANDOM_FIRST and
// HILO_RANDOM_COUNT: seeds for a longer run; HILO_RANDOM_WITHOUT: letters of op groups left out.
#include "../../base/environment.h"
#include "partition_judge.h"
#include "random_regions.h"
#include "shrink.h"

namespace hilo::test {
namespace {

OpGroups chosen_groups() {
  OpGroups out;
  const char* without = std::getenv("HILO_RANDOM_WITHOUT");
  const std::string_view letters = "mwrpdscgk";  // of OpGroup, in order
  for (const char* at = without ? without : ""; *at; ++at)
    if (const size_t group = letters.find(*at); group != letters.npos)
      out.leave_out(static_cast<OpGroup>(group));
  return out;
}

struct Options {
  std::string_view passes = "spmd-partitioner";
  std::optional<int64_t> percent = std::nullopt;  // of values with shardings
  bool is_replicated = false, agrees = false, has_regions = true;
};

Module random_program(uint64_t seed, const Options& options) {
  static constexpr int64_t few[] = {5, 15, 15, 40};
  const auto percent = options.agrees ? few[seed / 2 % std::size(few)] : options.percent;
  RandomShardings shardings(seed, percent);
  if (options.agrees) shardings.agree(seed % 2 ? Notation::Shardy : Notation::Tiles);
  OpGroups groups = chosen_groups();
  if (!options.has_regions) groups.leave_out(OpGroup::Region);
  if (options.is_replicated) shardings.replicate();
  Module out = RandomRegions(seed, groups, shardings).make(static_cast<int>(4 + seed % 12));
  out.compact();
  return out;
}

// The same fault, its numbers aside.
std::string kind_of(const std::string& fault) {
  std::string out;
  for (char c : fault)
    if (!std::isdigit(static_cast<unsigned char>(c)) && c != '-' && c != '.') out += c;
  return out.substr(0, fault.starts_with("result") ? 24 : 48);
}

using FindFault = std::function<std::string(const Module&, uint64_t seed)>;

std::string report(const Module& module, uint64_t seed, std::string_view passes,
                   const FindFault& find_fault, const std::string& fault) {
  const Module small = Shrink([&](const Module& one) {
                         return kind_of(find_fault(one, seed)) == kind_of(fault);
                       }).run(module);
  const auto after = partitioned(small, passes);
  return fmt::format("seed {}: {}\n{}\n{}", seed, find_fault(small, seed), print(small),
                     after ? print(*after) : "");
}

void expect_no_fault(uint64_t count, const Options& options, const FindFault& find_fault) {
  const uint64_t first = number_from("HILO_RANDOM_FIRST", 1);
  count = number_from("HILO_RANDOM_COUNT", count);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Module module = random_program(seed, options);
    ASSERT_TRUE(verify(module).empty()) << seed << to_string(verify(module)[0]) << print(module);
    const std::string fault = find_fault(module, seed);
    EXPECT_EQ(fault, "") << report(module, seed, options.passes, find_fault, fault);
  }
}

TEST(RandomPartition, DevicesEndWithTheirTiles) {
  const Options options;
  expect_no_fault(200, options, [&](const Module& before, uint64_t seed) {
    return fault_of(before, seed, options.passes);
  });
}

// Values without a sharding get one that suits their neighbours.
TEST(RandomPartition, SomeAnnotationsAreEnough) {
  const Options options{"sharding-propagation, spmd-partitioner", std::nullopt, false, true};
  expect_no_fault(100, options, [&](const Module& before, uint64_t seed) {
    return fault_of(before, seed, options.passes);
  });
}

// With all that makes collectives fewer behind the partitioner.
TEST(RandomPartition, ThePipelineKeepsTheValues) {
  const Options annotated{"spmd", std::nullopt, false, true}, stated{"spmd-tiles"};
  for (const Options& options : {annotated, stated})
    expect_no_fault(50, options, [&](const Module& before, uint64_t seed) {
      return fault_of(before, seed, options.passes);
    });
}

TEST(RandomPartition, WholeArraysNeedNoCollectives) {
  const Options options{"spmd-partitioner", 100, true, false, false};
  expect_no_fault(100, options, [&](const Module& before, uint64_t) -> std::string {
    const auto after = partitioned(before, options.passes);
    if (!after) return to_string(after.error());
    const int64_t given = count_collectives(before).count, now = count_collectives(*after).count;
    return given == now ? "" : fmt::format("collectives were {}, are {}", given, now);
  });
}

// Where all values say their shardings, so that what gathering each operand sends is known.
TEST(RandomPartition, NoMoreIsSentThanGatheringAllWould) {
  const Options options{"spmd-partitioner", 100, false, false, false};
  expect_no_fault(100, options, [&](const Module& before, uint64_t) -> std::string {
    const auto after = partitioned(before, options.passes);
    if (!after) return to_string(after.error());
    const double sent = count_collectives(*after).bytes;
    const double all = count_collectives(before).bytes + bytes_to_gather_all(before);
    return sent <= all ? "" : fmt::format("bytes sent are {}, of gathers {}", sent, all);
  });
}

}  // namespace
}  // namespace hilo::test
