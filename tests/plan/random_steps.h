// Random instructions as text: updates in place, fusions and custom calls that write over operands,
// tuples, steps that begin and end, control dependences.
#pragma once

#include "module_writer.h"

namespace hilo::test {

class RandomSteps : protected ModuleWriter {
 protected:
  explicit RandomSteps(uint64_t seed) : ModuleWriter(seed) {}

  static constexpr const char* pair = "(f32[16], f32[16])";
  static constexpr const char* nested = "((f32[16], f32[16]), f32[16])";

  std::string control(const Scope& scope) {
    return one_in(8) ? fmt::format(", control-predecessors={{{}}}", pick(scope)) : "";
  }

  void binary(Scope& scope) {
    const std::string op = any<std::string>({"add", "subtract", "multiply", "maximum"});
    const std::string x = pick(scope), y = pick(scope);
    scope.arrays.push_back(add(array, fmt::format("{}({}, {}){}", op, x, y, control(scope))));
  }
  void unary(Scope& scope) {
    const std::string op = any<std::string>({"negate", "sine", "copy", "abs"});
    const std::string x = pick(scope);
    scope.arrays.push_back(add(array, fmt::format("{}({}){}", op, x, control(scope))));
  }
  void moved(Scope& scope) {
    scope.arrays.push_back(add(array, fmt::format("reverse({}), dimensions={{0}}", pick(scope))));
  }
  void update(Scope& scope) {
    const std::string part = add("f32[4]", fmt::format("slice({}), slice={{[2:6]}}", pick(scope)));
    scope.arrays.push_back(add(array, fmt::format("dynamic-update-slice({}, {}, {})", pick(scope),
                                                  part, constant(draw(16)))));
  }
  void scatter(Scope& scope) {
    const std::string sum = scalar_computation("add");
    const std::string at =
        add("s32[2,1]", fmt::format("constant({{ {{{}}}, {{{}}} }})", draw(16), draw(16)));
    const std::string part = add("f32[2]", fmt::format("slice({}), slice={{[3:5]}}", pick(scope)));
    scope.arrays.push_back(
        add(array, fmt::format("scatter({}, {}, {}), update_window_dims={{}}, "
                               "inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, "
                               "index_vector_dim=1, to_apply={}",
                               pick(scope), at, part, sum)));
  }
  void tuples(Scope& scope) {
    const std::string inner = add(pair, fmt::format("tuple({}, {})", pick(scope), pick(scope)));
    if (one_in(3)) return scope.arrays.push_back(element(inner, array, draw(2)));
    std::string outer = add(nested, fmt::format("tuple({}, {})", inner, pick(scope)));
    if (one_in(2)) outer = add(nested, fmt::format("opt-barrier({})", outer));
    scope.arrays.push_back(element(element(outer, pair, 0), array, draw(2)));
    scope.arrays.push_back(element(outer, array, 1));
  }
  void sort(Scope& scope) {
    const std::string less = computation([&] {
      const std::string x = parameter(0, "f32[]"), y = parameter(1, "f32[]");
      return fmt::format("{} = pred[] compare({}, {}), direction=LT\n", name(), x, y);
    });
    scope.arrays.push_back(
        add(array, fmt::format("sort({}), dimensions={{0}}, to_apply={}", pick(scope), less)));
  }
  void reduce(Scope& scope) {
    const std::string sum = scalar_computation("maximum");
    const std::string zero = add("f32[]", "constant(0)");
    const std::string most =
        add("f32[]",
            fmt::format("reduce({}, {}), dimensions={{0}}, to_apply={}", pick(scope), zero, sum));
    scope.arrays.push_back(add(array, fmt::format("broadcast({}), dimensions={{}}", most)));
  }
  void wide(Scope& scope) {
    const std::string both = add(
        "f32[32]", fmt::format("concatenate({}, {}), dimensions={{0}}", pick(scope), pick(scope)));
    const std::string more = add("f32[32]", fmt::format("negate({})", both));
    scope.arrays.push_back(
        add(array, fmt::format("slice({}), slice={{[8:24]}}", one_in(2) ? both : more)));
  }
  void bitcast(Scope& scope) {
    std::string square = add("f32[4,4]", fmt::format("bitcast({})", pick(scope)));
    if (one_in(2)) square = add("f32[4,4]", fmt::format("add({}, {})", square, square));
    scope.arrays.push_back(add(array, fmt::format("bitcast({})", square)));
  }

