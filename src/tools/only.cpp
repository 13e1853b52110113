#include "tools/only.h"

#include <algorithm>

#include "tools/named.h"
#include "tools/operand_values.h"

namespace hilo::tools {
namespace {

std::string_view bare(std::string_view name) { return name.substr(name.starts_with('%') ? 1 : 0); }

// Of an instruction: its operands, each once, as isolate() has parameters for them; a parameter
// stands for itself.
std::vector<InstructionId> distinct_operands(const Module& module, InstructionId id) {
  std::vector<InstructionId> out;
  if (module[id].op == Op::Parameter) out.push_back(id);
  for (InstructionId operand : module.operands(id))
    if (std::ranges::find(out, operand) == out.end()) out.push_back(operand);
  return out;
}

// The operands of a caller that are the parameters of its called computation number `called`; none
// where the computation is given parts of them.
std::vector<InstructionId> passed_operands(const Module& module, InstructionId caller,
                                           ComputationId computation, size_t called) {
  auto operands = module.operands(caller);
  if (module[caller].op == Op::Conditional) operands = operands.subspan(called + 1, 1);
  const auto& parameters = module[computation].parameters;
  const bool fits = std::ranges::equal(operands, parameters, [&](InstructionId a, InstructionId b) {
    return same_dims(module.shape(a), module.shape(b));
  });
  return fits ? std::vector<InstructionId>(operands.begin(), operands.end())
              : std::vector<InstructionId>();
}

Result<std::vector<InstructionId>> passed_values(const Module& module, ComputationId computation) {
  if (module[computation].parameters.empty()) return std::vector<InstructionId>();
  for (const Computation& caller : module.computations)
    for (InstructionId id : caller.instructions) {
      const auto called = module.called(module[id]);
      for (size_t i = 0; i < called.size(); ++i) {
        if (called[i] != computation) continue;
        if (auto out = passed_operands(module, id, computation, i); !out.empty()) return out;
      }
    }
  return fail(
      ErrorKind::Usage,
      "--only={}: no instruction gives this computation whole values of the run; --operands "
      "gives it its own",
      module[computation].name);
}

}  // namespace

void forget_entry(ModuleHeader& header) {
  header.input_output_alias.clear();
  header.buffer_donor.clear();
  header.entry_computation_layout.reset();
  header.allow_spmd_sharding_propagation_to_parameters.clear();
  header.allow_spmd_sharding_propagation_to_output.clear();
}

Result<Inputs> inputs_in_run(const Module& module, std::string_view name, Inputs inputs,
                             const EvalOptions& options) {
  std::vector<InstructionId> wanted;
  if (const ComputationId computation = module.find_computation(bare(name))) {
    if (computation == module.entry) return inputs;
    HILO_TRY(wanted, passed_values(module, computation));
  } else if (const InstructionId id = find_instruction(module, name)) {
    wanted = distinct_operands(module, id);
  } else {
    return std::unexpected(no_such_name(module, "--only", "computation or instruction", name));
  }
  Inputs out;
  HILO_TRY(out.devices, values_in_run(module, wanted, std::move(inputs), options));
  return out;
}

Result<Module> isolate(const Module& module, std::string_view name) {
  if (const ComputationId computation = module.find_computation(bare(name))) {
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
  out.entry = entry;
  const Instruction instruction = out[id];
  if (instruction.op == Op::Parameter) {
    const Shape shape = out.shape(id);
    out[entry].root = out.add_instruction(entry, Op::Parameter, shape, {}, instruction.name);
    return out;
  }
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
  if (instruction.extra)  // what it means may stand there
    out.mutable_extra(root).backend_config = module.extra(instruction).backend_config;
  out[entry].instructions.push_back(root);
  out[entry].root = root;
  return out;
}

}  // namespace hilo::tools
