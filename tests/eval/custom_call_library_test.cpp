// The C interface of custom calls: the example is compiled by the C compiler, and runs.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "devices.h"

namespace hilo::test {
namespace {

namespace fs = std::filesystem;

const fs::path example = fs::path(HILO_SOURCE) / "examples" / "custom_call";

std::string text_of_example() {
  std::stringstream text;
  text << std::ifstream(example / "scale_rows.hlo").rdbuf();
  return text.str();
}

class CustomCallLibrary : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fs::path("hilo-custom-call-" + std::to_string(getpid()));
    fs::create_directories(folder_);
    library_ = folder_ / "scale_rows.so";
    const std::string command = "cc -shared -fPIC -Wall -Werror -I '" + std::string(HILO_BUILD) +
                                "/installed_headers' '" + (example / "scale_rows.c").string() +
                                "' -o '" + library_.string() + "'";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_, library_;
};

TEST_F(CustomCallLibrary, ExampleScalesRows) {
  EvalOptions options;
  auto function = load_custom_call("scale_rows", library_.string());
  ASSERT_TRUE(function) << to_string(function.error());
  options.custom_calls["scale_rows"] = *function;
  const auto rows =
      run_well(text_of_example(), {{f32({2, 3}, {1, 2, 3, 4, 5, 6}), f32({2}, {10, -1})}}, options);
  EXPECT_EQ(rows, (std::vector<Numbers>{{10, 20, 30, -4, -5, -6}}));
}

TEST_F(CustomCallLibrary, ItsErrorsAreSaidWithThePlace) {
  EvalOptions options;
  options.custom_calls["scale_rows"] = *load_custom_call("scale_rows", library_.string());
  auto rows =
      run("HloModule m\nENTRY e { p = f32[2] parameter(0)\n ROOT bad = f32[2] "
          "custom-call(p), custom_call_target=\"scale_rows\"\n}\n",
          ramps(1, {2}), options);
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().kind, ErrorKind::Evaluation);
  EXPECT_NE(rows.error().message.find("expected f32[n,m]"), std::string::npos);
  EXPECT_EQ(rows.error().place.instruction, "bad");
}

TEST_F(CustomCallLibrary, MissingFileOrFunction) {
  auto missing = load_custom_call("x", (folder_ / "none.so").string());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::Io);
  auto other = load_custom_call("another", library_.string());
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::Usage);
}

}  // namespace
}  // namespace hilo::test
