// Runs python3 with NumPy, the outside judge of array files, where there is one.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace hilo::test {

// A folder that goes away with the test.
struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "hilo-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string& name) const { return (path / name).string(); }
  size_t count() const { return std::distance(std::filesystem::directory_iterator(path), {}); }
};

struct Ran {
  int status;
  std::string output;
};
inline Ran run_command(const std::string& command) {
  std::string out;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  char buffer[4096];
  while (size_t got = fread(buffer, 1, sizeof buffer, pipe)) out.append(buffer, got);
  return {pclose(pipe), out};
}

// The Python of the peers (an option of the build; scripts/setup --peers makes it), or the
// system's, when it imports `module`.
inline std::optional<std::string> python_with(const std::string& module) {
  for (const std::string python : {HILO_PEERS, "python3"})
    if (run_command(python + " -c 'import " + module + "'").status == 0) return python;
  return std::nullopt;
}

// Runs a program in `folder`; its assertions and exceptions fail the test.
inline void expect_python(const std::string& python, const Folder& folder,
                          const std::string& program) {
  std::ofstream(folder / "program.py") << program;
  const Ran ran = run_command("cd " + folder.path.string() + " && " + python + " program.py");
  EXPECT_EQ(ran.status, 0) << ran.output;
}

}  // namespace hilo::test

#define REQUIRE_PYTHON(python, module)           \
  const auto python = test::python_with(module); \
  if (!python) GTEST_SKIP() << "python3 with " module " is not there: scripts/setup --peers"
