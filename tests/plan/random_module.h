// Random modules as text: loops, branches, calls and asynchronous computations around random steps,
// tuples in tuples, aliases and donors.
#pragma once

#include "random_steps.h"

namespace hilo::test {

class RandomModule : RandomSteps {
 public:
  explicit RandomModule(uint64_t seed) : RandomSteps(seed) {}

  std::string text() {
    const bool scheduled = one_in(2);
    deepest_ = one_in(4) ? 3 : 2;
    Scope scope;
    for (int p = 0; p < 3; ++p) scope.arrays.push_back(parameter(p));
    const std::string given = parameter(3, pair);
    for (int e = 0; e < 2; ++e) scope.arrays.push_back(element(given, array, e));
    grow(scope, 6 + draw(14));
    const int results = 1 + draw(4);
    const std::string root = results_of(scope, results);
    const std::string entry = fmt::format("ENTRY e {{\n{}  ROOT {}}}\n", body_, root);
    return fmt::format("HloModule random{}{}\n{}{}", scheduled ? ", is_scheduled=true" : "",
                       sharing(results), finished_, entry);
  }

 private:
  static constexpr const char* carry = "(s32[], f32[16], f32[16], f32[16])";
  static constexpr const char* deep_carry = "((f32[16], s32[]), (f32[16], (f32[16])))";

  // input_output_alias and buffer_donor, of results {0}, {1}, ... and parameters 0, 1, 2, 3{0},
  // 3{1}.
  std::string sharing(int results) {
    std::vector<std::string> free = {"0, {}", "1, {}", "2, {}", "3, {0}", "3, {1}"};
    const auto take = [&] {
      const size_t at = static_cast<size_t>(draw(static_cast<int>(free.size())));
      std::string out = free[at];
      free.erase(free.begin() + static_cast<std::ptrdiff_t>(at));
      return out;
    };
    std::string aliases, donors;
    for (int r = 0; r < results; ++r)
      if (one_in(3))
        aliases += fmt::format("{}{{{}}}: ({}, {})", aliases.empty() ? "" : ", ", r, take(),
                               one_in(2) ? "may-alias" : "must-alias");
    if (one_in(4)) donors = fmt::format("({})", take());
    std::string out;
    if (!aliases.empty()) out += fmt::format(", input_output_alias={{ {} }}", aliases);
    if (!donors.empty()) out += fmt::format(", buffer_donor={{ {} }}", donors);
    return out;
  }

  std::string results_of(const Scope& scope, int count) {
    std::string shapes, operands;
    for (int i = 0; i < count; ++i) {
      shapes += fmt::format("{}{}", i ? ", " : "", array);
      operands += fmt::format("{}{}", i ? ", " : "", pick(scope));
    }
    return fmt::format("{} = ({}) tuple({})\n", name(), shapes, operands);
  }

  void grow(Scope& scope, int count) {
    using Make = void (RandomModule::*)(Scope&);
    constexpr Make flat[] = {
        &RandomModule::binary,  &RandomModule::binary, &RandomModule::binary, &RandomModule::unary,
        &RandomModule::unary,   &RandomModule::moved,  &RandomModule::update, &RandomModule::update,
        &RandomModule::scatter, &RandomModule::tuples, &RandomModule::sort,   &RandomModule::wide,
        &RandomModule::bitcast, &RandomModule::fused,  &RandomModule::fused,  &RandomModule::custom,
        &RandomModule::begin,   &RandomModule::begin,  &RandomModule::reduce, &RandomModule::pairs,
        &RandomModule::spaced,  &RandomModule::taken,
    };
    constexpr Make deep[] = {&RandomModule::loop,        &RandomModule::loop,
                             &RandomModule::deep_loop,   &RandomModule::call,
                             &RandomModule::conditional, &RandomModule::switched,
                             &RandomModule::async,       &RandomModule::late_async};
    constexpr int flats = sizeof flat / sizeof *flat, deeps = sizeof deep / sizeof *deep;
    for (int i = 0; i < count; ++i) {
      const int kind = draw(depth_ < deepest_ ? flats + deeps : flats);
      (this->*(kind < flats ? flat[kind] : deep[kind - flats]))(scope);
      if (!scope.open.empty() && one_in(3)) end_one(scope);
    }
    while (!scope.open.empty()) end_one(scope);
  }

