#include "compile/library_steps.h"

#include <cstring>

namespace hilo {
namespace {

constexpr int64_t threads_pay_bytes = 1 << 18;

// A computation whose parameters are the instruction's operands, each operand slot one.
ComputationId isolate(Module& module, InstructionId id) {
  const ComputationId out = module.add_computation("library");
  const Instruction instruction = module[id];
  const auto operands = module.operands(id);
  const std::vector<InstructionId> values(operands.begin(), operands.end());
  std::vector<InstructionId> parameters;
  for (InstructionId value : values) {
    const Shape shape = module.shape(value);
    parameters.push_back(module.add_instruction(out, Op::Parameter, shape, {}));
  }
  Instruction copy = instruction;
  copy.computation = out;
  copy.first_use = {};
  copy.extra = {};
  const InstructionId root = module.append_raw(copy, parameters);
  module[out].instructions.push_back(root);
  module[out].root = root;
  return out;
}

// A value that shows arrays in memory of others; `owner` keeps evaluation from writing over it.
Literal view(const Shape& shape, std::span<const Address> addresses, size_t& leaf,
             std::byte* const* memory, std::vector<Bytes>& owners) {
  if (shape.is_tuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.elements)
      elements.push_back(view(element, addresses, leaf, memory, owners));
    return Literal::tuple(std::move(elements));
  }
  const Address& address = addresses[leaf++];
  owners.push_back(Bytes(memory[address.allocation] + address.offset, [](std::byte*) {}));
  return Literal::view(shape, owners.back());
}

}  // namespace

LibrarySteps::LibrarySteps(const Module& module, std::span<const LibraryStep> steps,
                           const EvalOptions& options)
    : steps_(steps.begin(), steps.end()), options_(options) {
  if (steps_.empty()) return;
  module_ = module;
  for (const LibraryStep& step : steps_) {
    int64_t bytes = literal_bytes(module_.shape(step.instruction));
    for (InstructionId operand : module_.operands(step.instruction))
      bytes += literal_bytes(module_.shape(operand));
    bytes_.push_back(bytes);
    computations_.push_back(isolate(module_, step.instruction));
  }
}

Result<void> LibrarySteps::run(int64_t number, std::byte* const* memory,
                               const std::atomic<bool>* interrupt) const {
  const auto n = static_cast<size_t>(number);
  const LibraryStep& step = steps_[n];
  std::vector<Bytes> owners;
  std::vector<Literal> arguments;
  const auto operands = module_.operands(step.instruction);
  for (size_t i = 0; i < operands.size(); ++i) {
    size_t leaf = 0;
    arguments.push_back(view(module_.shape(operands[i]), step.operands[i], leaf, memory, owners));
  }
  EvalOptions options = options_;
  options.interrupt = interrupt;
  if (bytes_[n] < threads_pay_bytes) options.threads = 1;
  HILO_TRY(const Literal out,
           evaluate_computation(module_, computations_[n], std::move(arguments), options));
  size_t leaf = 0;
  for_each_leaf(out, [&](const Literal& value) {
    const Address& address = step.results[leaf++];
    const auto bytes = value.raw();
    if (!bytes.empty())
      std::memmove(memory[address.allocation] + address.offset, bytes.data(), bytes.size());
  });
  return {};
}

}  // namespace hilo
