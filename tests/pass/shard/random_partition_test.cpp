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
  const std::string_view letters = "mwrpdscg";  // of OpGroup, in order
  for (const char* at = without ? without : "wd"; *at; ++at)
    if (const size_t group = letters.find(*at); group != letters.npos)
      out.leave_out(static_cast<OpGroup>(group));
  return out;
}

struct Program {
  Module module;
  bool is_all_stated;
};
Program random_program(uint64_t seed) {
  RandomShardings shardings(seed);
  Program out{RandomRegions(seed, chosen_groups(), shardings).make(static_cast<int>(4 + seed % 12)),
              shardings.are_all_stated()};
  shardings.annotate(out.module);
  out.module.compact();
  return out;
}

Result<Module> partitioned(const Module& before, std::string_view passes) {
  Module out = before;
  const auto pipeline = parse_pipeline(passes, all_passes(), all_pipelines());
  check(pipeline.has_value(), "partitioned: a pass that is not");
  HILO_DO(run_pipeline(out, *pipeline, {}));
  return out;
}

std::vector<Literal> arguments_of(const Module& module, uint64_t seed) {
  Dice dice(seed);
  std::vector<Literal> out;
  for (InstructionId parameter : module[module.entry].parameters)
    out.push_back(small_numbers(dice, module.shape(parameter)));
  return out;
}

std::string fault_of(const Module& before, uint64_t seed, std::string_view passes) {
  const auto after = partitioned(before, passes);
  if (!after) return "partitioner: " + to_string(after.error());
  for (const Error& error : verify(*after)) return "not sound: " + to_string(error);
  if (std::string fault = count_collectives(*after).fault; !fault.empty()) return fault;
  if (std::string fault = changed_boundary(before, *after); !fault.empty()) return fault;
  const auto again = partitioned(before, passes);
  if (print(*after) != print(*again)) return "another text the second time";
  return difference_on_devices(before, *after, seed, arguments_of(before, seed));
}

// The same fault, its numbers aside.
std::string kind_of(const std::string& fault) {
  std::string out;
  for (char c : fault.substr(0, 60))
    if (!std::isdigit(static_cast<unsigned char>(c)) && c != '-' && c != '.') out += c;
  return out.substr(0, 24);
}

std::string report(const Module& module, uint64_t seed, std::string_view passes,
                   const std::string& fault) {
  const Module small = Shrink([&](const Module& one) {
                         return kind_of(fault_of(one, seed, passes)) == kind_of(fault);
                       }).run(module);
  const auto after = partitioned(small, passes);
  return fmt::format("seed {}: {}\n{}\n{}", seed, fault_of(small, seed, passes), print(small),
                     after ? print(*after) : "");
}

void expect_same_values(std::string_view passes, uint64_t count) {
  const uint64_t first = number_from("HILO_RANDOM_FIRST", 1);
  count = number_from("HILO_RANDOM_COUNT", count);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Program program = random_program(seed);
    ASSERT_TRUE(verify(program.module).empty())
        << seed << to_string(verify(program.module)[0]) << print(program.module);
    const std::string fault = fault_of(program.module, seed, passes);
    EXPECT_EQ(fault, "") << report(program.module, seed, passes, fault);
  }
}

TEST(RandomPartition, DevicesEndWithTheirTiles) { expect_same_values("spmd-partitioner", 200); }

}  // namespace
}  // namespace hilo::test
