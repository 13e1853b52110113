#include "emit/steps.h"

#include <cstddef>

#include "emit/op_functions.h"

namespace hilo {
namespace {

constexpr int deepest_calls = 500;

bool is_asynchronous(Op op) {
  return op == Op::AsyncStart || op == Op::AsyncUpdate || op == Op::AsyncDone;
}

std::unexpected<Error> unsupported(const Module& module, InstructionId id, std::string_view why) {
  return std::unexpected(Error{ErrorKind::Unsupported,
                               fmt::format("{} of {} on device cpu: {}", text_of(module[id].op),
                                           to_string_without_layout(module.shape(id)), why),
                               module.place(id)});
}

// What kernels write is not what it loads.
void is_same_all_run(llvm::LoadInst* load) {
  load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                    llvm::MDNode::get(load->getContext(), {}));
}

}  // namespace

Steps::Steps(Program& program, llvm::Function* function)
    : program(program), module(program.module), b(program.ir.getContext()), function_(function) {
  b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "", function));
}

llvm::BasicBlock* Steps::new_block() {
  return llvm::BasicBlock::Create(b.getContext(), "", function_);
}

llvm::Value* Steps::context_field(unsigned number) {
  static_assert(offsetof(RunContext, interrupt) == 8 && offsetof(RunContext, parallel) == 16 &&
                offsetof(RunContext, library) == 24 && offsetof(RunContext, after_step) == 32);
  llvm::Value* field = b.CreateConstInBoundsGEP1_64(b.getPtrTy(), context(), number);
  llvm::LoadInst* out = b.CreateLoad(b.getPtrTy(), field);
  is_same_all_run(out);
  return out;
}

llvm::Value* Steps::pointer(Address address) {
  llvm::Value* slot =
      b.CreateConstInBoundsGEP1_64(b.getPtrTy(), context_field(0), address.allocation);
  llvm::LoadInst* base = b.CreateLoad(b.getPtrTy(), slot);
  is_same_all_run(base);
  return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, static_cast<uint64_t>(address.offset));
}

llvm::Value* Steps::load_scalar(InstructionId id) {
  const auto addresses = program.addresses.of(id);
  check(addresses && addresses->size() == 1, "Steps: a scalar has a place");
  return load_element(b, module.shape(id).type, pointer((*addresses)[0]), int64(b, 0));
}

void Steps::return_if(llvm::Value* condition, llvm::Value* status) {
  llvm::BasicBlock *leave = new_block(), *stay = new_block();
  b.CreateCondBr(condition, leave, stay);
  b.SetInsertPoint(leave);
  b.CreateRet(status);
  b.SetInsertPoint(stay);
}

void Steps::call_checked(llvm::Function* function) {
  llvm::Value* status = b.CreateCall(function, {context()});
  return_if(b.CreateICmpNE(status, b.getInt32(0)), status);
}

Result<void> Steps::emit(InstructionId id) {
  const OpFunctions& functions = functions_of(module[id].op);
  if (!functions.step) return emit_kernels(id);
  const auto before = written();
  HILO_DO(functions.step(*this, id));
  program.needs_code |= written() != before;
  return {};
}

Result<void> Steps::emit_and_tell(InstructionId id) {
  const auto before = written();
  HILO_DO(emit(id));
  if (!program.tells_steps || written() == before) return {};
  auto* type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getInt64Ty()}, false);
  b.CreateCall(type, context_field(4), {context(), b.getInt64(id.value)});
  return {};
}

Result<void> Steps::emit_library(InstructionId id, std::string reason) {
  if (is_asynchronous(module[id].op)) return unsupported(module, id, "an asynchronous form");
  LibraryStep step;
  step.instruction = id;
  step.reason = std::move(reason);
  for (InstructionId operand : module.operands(id)) {
    HILO_TRY(auto leaves, program.addresses.of(operand));
    step.operands.push_back(std::move(leaves));
  }
  HILO_TRY(step.results, program.addresses.of(id));
  const auto number = static_cast<uint64_t>(program.code.library_steps.size());
  program.code.library_steps.push_back(std::move(step));
  auto* type = llvm::FunctionType::get(b.getInt32Ty(), {b.getPtrTy(), b.getInt64Ty()}, false);
  llvm::Value* status = b.CreateCall(type, context_field(3), {context(), b.getInt64(number)});
  return_if(b.CreateICmpNE(status, b.getInt32(0)), status);
  return {};
}

Result<llvm::Function*> emit_computation(Program& program, ComputationId computation) {
  if (++program.depth > deepest_calls)
    return fail(ErrorKind::Limit, "computations call each other more than {} deep", deepest_calls);
  llvm::LLVMContext& context = program.ir.getContext();
  auto* type = llvm::FunctionType::get(llvm::Type::getInt32Ty(context),
                                       {llvm::PointerType::get(context, 0)}, false);
  const bool is_entry = computation == program.module.entry;
  auto* function = llvm::Function::Create(
      type, is_entry ? llvm::Function::ExternalLinkage : llvm::Function::InternalLinkage,
      is_entry ? "run" : "computation", program.ir);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  Steps steps(program, function);
  for (InstructionId id : program.plan.schedule.orders[computation.value])
    HILO_DO(steps.emit_and_tell(id));
  steps.b.CreateRet(steps.b.getInt32(0));
  --program.depth;
  return function;
}

}  // namespace hilo
