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

// The callees of async-update and async-done are those of their start, which alone says them.
bool says_callees(Op op) { return op != Op::AsyncUpdate && op != Op::AsyncDone; }

void write_instruction(const Module& module, InstructionId id, const Ids& ids,
                       proto::HloInstructionProto& to) {
  const Instruction& instruction = module[id];
  to.set_name(std::string(instruction.name));
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

void write_computation(const Module& module, ComputationId id, const Ids& ids,
                       proto::HloComputationProto& to) {
  const Computation& computation = module[id];
  to.set_name(std::string(computation.name));
  to.set_id(id.value);
  to.set_root_id(ids[computation.root]);
  if (computation.execution_thread != "main")
    to.set_execution_thread(std::string(computation.execution_thread));
  for (InstructionId instruction : computation.instructions)
    write_instruction(module, instruction, ids, *to.add_instructions());
  proto::ProgramShapeProto& shape = *to.mutable_program_shape();
  for (InstructionId parameter : computation.parameters) {
    write_shape(module.shape(parameter), *shape.add_parameters());
    shape.add_parameter_names(std::string(module[parameter].name));
  }
  write_shape(module.shape(computation.root), *shape.mutable_result());
}

void write_schedule(const Module& module, const Ids& ids, proto::HloModuleProto& to) {
  auto& sequences = *to.mutable_schedule()->mutable_sequences();
  for (size_t c = 0; c < module.computations.size(); ++c) {
    auto& sequence = sequences[static_cast<int64_t>(c)];
    for (InstructionId id : module.computations[c].instructions)
      sequence.add_instruction_ids(ids[id]);
  }
}

}  // namespace

void write_module_proto(const Module& module, proto::HloModuleProto& to) {
  const Ids ids(module);
  write_header(module, to);
  for (uint32_t c = 0; c < module.computations.size(); ++c)
    write_computation(module, {c}, ids, *to.add_computations());
  to.set_entry_computation_id(module.entry.value);
  to.set_entry_computation_name(std::string(module[module.entry].name));
  if (module.header.is_scheduled) write_schedule(module, ids, to);
}

}  // namespace hilo
