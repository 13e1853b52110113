// Programs of frameworks in both forms and several versions: both readers give the same program.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "mlir_samples.h"

namespace hilo::mlir {
namespace {

const std::filesystem::path corpus = std::filesystem::path(HILO_SHARED) / "corpus/stablehlo";

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream out;
  out << file.rdbuf();
  return out.str();
}

// Names of programs, without endings.
std::vector<std::string> programs() {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(corpus))
    if (entry.path().extension() == ".mlir") out.push_back(entry.path().stem());
  std::ranges::sort(out);
  return out;
}

class MlirCorpus : public testing::Test {
 protected:
  void SetUp() override {
    if (HILO_SHARED[0] == '\0' || !std::filesystem::exists(corpus))
      GTEST_SKIP() << "no corpus of StableHLO";
  }
  static std::string dump(const std::string& name) {
    const std::string bytes = contents(corpus / name);
    const auto program = name.ends_with(".mlir") ? text(bytes) : bytecode(bytes);
    EXPECT_TRUE(program) << name << ": " << to_string(program.error());
    return dump_of(program);
  }
};

TEST_F(MlirCorpus, TextAndBytecodeAreOneProgram) {
  std::set<std::string> different;
  for (const std::string& name : programs())
    if (dump(name + ".mlir") != dump(name + ".new.mlirbc")) different.insert(name);
  // The writer of bytecode drops a token that nothing uses.
  EXPECT_EQ(different, std::set<std::string>{"map_tuple_token"});
}

TEST_F(MlirCorpus, OldAndNewBytecodeAreOneProgram) {
  std::set<std::string> different;
  for (const std::string& name : programs())
    if (dump(name + ".min.mlirbc") != dump(name + ".new.mlirbc")) different.insert(name);
  // Older versions lack batching dimensions and tan: these are other programs.
  const std::set<std::string> expanded = {"embedding_loss", "gather_scatter", "trigonometry"};
  EXPECT_EQ(different, expanded);
}

TEST_F(MlirCorpus, WhatIsCutOffIsAnError) {
  for (const std::string& name : programs()) {
    const std::string bytes = contents(corpus / (name + ".new.mlirbc"));
    const size_t step = bytes.size() / 50 + 1;
    for (size_t size = 0; size < bytes.size(); size += step)
      EXPECT_FALSE(bytecode(std::string_view(bytes).substr(0, size))) << name << " " << size;
  }
}

}  // namespace
}  // namespace hilo::mlir