  void end_one(Scope& scope) {
    const size_t at = static_cast<size_t>(draw(static_cast<int>(scope.open.size())));
    const std::function<std::string()> end = scope.open[at];
    scope.open.erase(scope.open.begin() + static_cast<std::ptrdiff_t>(at));
    scope.arrays.push_back(end());
  }

  std::string one_array(Scope& scope, int count) {
    grow(scope, count);
    return fmt::format("{} = {} {}\n", name(), array,
                       one_in(4) ? fmt::format("copy({})", pick(scope))
                                 : fmt::format("add({}, {})", scope.arrays.back(), pick(scope)));
  }
  // Of two arrays; it may pass one on, and may not look at the other.
  std::string leaf() {
    return computation([&] {
      Scope inner{{parameter(0), parameter(1)}, {}};
      return one_array(inner, 1 + draw(4));
    });
  }
  void call(Scope& scope) {
    const std::string callee = leaf();
    scope.arrays.push_back(
        add(array, fmt::format("call({}, {}), to_apply={}", pick(scope), pick(scope), callee)));
    if (one_in(3))
      scope.arrays.push_back(
          add(array, fmt::format("call({}, {}), to_apply={}", pick(scope), pick(scope), callee)));
  }
  void async(Scope& scope) {
    const std::string callee = leaf();
    const std::string start =
        add("((f32[16], f32[16]), f32[16], u32[])",
            fmt::format("async-start({}, {}), calls={}", pick(scope), pick(scope), callee));
    scope.open.push_back(
        [this, start] { return add(array, fmt::format("async-done({})", start)); });
  }
  // The second operand comes with an update.
  void late_async(Scope& scope) {
    const std::string callee = leaf();
    const std::string start = add("((f32[16]), f32[16], u32[])",
                                  fmt::format("async-start({}), calls={}", pick(scope), callee));
    binary(scope);
    const std::string update = add("((f32[16], f32[16]), f32[16], u32[])",
                                   fmt::format("async-update({}, {})", start, pick(scope)));
    scope.open.push_back(
        [this, update] { return add(array, fmt::format("async-done({})", update)); });
  }
  void conditional(Scope& scope) {
    const auto branch = [&](bool is_pair) {
      return computation([&] {
        const std::string given = parameter(0, is_pair ? pair : array);
        Scope inner{{is_pair ? element(given, array, 0) : given}, {}};
        if (is_pair && one_in(2)) inner.arrays.push_back(element(given, array, 1));
        return one_array(inner, 1 + draw(4));
      });
    };
    const std::string yes = branch(true), no = branch(false);
    const std::string both = add(pair, fmt::format("tuple({}, {})", pick(scope), pick(scope)));
    const std::string which = add("pred[]", one_in(2) ? "constant(true)" : "constant(false)");
    scope.arrays.push_back(add(array, fmt::format("conditional({}, {}, {}), true_computation={}, "
                                                  "false_computation={}",
                                                  which, both, pick(scope), yes, no)));
  }
  void switched(Scope& scope) {
    std::string branches, operands;
    for (int b = 0; b < 3; ++b) {
      const std::string branch = computation([&] {
        Scope inner{{parameter(0)}, {}};
        grow(inner, draw(3));
        return fmt::format("{} = {} tuple({}, {})\n", name(), pair, pick(inner), pick(inner));
      });
      branches += fmt::format("{}{}", b ? ", " : "", branch);
      operands += fmt::format(", {}", pick(scope));
    }
    const std::string which = constant(draw(3));
    const std::string made = add(pair, fmt::format("conditional({}{}), branch_computations={{{}}}",
                                                   which, operands, branches));
    for (int e = 0; e < 2; ++e) scope.arrays.push_back(element(made, array, e));
  }

