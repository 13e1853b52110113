// `X-start(a)` stands for an async-start of a computation that holds one X, where nothing is lost:
// the computation is called from there alone, has nothing but parameters and its root, and bears
// the names that reading the sugar gives (async_wrapped, async_param, async_op).
#include "text/print.h"

namespace hilo {
namespace {

// base, base.1, base.2, ...
bool is_numbered(std::string_view name, std::string_view base, size_t number) {
  if (number == 0) return name == base;
  return name.starts_with(base) && name.substr(base.size()) == fmt::format(".{}", number);
}

bool has_own_async_form(Op op) {
  return op_of(fmt::format("{}-start", text_of(op))).has_value() ||
         op_of(fmt::format("{}-done", text_of(op))).has_value() || op == Op::Parameter ||
         op == Op::Constant;
}

bool is_plain(const Module& module, const Computation& computation) {
  const size_t count = computation.parameters.size();
  if (!computation.root || computation.instructions.size() != count + 1) return false;
  const Instruction& root = module[computation.root];
  const auto operands = module.operands(root);
  if (root.name != "async_op" || root.extra || root.metadata || operands.size() != count)
    return false;
  for (size_t i = 0; i < count; ++i) {
    const Instruction& parameter = module[computation.parameters[i]];
    if (operands[i] != computation.parameters[i] || computation.instructions[i] != operands[i] ||
        parameter.extra || parameter.metadata || !is_numbered(parameter.name, "async_param", i))
      return false;
  }
  return !has_own_async_form(root.op) && op_of(text_of(root.op)) == root.op;
}

// The shapes that the sugar gives: of the operands, and of the second element of the result.
bool shapes_fit(const Module& module, const Instruction& start, const Computation& computation) {
  const Shape& shape = module.shape(start);
  const auto operands = module.operands(start);
  if (!shape.is_tuple() || shape.elements.size() < 2 ||
      operands.size() != computation.parameters.size() ||
      shape.elements[1] != module.shape(computation.root))
    return false;
  for (size_t i = 0; i < operands.size(); ++i)
    if (module[operands[i]].shape != module[computation.parameters[i]].shape) return false;
  return true;
}

bool thread_fits(const AsyncAttributes& attributes, const Computation& computation) {
  return computation.execution_thread == (attributes.async_execution_thread.empty()
                                              ? std::string_view("main")
                                              : attributes.async_execution_thread);
}

// An update or a done that does not say its start counts as another caller, as does one that says
// where its own result lies: sugar has no word for that.
std::vector<uint32_t> count_callers(const Module& module) {
  std::vector<uint32_t> callers(module.computations.size());
  const auto is_async = [&](InstructionId id) {
    return module[id].op == Op::AsyncStart || module[id].op == Op::AsyncUpdate;
  };
  for (const Computation& computation : module.computations)
    for (InstructionId id : computation.instructions) {
      const Instruction& instruction = module[id];
      const auto operands = module.operands(instruction);
      if ((instruction.op == Op::AsyncUpdate || instruction.op == Op::AsyncDone) &&
          !operands.empty() && is_async(operands[0]) &&
          module.attributes<AsyncAttributes>(instruction).output_to_operand_aliasing.empty())
        continue;
      for (ComputationId callee : module.called(instruction)) ++callers[callee.value];
    }
  return callers;
}

}  // namespace

void Printer::find_sugar() {
  const Module& module = *module_;
  std::vector<const Instruction*> starts;
  if (style_.async_sugar)
    for (const Computation& computation : module.computations)
      for (InstructionId id : computation.instructions)
        if (module[id].op == Op::AsyncStart) starts.push_back(&module[id]);
  if (starts.empty()) return;
  const std::vector<uint32_t> callers = count_callers(module);
  hidden_.resize(module.computations.size());
  size_t number = 0;
  for (const Instruction* start : starts) {
    const auto& attributes = module.attributes<AsyncAttributes>(*start);
    if (!attributes.calls || !attributes.output_to_operand_aliasing.empty()) continue;
    const Computation& wrapped = module[attributes.calls];
    if (callers[attributes.calls.value] != 1 ||
        !is_numbered(wrapped.name, "async_wrapped", number) || !is_plain(module, wrapped) ||
        !shapes_fit(module, *start, wrapped) || !thread_fits(attributes, wrapped))
      continue;
    hidden_[attributes.calls.value] = true;
    ++number;
  }
}

const Instruction* Printer::sugared(const Instruction& instruction) const {
  if (hidden_.empty() || info(instruction.op).attributes != info(Op::AsyncStart).attributes)
    return nullptr;
  const auto& attributes = module_->attributes<AsyncAttributes>(instruction);
  if (!attributes.calls || !is_hidden(attributes.calls)) return nullptr;
  return &(*module_)[(*module_)[attributes.calls].root];
}

}  // namespace hilo
