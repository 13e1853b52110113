// Random modules with tuples, loops, branches, calls, updates in place and aliases, as text.
#pragma once

#include <fmt/core.h>

#include <random>
#include <string>
#include <vector>

namespace hilo::test {

class RandomModule {
 public:
  explicit RandomModule(uint64_t seed) : random_(seed) {}

  std::string text() {
    const bool scheduled = draw(2) == 0;
    std::vector<std::string> values = {begin(), parameter(0), parameter(1), parameter(2)};
    values.erase(values.begin());
    grow(values, 6 + draw(14), 0);
    const std::string root = tuple_of(values, 1 + draw(4));
    const std::string entry = fmt::format("ENTRY e {{\n{}  ROOT {}}}\n", body_, root);
    std::string alias;
    if (draw(2) == 0)
      alias = fmt::format(", input_output_alias={{ {{0}}: ({}, {{}}, may-alias) }}", draw(3));
    return fmt::format("HloModule random{}{}\n{}{}", scheduled ? ", is_scheduled=true" : "", alias,
                       computations_, entry);
  }

 private:
  static constexpr const char* array = "f32[16]";
  static constexpr const char* carry = "(s32[], f32[16], f32[16], f32[16])";

  int draw(int below) { return static_cast<int>(random_() % static_cast<uint64_t>(below)); }
  const std::string& pick(const std::vector<std::string>& from) {
    return from[static_cast<size_t>(draw(static_cast<int>(from.size())))];
  }
  std::string begin() { return body_.clear(), std::string(); }
  std::string name() { return fmt::format("v{}", next_++); }
  // Appends an instruction and gives its name.
  std::string add(const std::string& shape, const std::string& rest) {
    std::string id = name();
    body_ += fmt::format("  {} = {} {}\n", id, shape, rest);
    return id;
  }
  std::string parameter(int number) { return add(array, fmt::format("parameter({})", number)); }
  std::string element(const std::string& tuple, const char* shape, int index) {
    return add(shape, fmt::format("get-tuple-element({}), index={}", tuple, index));
  }
  std::string tuple_of(const std::vector<std::string>& values, int count) {
    std::string shapes, operands;
    for (int i = 0; i < count; ++i) {
      shapes += fmt::format("{}{}", i ? ", " : "", array);
      operands += fmt::format("{}{}", i ? ", " : "", pick(values));
    }
    return fmt::format("{} = ({}) tuple({})\n", name(), shapes, operands);
  }

  void grow(std::vector<std::string>& values, int count, int depth) {
    for (int i = 0; i < count; ++i) {
      const int kind = draw(depth < 2 ? 14 : 10);
      if (kind < 4) {
        constexpr const char* ops[] = {"add", "subtract", "multiply", "maximum"};
        values.push_back(
            add(array, fmt::format("{}({}, {})", ops[kind], pick(values), pick(values))));
      } else if (kind < 7) {
        constexpr const char* ops[] = {"negate", "sine", "copy"};
        values.push_back(add(array, fmt::format("{}({})", ops[kind - 4], pick(values))));
      } else if (kind == 7) {
        values.push_back(add(array, fmt::format("reverse({}), dimensions={{0}}", pick(values))));
      } else if (kind == 8) {
        update(values);
      } else if (kind == 9) {
        const std::string pair =
            add("(f32[16], f32[16])", fmt::format("tuple({}, {})", pick(values), pick(values)));
        values.push_back(element(pair, array, draw(2)));
      } else {
        nested(values, kind, depth + 1);
      }
    }
  }

  void update(std::vector<std::string>& values) {
    const std::string part = add("f32[4]", fmt::format("slice({}), slice={{[2:6]}}", pick(values)));
    const std::string at = add("s32[]", fmt::format("constant({})", draw(16)));
    values.push_back(
        add(array, fmt::format("dynamic-update-slice({}, {}, {})", pick(values), part, at)));
  }

  // A computation of its own is written while the one around it waits.
  template <class Body>
  std::string computation(Body body) {
    const std::string outer = std::exchange(body_, "");
    const std::string id = fmt::format("c{}", next_++);
    const std::string root = body();
    computations_ += fmt::format("{} {{\n{}  ROOT {}}}\n", id, body_, root);
    body_ = outer;
    return id;
  }

  void nested(std::vector<std::string>& values, int kind, int depth) {
    if (kind < 12) return loop(values, depth);
    const auto leaf = [&] {
      return computation([&] {
        std::vector<std::string> inner = {parameter(0)};
        grow(inner, 1 + draw(4), depth);
        return fmt::format("{} = {} add({}, {})\n", name(), array, inner.back(), pick(inner));
      });
    };
    if (kind == 12) {
      const std::string callee = leaf();
      values.push_back(add(array, fmt::format("call({}), to_apply={}", pick(values), callee)));
      return;
    }
    const std::string yes = leaf(), no = leaf();
    const std::string which = add("pred[]", draw(2) ? "constant(true)" : "constant(false)");
    values.push_back(add(array, fmt::format("conditional({}, {}, {}), true_computation={}, "
                                            "false_computation={}",
                                            which, pick(values), pick(values), yes, no)));
  }

  void loop(std::vector<std::string>& values, int depth) {
    const std::string condition = computation([&] {
      const std::string state = add(carry, "parameter(0)");
      const std::string i = element(state, "s32[]", 0);
      const std::string end = add("s32[]", fmt::format("constant({})", draw(4)));
      return fmt::format("{} = pred[] compare({}, {}), direction=LT\n", name(), i, end);
    });
    const std::string body = computation([&] {
      const std::string state = add(carry, "parameter(0)");
      const std::string i = element(state, "s32[]", 0);
      std::vector<std::string> inner;
      for (int e = 1; e <= 3; ++e) inner.push_back(element(state, array, e));
      const std::string one = add("s32[]", "constant(1)");
      const std::string next = draw(2) ? add("s32[]", fmt::format("add({}, {})", i, one)) : "";
      grow(inner, 1 + draw(6), depth);
      const std::string late =
          next.empty() ? add("s32[]", fmt::format("add({}, {})", i, one)) : next;
      return fmt::format("{} = {} tuple({}, {}, {}, {})\n", name(), carry, late, pick(inner),
                         pick(inner), pick(inner));
    });
    const std::string zero = add("s32[]", "constant(0)");
    const std::string first = add(carry, fmt::format("tuple({}, {}, {}, {})", zero, pick(values),
                                                     pick(values), pick(values)));
    const std::string last =
        add(carry, fmt::format("while({}), condition={}, body={}", first, condition, body));
    for (int e = 1; e <= 3; ++e)
      if (draw(2)) values.push_back(element(last, array, e));
  }

  std::mt19937_64 random_;
  std::string body_, computations_;
  int next_ = 0;
};

}  // namespace hilo::test