  // i < limit, sometimes after the condition has written over what is carried.
  std::string condition(const std::string& i, const std::string& carried) {
    const std::string less =
        add("pred[]", fmt::format("compare({}, {}), direction=LT", i, constant(draw(4))));
    if (!one_in(3)) return fmt::format("{} = pred[] and({}, {})\n", name(), less, less);
    Scope inner{{carried}, {}};
    update(inner);
    const std::string part =
        add("f32[1]", fmt::format("slice({}), slice={{[3:4]}}", inner.arrays.back()));
    const std::string first = add("f32[]", fmt::format("reshape({})", part));
    const std::string low = add("f32[]", "constant(0.1)");
    const std::string small =
        add("pred[]", fmt::format("compare({}, {}), direction=LT", first, low));
    return fmt::format("{} = pred[] and({}, {})\n", name(), less, small);
  }
  std::string next_of(const std::string& i) {
    return add("s32[]", fmt::format("add({}, {})", i, constant(1)));
  }

  void loop(Scope& scope) {
    const std::string test = computation([&] {
      const std::string state = parameter(0, carry);
      return condition(element(state, "s32[]", 0), element(state, array, 1 + draw(3)));
    });
    const std::string body = computation([&] {
      const std::string state = parameter(0, carry);
      const std::string i = element(state, "s32[]", 0);
      Scope inner;
      for (int e = 1; e <= 3; ++e) inner.arrays.push_back(element(state, array, e));
      const std::string early = one_in(2) ? next_of(i) : "";
      grow(inner, 1 + draw(6));
      const std::string next = early.empty() ? next_of(i) : early;
      return fmt::format("{} = {} tuple({}, {}, {}, {})\n", name(), carry, next, pick(inner),
                         pick(inner), pick(inner));
    });
    const std::string first = add(carry, fmt::format("tuple({}, {}, {}, {})", constant(0),
                                                     pick(scope), pick(scope), pick(scope)));
    const std::string last =
        add(carry, fmt::format("while({}), condition={}, body={}", first, test, body));
    for (int e = 1; e <= 3; ++e)
      if (one_in(2)) scope.arrays.push_back(element(last, array, e));
  }

  // Of tuples in tuples.
  std::string state_of(const std::string& i, const std::string& a, const std::string& b,
                       const std::string& c) {
    const std::string left = add("(f32[16], s32[])", fmt::format("tuple({}, {})", a, i));
    const std::string last = add("(f32[16])", fmt::format("tuple({})", b));
    const std::string right = add("(f32[16], (f32[16]))", fmt::format("tuple({}, {})", c, last));
    return fmt::format("tuple({}, {})", left, right);
  }
  std::vector<std::string> parts_of(const std::string& state) {
    const std::string left = element(state, "(f32[16], s32[])", 0);
    const std::string right = element(state, "(f32[16], (f32[16]))", 1);
    return {element(left, array, 0), element(right, array, 0),
            element(element(right, "(f32[16])", 1), array, 0)};
  }
  void deep_loop(Scope& scope) {
    const auto counter = [&](const std::string& state) {
      return element(element(state, "(f32[16], s32[])", 0), "s32[]", 1);
    };
    const std::string test = computation([&] {
      const std::string state = parameter(0, deep_carry);
      return condition(counter(state), any(parts_of(state)));
    });
    const std::string body = computation([&] {
      const std::string state = parameter(0, deep_carry);
      const std::string i = next_of(counter(state));
      Scope inner{parts_of(state), {}};
      grow(inner, 1 + draw(5));
      const std::string next = state_of(i, pick(inner), pick(inner), pick(inner));
      return fmt::format("{} = {} {}\n", name(), deep_carry, next);
    });
    const std::string first =
        add(deep_carry, state_of(constant(0), pick(scope), pick(scope), pick(scope)));
    const std::string last =
        add(deep_carry, fmt::format("while({}), condition={}, body={}", first, test, body));
    for (const std::string& part : parts_of(last))
      if (one_in(2)) scope.arrays.push_back(part);
  }

  int deepest_ = 2;  // computations in each other
};

}  // namespace hilo::test
