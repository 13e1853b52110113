// HLO text written piece by piece, with choices at random. Computations nest: one is written while
// the one around it waits.
#pragma once

#include <fmt/core.h>

#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace hilo::test {

class ModuleWriter {
 public:
  explicit ModuleWriter(uint64_t seed) : random_(seed) {}

 protected:
  static constexpr const char* array = "f32[16]";

  // A computation as it grows: its arrays, and what ends the asynchronous steps that it has begun.
  struct Scope {
    std::vector<std::string> arrays;
    std::vector<std::function<std::string()>> open;
  };

  int draw(int below) { return static_cast<int>(random_() % static_cast<uint64_t>(below)); }
  bool one_in(int many) { return draw(many) == 0; }
  template <class T>
  const T& any(const std::vector<T>& of) {
    return of[static_cast<size_t>(draw(static_cast<int>(of.size())))];
  }
  const std::string& pick(const Scope& scope) { return any(scope.arrays); }

  std::string name() { return fmt::format("v{}", next_++); }
  int number() { return next_++; }
  // Appends an instruction and gives its name.
  std::string add(std::string_view shape, std::string_view rest) {
    std::string id = name();
    body_ += fmt::format("  {} = {} {}\n", id, shape, rest);
    return id;
  }
  std::string parameter(int number, std::string_view shape = array) {
    return add(shape, fmt::format("parameter({})", number));
  }
  std::string constant(int value) { return add("s32[]", fmt::format("constant({})", value)); }
  std::string element(std::string_view tuple, std::string_view shape, int index) {
    return add(shape, fmt::format("get-tuple-element({}), index={}", tuple, index));
  }

  // Gives its name. `body` gives the root, without "ROOT " before it.
  template <class Body>
  std::string computation(Body body) {
    const std::string outer = std::exchange(body_, "");
    const std::string id = fmt::format("c{}", next_++);
    ++depth_;
    const std::string root = body();
    --depth_;
    finished_ += fmt::format("{} {{\n{}  ROOT {}}}\n", id, body_, root);
    body_ = outer;
    return id;
  }
  // Applied to scalars.
  std::string scalar_computation(std::string_view op, std::string_view type = "f32[]",
                                 std::string_view rest = "") {
    return computation([&] {
      const std::string x = parameter(0, "f32[]"), y = parameter(1, "f32[]");
      return fmt::format("{} = {} {}({}, {}){}\n", name(), type, op, x, y, rest);
    });
  }

  // What is written of the computation around now, and of those that are complete.
  std::string body_, finished_;
  int depth_ = 0;

 private:
  std::mt19937_64 random_;
  int next_ = 0;
};

}  // namespace hilo::test
