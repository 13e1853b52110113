#include "tools/only.h"

#include "tools/named.h"

namespace hilo::tools {
namespace {

// What the header says of the old entry no longer holds.
void forget_entry(ModuleHeader& header) {
  header.input_output_alias.clear();
  header.buffer_donor.clear();
  header.entry_computation_layout.reset();
  header.allow_spmd_sharding_propagation_to_parameters.clear();
  header.allow_spmd_sharding_propagation_to_output.clear();
}

}  // namespace

Result<Module> isolate(const Module& module, std::string_view name) {
  const std::string_view bare = name.substr(name.starts_with('%') ? 1 : 0);
  if (const ComputationId computation = module.find_computation(bare)) {
    Module out = module;
    forget_entry(out.header);
    out.entry = computation;
    return out;
  }
  if (const InstructionId id = find_instruction(module, name)) return isolate(module, id);
  return std::unexpected(no_such_name(module, "--only", "computation or instruction", name));
}

Module isolate(const Module& module, InstructionId id) {
  Module out = module;
  forget_entry(out.header);
  const ComputationId entry = out.add_computation(fmt::format("only.{}", out[id].name));
  const Instruction instruction = out[id];
  const auto operands = out.operands(instruction);
  std::vector<InstructionId> parameters;
  std::vector<InstructionId> values(operands.begin(), operands.end());
  for (size_t i = 0; i < values.size(); ++i) {
    const Shape shape = out.shape(values[i]);
    const std::string parameter(out[values[i]].name);
    size_t same = 0;
    while (values[same] != values[i]) ++same;
    parameters.push_back(same < i
                             ? parameters[same]
                             : out.add_instruction(entry, Op::Parameter, shape, {}, parameter));
  }
  Instruction copy = instruction;
  copy.computation = entry;
  copy.first_use = {};
  copy.extra = {};
  const InstructionId root = out.append_raw(copy, parameters);
  out[entry].instructions.push_back(root);
  out[entry].root = root;
  out.entry = entry;
  return out;
}

}  // namespace hilo::tools
