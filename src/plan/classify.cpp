#include <algorithm>

#include "plan/assign.h"

namespace hilo {
namespace {

enum class Context : uint8_t { Unreached, Applied, Fused, Run };

// How each computation is reached; what is run by some caller counts as run.
std::vector<Context> find_contexts(const Module& module) {
  std::vector<Context> contexts(module.computations.size(), Context::Unreached);
  std::vector<ComputationId> callers_first = module.post_order();
  std::ranges::reverse(callers_first);
  contexts[module.entry.value] = Context::Run;
  for (ComputationId computation : callers_first) {
    for (InstructionId id : module[computation].instructions) {
      const Op op = module[id].op;
      Context context = Context::Applied;
      if (op == Op::Fusion) context = Context::Fused;
      if (contexts[computation.value] == Context::Run &&
          (op == Op::While || op == Op::Conditional || op == Op::Call || op == Op::AsyncStart))
        context = Context::Run;
      for (ComputationId callee : module.called(module[id]))
        contexts[callee.value] = std::max(contexts[callee.value], context);
    }
  }
  return contexts;
}

class Classifier {
 public:
  Classifier(const Module& module, const Machine& machine, const Aliases& aliases)
      : module_(module), machine_(machine), aliases_(aliases), contexts_(find_contexts(module)) {}

  BufferFacts classify(const Buffer& buffer) const {
    BufferFacts facts;
    facts.role = Role::Temp;
    for (ValueId id : buffer.values) add(aliases_[id], facts);
    if (facts.role == Role::Temp && facts.live_out) facts.role = Role::LiveOut;
    if (facts.role == Role::LiveOut) facts.writable = true;
    return facts;
  }

 private:
  void add(const Value& value, BufferFacts& facts) const {
    const Shape& shape = shape_of(module_, value);
    const Instruction& instruction = module_[value.definition().instruction];
    const int64_t bytes = buffer_bytes(machine_, shape);
    if (bytes >= facts.bytes) facts.is_tuple = shape.is_tuple();
    facts.bytes = std::max(facts.bytes, bytes);
    if (shape.has_layout && shape.layout.memory_space != 0) facts.space = shape.layout.memory_space;
    facts.live_out |= value.live_out;
    const Context context = contexts_[instruction.computation.value];
    if (context == Context::Applied) facts.role = Role::ThreadLocal;
    if (context == Context::Fused || context == Context::Unreached) facts.role = Role::None;
    if (context == Context::Run && instruction.op == Op::Constant && facts.role == Role::Temp)
      facts.role = Role::Constant;
    if (instruction.op == Op::Parameter && instruction.computation == module_.entry) {
      facts.role = Role::Parameter;
      facts.parameter =
          module_.attributes<ParameterAttributes>(value.definition().instruction).number;
      facts.parameter_index = value.definition().index;
      facts.writable = is_given_away(facts);
    }
  }

  // Whether the caller lets go of the parameter.
  bool is_given_away(const BufferFacts& facts) const {
    const auto names = [&](const auto& entry) {
      return entry.parameter == facts.parameter && entry.parameter_index == facts.parameter_index;
    };
    return std::ranges::any_of(module_.header.input_output_alias, names) ||
           std::ranges::any_of(module_.header.buffer_donor, names);
  }

  const Module& module_;
  const Machine& machine_;
  const Aliases& aliases_;
  const std::vector<Context> contexts_;  // by computation
};

}  // namespace

std::vector<BufferFacts> classify(const Module& module, const Machine& machine,
                                  const Aliases& aliases) {
  const Classifier classifier(module, machine, aliases);
  std::vector<BufferFacts> out;
  out.reserve(aliases.buffers.size());
  for (const Buffer& buffer : aliases.buffers) out.push_back(classifier.classify(buffer));
  return out;
}

std::vector<int64_t> sizes_of_values(const Module& module, const Machine& machine,
                                     const Aliases& aliases) {
  std::vector<int64_t> sizes;
  sizes.reserve(aliases.values.size());
  for (const Value& value : aliases.values)
    sizes.push_back(buffer_bytes(machine, shape_of(module, value)));
  return sizes;
}

}  // namespace hilo
