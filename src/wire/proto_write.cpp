#include <unordered_map>
#include <unordered_set>

#include "wire/proto_attributes.h"
#include "wire/proto_extra.h"
#include "wire/proto_module.h"

namespace hilo {
namespace {

// XLA's ids: the computation's in the upper half, the place in it in the lower.
class Ids {
 public:
  explicit Ids(const Module& module) : ids_(module.instructions.size(), 0) {
    for (size_t c = 0; c < module.computations.size(); ++c) {
      int64_t place = 0;
      for (InstructionId id : module.computations[c].instructions)
        ids_[id.value] = static_cast<int64_t>(c) << 32 | place++;
    }
  }
  int64_t operator[](InstructionId id) const { return ids_[id.value]; }

 private:
  std::vector<int64_t> ids_;
};

// XLA reads a module only when no two of its instructions have one name, be it in different
// computations. The first keeps it, those of the entry before others; the others have a number
// behind it.
class Names {
 public:
  explicit Names(const Module& module) : module_(module) {
    for (const Computation& computation : module.computations)
      for (InstructionId id : computation.instructions) taken_.insert(module[id].name);
    add(module[module.entry]);
    for (uint32_t c = 0; c < module.computations.size(); ++c)
      if (c != module.entry.value) add(module.computations[c]);
  }
  std::string operator[](InstructionId id) const {
    const auto found = changed_.find(id.value);
    return found == changed_.end() ? std::string(module_[id].name) : found->second;
  }
  bool is_changed(InstructionId id) const { return changed_.contains(id.value); }

 private:
  void add(const Computation& computation) {
    for (InstructionId id : computation.instructions)
      if (!seen_.insert(module_[id].name).second) changed_[id.value] = numbered(module_[id].name);
  }
  std::string numbered(std::string_view name) {
    std::string out;
    do out = fmt::format("{}.{}", name, ++last_[name]);
    while (taken_.contains(out));
    return out;
  }

  const Module& module_;
  std::unordered_set<std::string_view> taken_, seen_;
  std::unordered_map<std::string_view, int64_t> last_;
  std::unordered_map<uint32_t, std::string> changed_;
};

// The callees of async-update and async-done are those of their start, which alone says them.
bool says_callees(Op op) { return op != Op::AsyncUpdate && op != Op::AsyncDone; }

void write_instruction(const Module& module, InstructionId id, const Ids& ids, const Names& names,
                       proto::HloInstructionProto& to) {
  const Instruction& instruction = module[id];
  to.set_name(names[id]);
  if (names.is_changed(id)) to.set_own_name(std::string(instruction.name));
  to.set_opcode(std::string(text_of(instruction.op)));
  to.set_id(ids[id]);
  write_shape(module.shape(instruction), *to.mutable_shape());
  for (InstructionId operand : module.operands(instruction)) to.add_operand_ids(ids[operand]);
  std::vector<ComputationId> called;
  write_attributes(module, instruction, to, called);
  if (says_callees(instruction.op))
    for (ComputationId callee : called) to.add_called_computation_ids(callee.value);
  const Extra& extra = module.extra(instruction);
  write_extra(extra, to);
  for (InstructionId before : extra.control_predecessors)
    to.add_control_predecessor_ids(ids[before]);
  if (instruction.metadata) write_metadata(module.metadata_of(instruction), *to.mutable_metadata());
}

void write_computation(const Module& module, ComputationId id, const Ids& ids, const Names& names,
                       proto::HloComputationProto& to) {
  const Computation& computation = module[id];
  to.set_name(std::string(computation.name));
  to.set_id(id.value);
  to.set_root_id(ids[computation.root]);
  if (computation.execution_thread != "main")
    to.set_execution_thread(std::string(computation.execution_thread));
  for (InstructionId instruction : computation.instructions)
    write_instruction(module, instruction, ids, names, *to.add_instructions());
  proto::ProgramShapeProto& shape = *to.mutable_program_shape();
  for (InstructionId parameter : computation.parameters) {
    write_shape(module.shape(parameter), *shape.add_parameters());
    shape.add_parameter_names(names[parameter]);
  }
  write_shape(module.shape(computation.root), *shape.mutable_result());
}

// Bodies of fusions have no order of their own in XLA, which reads no module where they do.
void write_schedule(const Module& module, const Ids& ids, proto::HloModuleProto& to) {
  std::vector<bool> is_fused(module.computations.size());
  for (const Computation& computation : module.computations)
    for (InstructionId id : computation.instructions)
      if (module[id].op == Op::Fusion)
        is_fused[module.attributes<FusionAttributes>(id).calls.value] = true;
  auto& sequences = *to.mutable_schedule()->mutable_sequences();
  for (size_t c = 0; c < module.computations.size(); ++c) {
    if (is_fused[c]) continue;
    auto& sequence = sequences[static_cast<int64_t>(c)];
    for (InstructionId id : module.computations[c].instructions)
      sequence.add_instruction_ids(ids[id]);
  }
}

}  // namespace

void write_module_proto(const Module& module, proto::HloModuleProto& to) {
  const Ids ids(module);
  const Names names(module);
  write_header(module, to);
  for (uint32_t c = 0; c < module.computations.size(); ++c)
    write_computation(module, {c}, ids, names, *to.add_computations());
  to.set_entry_computation_id(module.entry.value);
  to.set_entry_computation_name(std::string(module[module.entry].name));
  if (module.header.is_scheduled) write_schedule(module, ids, to);
}

}  // namespace hilo
