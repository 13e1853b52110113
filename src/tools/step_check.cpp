#include "tools/step_check.h"

#include <algorithm>

#include "text/text.h"
#include "tools/only.h"

namespace hilo::tools {
namespace {

class Checker {
 public:
  Checker(const Module& module, const StepCheck& options)
      : module_(module), options_(options), readers_(module.instructions.size()) {
    for (InstructionId id : module[module.entry].instructions)
      for (InstructionId operand : module.operands(id)) ++readers_[operand.value];
  }

  // Values are kept until their last reader is done.
  void see(const ValueEvent& event) {
    if (event.depth != 0 || found_ || error_) return;
    if (!has_trait(module_[event.instruction].op, TraitNoTraffic)) check_step(event);
    for (InstructionId operand : module_.operands(event.instruction))
      if (--readers_[operand.value] == 0) values_.erase(operand.value);
    if (readers_[event.instruction.value] > 0)
      values_.emplace(event.instruction.value, *event.value);
  }

  Result<std::optional<StepDifference>> result() {
    if (error_) return std::unexpected(*error_);
    return std::move(found_);
  }

 private:
  std::vector<Literal> operands_of(InstructionId id) const {
    std::vector<Literal> out;
    std::vector<InstructionId> given;
    for (InstructionId operand : module_.operands(id))
      if (std::ranges::find(given, operand) == given.end()) {
        given.push_back(operand);
        const auto value = values_.find(operand.value);
        if (value == values_.end()) return {};
        out.push_back(value->second);
      }
    return out;
  }

  void check_step(const ValueEvent& event) {
    const InstructionId id = event.instruction;
    std::vector<Literal> operands = operands_of(id);
    if (operands.empty() && !module_.operands(id).empty()) return;
    auto code = compile(isolate(module_, id), cpu_target(), options_.compiling);
    auto got = code ? code->run(std::move(operands), {.interrupt = options_.eval.interrupt})
                    : Result<Literal>(std::unexpected(code.error()));
    if (!got) {
      if (got.error().kind != ErrorKind::Unsupported) error_ = got.error();
      return;
    }
    if (auto text = difference_of(*got, *event.value, module_.shape(id), options_.tolerance))
      found_ = StepDifference{std::string(module_[id].name),
                              print(module_, id, PrintStyle::compact()), std::move(*text)};
  }

  const Module& module_;
  const StepCheck& options_;
  std::vector<int64_t> readers_;
  std::map<uint32_t, Literal> values_;
  std::optional<StepDifference> found_;
  std::optional<Error> error_;
};

}  // namespace

Result<std::optional<StepDifference>> first_differing_step(const Module& module,
                                                           std::vector<Literal> arguments,
                                                           const StepCheck& options) {
  Checker checker(module, options);
  EvalOptions eval = options.eval;
  eval.observer = [&](const ValueEvent& event) { checker.see(event); };
  Inputs inputs;
  inputs.devices.push_back(std::move(arguments));
  HILO_DO(evaluate(module, std::move(inputs), eval));
  return checker.result();
}

std::optional<std::string> difference_of(const Literal& got, const Literal& want,
                                         const Shape& declared, const Tolerance& tolerance) {
  std::vector<Literal> gotten, wanted;
  std::vector<Shape> shapes;
  for_each_leaf(got, [&](const Literal& leaf) { gotten.push_back(leaf); });
  for_each_leaf(want, [&](const Literal& leaf) { wanted.push_back(leaf); });
  for_each_leaf(declared,
                [&](const Shape& leaf, std::span<const int64_t>) { shapes.push_back(leaf); });
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (!shapes[i].is_array()) continue;
    const Comparison one = compare(gotten[i], wanted[i], shapes[i].type, tolerance);
    if (!one.agrees())
      return fmt::format("out_{} {}: {}", i, to_string_without_layout(shapes[i]),
                         describe(one, shapes[i]));
  }
  return {};
}

}  // namespace hilo::tools