  void fused(Scope& scope) {
    const int kind = draw(4);
    const std::string inside = computation([&] {
      const std::string x = parameter(0), y = parameter(1);
      if (kind == 0) {
        const std::string part = add("f32[4]", fmt::format("slice({}), slice={{[9:13]}}", y));
        return fmt::format("{} = {} dynamic-update-slice({}, {}, {})\n", name(), array, x, part,
                           constant(draw(16)));
      }
      const std::string sum = add(array, fmt::format("add({}, {})", x, y));
      if (kind < 3) return fmt::format("{} = {} sine({})\n", name(), array, sum);
      const std::string product = add(array, fmt::format("multiply({}, {})", x, y));
      return fmt::format("{} = {} tuple({}, {})\n", name(), pair, sum, product);
    });
    const std::string made =
        add(kind == 3 ? pair : array,
            fmt::format("fusion({}, {}), kind=kLoop{}, calls={}", pick(scope), pick(scope),
                        kind == 2   ? ", output_to_operand_aliasing={{}: (1, {})}"
                        : kind == 3 ? ", output_to_operand_aliasing={{1}: (0, {})}"
                                    : "",
                        inside));
    if (kind < 3) return scope.arrays.push_back(made);
    for (int e = 0; e < 2; ++e) scope.arrays.push_back(element(made, array, e));
  }

  void custom(Scope& scope) {
    scope.arrays.push_back(
        add(array, fmt::format("custom-call({}), custom_call_target=\"Pin\"{}", pick(scope),
                               one_in(3) ? ""
                                         : ", output_to_operand_aliasing="
                                           "{{}: (0, {})}")));
  }

  // A step that ends later.
  void begin(Scope& scope) {
    const std::string x = pick(scope);
    const int kind = draw(5);
    if (kind == 4) return send(scope, x);
    const std::string sum = kind == 1 ? scalar_computation("add") : "";
    const std::string starts[] = {
        fmt::format("(f32[16], f32[16], u32[]) copy-start({})", x),
        fmt::format("f32[16] all-reduce-start({}), replica_groups={{{{0}}}}, to_apply={}", x, sum),
        fmt::format("(f32[16], f32[16]) all-gather-start({}), replica_groups={{{{0}}}}, "
                    "dimensions={{0}}",
                    x),
        fmt::format("(f32[16], f32[16]) collective-permute-start({}), "
                    "source_target_pairs={{{{0,0}}}}",
                    x)};
    const char* dones[] = {"copy-done", "all-reduce-done", "all-gather-done",
                           "collective-permute-done"};
    const std::string start = add("", starts[kind]);
    const std::string done = dones[kind];
    scope.open.push_back(
        [this, start, done] { return add(array, fmt::format("{}({})", done, start)); });
  }
  void send(Scope& scope, const std::string& x) {
    const int channel = number();
    const std::string token = add("token[]", "after-all()");
    const std::string out = add("(f32[16], u32[], token[])",
                                fmt::format("send({}, {}), channel_id={}", x, token, channel));
    const std::string in =
        add("(f32[16], u32[], token[])", fmt::format("recv({}), channel_id={}", token, channel));
    scope.open.push_back([this, out, in, channel] {
      const std::string got =
          add("(f32[16], token[])",
              fmt::format("recv-done({}), channel_id={}, control-predecessors={{{}}}", in, channel,
                          out));
      add("token[]", fmt::format("send-done({}), channel_id={}", out, channel));
      return element(got, array, 0);
    });
  }
  void pairs(Scope& scope) {
    const std::string less = computation([&] {
      const std::string x = parameter(0, "f32[]"), y = parameter(1, "f32[]");
      for (int p = 2; p < 4; ++p) parameter(p, "f32[]");
      return fmt::format("{} = pred[] compare({}, {}), direction=GT\n", name(), x, y);
    });
    const std::string both = add(pair, fmt::format("sort({}, {}), dimensions={{0}}, to_apply={}",
                                                   pick(scope), pick(scope), less));
    for (int e = 0; e < 2; ++e) scope.arrays.push_back(element(both, array, e));
  }
  // Through another memory.
  void spaced(Scope& scope) {
    constexpr const char* near = "f32[16]{0:S(1)}";
    std::string here;
    if (one_in(2)) {
      const std::string start = add("(f32[16]{0:S(1)}, f32[16], u32[]{:S(2)})",
                                    fmt::format("copy-start({})", pick(scope)));
      unary(scope);
      here = add(near, fmt::format("copy-done({})", start));
    } else {
      here = add(near, fmt::format("copy({})", pick(scope)));
    }
    const std::string more = add(near, fmt::format("negate({})", here));
    const std::string sum = add(near, fmt::format("add({}, {})", more, one_in(2) ? here : more));
    scope.arrays.push_back(add(array, fmt::format("copy({})", sum)));
  }
  void taken(Scope& scope) {
    const std::string part =
        add("f32[4]", fmt::format("dynamic-slice({}, {}), dynamic_slice_sizes={{4}}", pick(scope),
                                  constant(draw(16))));
    const std::string token = add("token[]", "after-all()");
    const std::string later = add("f32[4]", fmt::format("add-dependency({}, {})", part, token));
    scope.arrays.push_back(add(array, fmt::format("concatenate({}, {}, {}, {}), dimensions={{0}}",
                                                  later, part, later, part)));
  }
};

}  // namespace hilo::test
