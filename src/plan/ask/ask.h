// Whether a step can be a kernel, asked before there is code. Each structural op says by a constant
// `commands_of_Gather` what kind of command it is, what an element of it takes, and what loops of
// its own take; it is found through ops.def, and one that is not defined does not link. Private to
// `plan`.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "plan/commands.h"

namespace hilo {

using Answer = std::optional<Refusal>;  // nothing: it can

class KernelQuestion {
 public:
  KernelQuestion(const Module& module, InstructionId step, const KernelChip& chip)
      : module(module), chip(chip), step_(step) {}

  const Module& module;
  const KernelChip& chip;

  // The whole step: an instruction, or all that a fusion computes.
  Answer step();

  // One element of a leaf, computed where it is read.
  Answer element(InstructionId id, size_t leaf = 0);
  Answer operand(InstructionId id, size_t i) { return element(module.operand(id, i)); }
  Answer operands(InstructionId id);  // all of them
  // What a computation gives for scalars.
  Answer applied(ComputationId computation);
  // That the fusion's parameters are its operands.
  Answer bind(InstructionId fusion);
  // Whether an array holds the elements of the instruction's only leaf, in their order.
  bool has_array(InstructionId id) const;
  HasArray arrays() const {
    return [this](InstructionId id) { return has_array(id); };
  }

  static Answer no(NoKernel reason, InstructionId at) { return Refusal{reason, at}; }

 private:
  struct Known {
    Answer answer;
    int height = 0;  // of what it is computed from
  };
  Answer border();
  Answer targets();
  Answer target(InstructionId value, size_t leaf);
  Answer compute(InstructionId id, size_t leaf);
  Answer elementwise(InstructionId root);
  Answer constant(InstructionId id);
  bool is_bound(InstructionId& id) const;

  const InstructionId step_;
  std::set<InstructionId> arrays_;                     // that the kernel is given
  std::map<InstructionId, InstructionId> parameters_;  // of fused computations -> operands
  std::set<InstructionId> scalars_;                    // parameters of applied computations
  std::map<std::pair<InstructionId, size_t>, Known> known_;
  // Nested values that are not elementwise: of what is asked now, and of what was asked last.
  int depth_ = 0, height_ = 0;
};

// What a structural op is among the steps of a computation.
enum class StepForm : uint8_t {
  Kernel,        // if it can be one; else a routine or evaluated
  Nothing,       // its result lies where its operands do, or is no array
  Copy,          // a kernel that moves
  Collective,    // done by devices together
  Asynchronous,  // cannot be done by itself
  Loop,
  Branch,
  Call
};
struct OpCommands {
  StepForm form = StepForm::Kernel;
  // One element of a leaf. Null: none of it alone.
  Answer (*element)(KernelQuestion&, InstructionId, size_t leaf) = nullptr;
  // Loops that write all of the result, where they take something else than its elements.
  Answer (*loops)(KernelQuestion&, InstructionId) = nullptr;
};
const OpCommands& commands_of(Op op);

// Whether the elementwise op has code for the types of its operands.
Answer ask_elementwise(const Module& module, InstructionId id);
#define HILO_DECLARE_Elementwise(name)
#define HILO_DECLARE_Structural(name) extern const OpCommands commands_of_##name;
#define OP(name, text, operands, attributes, op_class, types, ...) HILO_DECLARE_##op_class(name)
#include "ir/ops.def"
#undef OP
#undef HILO_DECLARE_Elementwise
#undef HILO_DECLARE_Structural

}  // namespace hilo
