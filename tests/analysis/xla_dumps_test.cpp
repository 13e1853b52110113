// Values, sizes and live ranges of compiled modules against what XLA dumped for them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "report/report.h"
#include "text/text.h"

namespace hilo {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

// The first line that differs, with its number; "" when the texts are equal.
std::string first_difference(const std::string& ours, const std::string& theirs) {
  const auto a = lines_of(ours), b = lines_of(theirs);
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::string x = i < a.size() ? a[i] : "(end)", y = i < b.size() ? b[i] : "(end)";
    if (x != y) return fmt::format("line {}: expected '{}', found '{}'", i + 1, y, x);
  }
  return "";
}

// "<57 while{0} (phi) @0> (size=512" for each value of each buffer assignment.
std::set<std::string> values_of_dump(const std::string& text) {
  static const std::regex pattern(R"( value: (<[^>]*> \(size=[0-9]+),offset)");
  std::set<std::string> out;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at)
    out.insert((*at)[1]);
  return out;
}

std::set<std::string> values_of(const Module& module, const Aliases& aliases,
                                const Machine& machine) {
  std::set<std::string> out;
  for (const Value& value : aliases.values) {
    const Shape& shape = shape_of(module, value);
    const bool tuple = module.shape(value.definition().instruction).is_tuple();
    const std::string name(module[value.definition().instruction].name);
    out.insert(fmt::format("<{} {}{} @{}> (size={}", value.number,
                           tuple ? name_of(module, value) : name, value.is_phi ? " (phi)" : "",
                           shape.has_layout ? shape.layout.memory_space : 0,
                           buffer_bytes(machine, shape)));
  }
  return out;
}

// `values`: that of a buffer assignment; `ranges`: that of its live ranges.
void expect_as_dumped(const std::string& text, std::string_view chip, const std::string& values,
                      const std::string& ranges) {
  const Result<Module> module = parse(text);
  ASSERT_TRUE(module.has_value()) << to_string(module.error());
  const Machine* machine = find_machine(chip);
  ASSERT_NE(machine, nullptr) << chip;
  const Result<Aliases> aliases = find_aliases(*module);
  ASSERT_TRUE(aliases.has_value()) << to_string(aliases.error());
  const auto ours = values_of(*module, *aliases, *machine), theirs = values_of_dump(values);
  EXPECT_FALSE(theirs.empty());
  for (const std::string& value : theirs) EXPECT_TRUE(ours.contains(value)) << value;
  const Liveness liveness = find_liveness(*module, *aliases, schedule_of(*module));
  EXPECT_EQ(first_difference(live_range_text(*module, *aliases, liveness), ranges), "");
}

class XlaDumps : public testing::TestWithParam<std::string> {};

TEST_P(XlaDumps, ValuesAndLiveRangesAreThose) {
  const fs::path folder = fs::path(HILO_SHARED) / "corpus" / GetParam();
  expect_as_dumped(contents(folder / "after.hlo"), folder.filename().extension().string().substr(1),
                   contents(folder / "buffer-assignment.txt"), contents(folder / "live-range.txt"));
}

TEST(XlaDumpsMade, ThoseOfProgramsCompiledNow) {
  if (access(HILO_PEERS, X_OK) != 0) GTEST_SKIP() << HILO_PEERS << " is absent";
  const fs::path folder = fmt::format("{}/compiled_programs.{}", HILO_BUILD, getpid());
  const std::string script = HILO_SOURCE "/tests/analysis/compiled_programs.py";
  const int status = std::system(
      fmt::format("{} {} {} 2> /dev/null", HILO_PEERS, script, folder.string()).c_str());
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "no jax";
  ASSERT_EQ(status, 0);
  constexpr std::string_view suffix = "_after_optimizations.txt";
  int compared = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    if (!path.ends_with(suffix)) continue;
    SCOPED_TRACE(entry.path().filename().string());
    const std::string base = path.substr(0, path.size() - 4);
    expect_as_dumped(contents(path), "cpu", contents(base + "-buffer-assignment.txt"),
                     contents(base + "-live-range.txt"));
    ++compared;
  }
  EXPECT_GE(compared, 9);
  fs::remove_all(folder);
}

std::vector<std::string> folders() {
  std::vector<std::string> out;
  for (const char* kind : {"tpu", "gpu"}) {
    const fs::path path = fs::path(HILO_SHARED) / "corpus" / kind;
    if (!fs::is_directory(path)) continue;
    for (const auto& entry : fs::directory_iterator(path))
      if (fs::exists(entry.path() / "live-range.txt"))
        out.push_back(fmt::format("{}/{}", kind, entry.path().filename().string()));
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string out = info.param;
  for (char& c : out)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return out;
}

INSTANTIATE_TEST_SUITE_P(Corpus, XlaDumps, testing::ValuesIn(folders()), test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(XlaDumps);

}  // namespace
}  // namespace hilo
