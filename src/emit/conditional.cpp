#include "emit/op_functions.h"
#include "emit/steps.h"

namespace hilo {
namespace {

std::vector<ComputationId> branches_of(const ConditionalAttributes& attributes) {
  if (!attributes.branch_computations.empty()) return attributes.branch_computations;
  return {attributes.true_computation, attributes.false_computation};
}

}  // namespace

// Branches of a pred stand as (true, false); an index outside the branches means the last one.
Result<void> step_Conditional(Steps& steps, InstructionId id) {
  const auto& attributes = steps.module.attributes<ConditionalAttributes>(id);
  const InstructionId chosen = steps.module.operand(id, 0);
  const bool is_pred = steps.module.shape(chosen).type == ElementType::Pred;
  const std::vector<ComputationId> branches = branches_of(attributes);
  Builder& b = steps.b;
  llvm::Value* held = steps.load_scalar(chosen);
  llvm::Value* number = is_pred ? b.CreateZExt(b.CreateNot(held), b.getInt32Ty()) : held;
  llvm::BasicBlock *last = steps.new_block(), *after = steps.new_block();
  llvm::SwitchInst* jump = b.CreateSwitch(number, last, static_cast<unsigned>(branches.size()));
  for (size_t i = 0; i < branches.size(); ++i) {
    llvm::BasicBlock* block = i + 1 == branches.size() ? last : steps.new_block();
    if (block != last) jump->addCase(b.getInt32(static_cast<uint32_t>(i)), block);
    b.SetInsertPoint(block);
    HILO_DO(steps.emit_called(branches[i]));
    b.CreateBr(after);
  }
  b.SetInsertPoint(after);
  return {};
}

}  // namespace hilo
