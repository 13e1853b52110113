#include "emit/op_functions.h"
#include "emit/steps.h"

namespace hilo {

// The plan has put what is carried where the body's parameter, its result and the loop's result all
// lie, so that a round moves nothing.
Result<void> step_While(Steps& steps, InstructionId id) {
  const auto& attributes = steps.module.attributes<WhileAttributes>(id);
  Builder& b = steps.b;
  llvm::BasicBlock *test = steps.new_block(), *round = steps.new_block(),
                   *after = steps.new_block();
  b.CreateBr(test);
  b.SetInsertPoint(test);
  llvm::LoadInst* asked =
      b.CreateAlignedLoad(b.getInt8Ty(), steps.context_field(1), llvm::Align(1));
  asked->setAtomic(llvm::AtomicOrdering::Monotonic);
  steps.return_if(b.CreateICmpNE(asked, b.getInt8(0)),
                  b.getInt32(static_cast<uint32_t>(RunStatus::Interrupted)));
  HILO_DO(steps.emit_called(attributes.condition));
  llvm::Value* goes_on = steps.load_scalar(steps.module[attributes.condition].root);
  b.CreateCondBr(goes_on, round, after);
  b.SetInsertPoint(round);
  HILO_DO(steps.emit_called(attributes.body));
  b.CreateBr(test);
  b.SetInsertPoint(after);
  return {};
}

}  // namespace hilo
