// Plans of compiled modules beside XLA's own for the same module and schedule.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>

#include <gtest/gtest.h>

#include "plan/plan.h"
#include "text/text.h"

namespace hilo {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Bytes of XLA's temporaries by memory space.
std::map<int64_t, int64_t> temporaries_of(const std::string& assignment) {
  static const std::regex line(
      "allocation \\d+: size (\\d+)(?:, color (\\d+))?[^\\n]*, preallocated-temp:");
  std::map<int64_t, int64_t> out;
  for (std::sregex_iterator it(assignment.begin(), assignment.end(), line), end; it != end; ++it)
    out[(*it)[2].matched ? std::stoll((*it)[2]) : 0] += std::stoll((*it)[1]);
  return out;
}

struct Case {
  std::string name;
  const Machine* machine = nullptr;
  Module module;
  std::map<int64_t, int64_t> temporaries;
};

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const char* kind : {"tpu", "gpu"}) {
    const fs::path folder = fs::path(HILO_SHARED) / "corpus" / kind;
    if (!fs::exists(folder)) continue;
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename();
      Result<Module> module = parse(read(entry.path() / "after.hlo"));
      EXPECT_TRUE(module) << name;
      if (!module) continue;
      out.push_back({std::string(kind) + "/" + name,
                     find_machine(name.substr(name.find_last_of('.') + 1)), std::move(*module),
                     temporaries_of(read(entry.path() / "buffer-assignment.txt"))});
    }
  }
  std::ranges::sort(out, {}, &Case::name);
  return out;
}

TEST(PlanCorpus, NoMoreTemporariesThanXla) {
  const std::vector<Case> all = cases();
  if (all.empty()) GTEST_SKIP() << "the corpus is not here";
  int spaces = 0, at_bound = 0;
  for (const Case& test : all) {
    ASSERT_NE(test.machine, nullptr) << test.name;
    const Result<Plan> planned = plan(test.module, *test.machine);
    ASSERT_TRUE(planned) << test.name << to_string(planned.error());
    for (const Error& error : check_plan(test.module, *test.machine, *planned))
      ADD_FAILURE() << test.name << ": " << to_string(error);
    std::map<int64_t, int64_t> xla = test.temporaries;
    for (const SpacePlan& space : planned->spaces) {
      if (space.temp_bytes == 0 && xla[space.space] == 0) continue;
      fmt::print("{:36} space {}: {:>10} bytes, bound {:>10}, XLA {:>10}\n", test.name, space.space,
                 space.temp_bytes, space.lower_bound_bytes, xla[space.space]);
      EXPECT_LE(space.temp_bytes, xla[space.space]) << test.name << ", space " << space.space;
      EXPECT_LE(static_cast<double>(space.temp_bytes),
                1.02 * static_cast<double>(space.lower_bound_bytes))
          << test.name << ", space " << space.space;
      ++spaces;
      at_bound += space.temp_bytes <= space.lower_bound_bytes;
    }
  }
  EXPECT_GE(at_bound * 10, spaces * 9);
}

// The largest sum of bytes alive at one moment, values of one buffer counted once.
int64_t peak_of(const Case& test, const Aliases& aliases, const Schedule& schedule) {
  const Liveness liveness = find_liveness(test.module, aliases, schedule);
  std::vector<int64_t> changes(liveness.sequence.size() + 2, 0);
  for (const Buffer& buffer : aliases.buffers) {
    int64_t bytes = 0;
    std::vector<LiveRange> ranges;
    for (ValueId value : buffer.values) {
      if (!liveness.has_range(value)) continue;
      ranges.push_back(liveness.ranges[value.value]);
      bytes = std::max(bytes, buffer_bytes(*test.machine, shape_of(test.module, aliases[value])));
    }
    std::ranges::sort(ranges, {}, &LiveRange::start);
    int64_t end = -1;
    for (const LiveRange& range : ranges) {
      const int64_t start = std::max(range.start, end + 1);
      if (start > range.end) continue;
      changes[start] += bytes;
      changes[range.end + 1] -= bytes;
      end = range.end;
    }
  }
  int64_t alive = 0, most = 0;
  for (int64_t change : changes) most = std::max(most, alive += change);
  return most;
}

TEST(PlanCorpus, OwnScheduleTakesNoMoreThanXlas) {
  std::vector<Case> all = cases();
  if (all.empty()) GTEST_SKIP() << "the corpus is not here";
  double logarithms = 0;
  int differing = 0;
  for (Case& test : all) {
    const Result<Aliases> aliases = find_aliases(test.module);
    ASSERT_TRUE(aliases) << test.name;
    const int64_t theirs = peak_of(test, *aliases, schedule_of(test.module));
    const int64_t ours =
        peak_of(test, *aliases, find_schedule(test.module, *test.machine, *aliases));
    fmt::print("{:36} peak {:>10}, XLA {:>10}  {:.3f}\n", test.name, ours, theirs,
               static_cast<double>(ours) / static_cast<double>(theirs));
    EXPECT_LE(ours, theirs) << test.name;
    if (ours == theirs) continue;
    ++differing;
    logarithms += std::log(static_cast<double>(ours) / static_cast<double>(theirs));
  }
  fmt::print("{} differ, mean {:.3f}\n", differing, std::exp(logarithms / std::max(1, differing)));
}

}  // namespace
}  // namespace hilo
