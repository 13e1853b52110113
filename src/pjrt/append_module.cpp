#include "pjrt/append_module.h"

#include "rewrite/rewrite.h"

namespace hilo::pjrt {
namespace {

class Appending {
 public:
  Appending(Module& into, const Module& from, MetadataId metadata)
      : into_(into),
        from_(from),
        metadata_(metadata),
        computations_(from.computations.size()),
        copies_(from.instructions.size()) {}

  ComputationId run() {
    for (ComputationId id : from_.post_order()) append(id);  // callees before callers
    return computations_[from_.entry.value];
  }

 private:
  void append(ComputationId id) {
    const Computation& original = from_[id];
    const ComputationId copy = into_.add_computation(original.name);
    computations_[id.value] = copy;
    into_[copy].execution_thread = into_.strings.copy(original.execution_thread);
    for (InstructionId one : operands_first(from_, id)) append(one, copy);
    into_[copy].parameters.clear();  // they came in the order of the instructions
    for (InstructionId parameter : original.parameters)
      into_[copy].parameters.push_back(copies_[parameter.value]);
    into_[copy].root = copies_[original.root.value];
  }

  void append(InstructionId id, ComputationId computation) {
    const Instruction& original = from_[id];
    std::vector<InstructionId> operands;
    for (InstructionId operand : from_.operands(id)) operands.push_back(copies_[operand.value]);
    const InstructionId copy =
        into_.add_instruction(computation, original.op, from_.shape(id), operands, original.name);
    copies_[id.value] = copy;
    into_[copy].metadata = metadata_;
    visit_attributes_type(original.op, [&]<class A>(std::type_identity<A>) {
      into_.mutable_attributes<A>(copy) = from_.attributes<A>(original);
    });
    std::vector<ComputationId> called = from_.called(original);
    for (ComputationId& callee : called) callee = computations_[callee.value];
    if (!called.empty()) into_.set_called(copy, called);
    if (original.extra) append_extra(from_.extra(original), copy);
  }

  void append_extra(const Extra& original, InstructionId copy) {
    Extra& extra = into_.mutable_extra(copy);
    extra = original;
    extra.backend_config = into_.strings.copy(original.backend_config);
    for (InstructionId& before : extra.control_predecessors) before = copies_[before.value];
  }

  Module& into_;
  const Module& from_;
  const MetadataId metadata_;
  std::vector<ComputationId> computations_;  // by original
  std::vector<InstructionId> copies_;        // by original
};

}  // namespace

ComputationId append_module(Module& into, const Module& from, MetadataId metadata) {
  return Appending(into, from, metadata).run();
}

}  // namespace hilo::pjrt
