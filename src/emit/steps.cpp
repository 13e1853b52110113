#include "emit/steps.h"

#include <cstddef>

#include "emit/op_functions.h"
#include "emit/tile_and_fuse.h"

namespace hilo {
namespace {

constexpr int deepest_calls = 500;
// Of called computations that stand in one function.
constexpr size_t max_inlined = 512;
constexpr int deepest_inlined = 16;
// Pointers to allocations that a function loads once for all its steps: many lie on the stack,
// where they are no nearer than in the run's context, and code of ever more values that live
// everywhere takes ever longer to make for each of them.
constexpr size_t max_bases = 64;

// What kernels write is not what it loads.
void is_same_all_run(llvm::LoadInst* load) {
  load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                    llvm::MDNode::get(load->getContext(), {}));
}

}  // namespace

Steps::Steps(Program& program, llvm::Function* function)
    : program(program),
      module(program.module),
      b(program.ir.getContext()),
      function_(function),
      first_(llvm::BasicBlock::Create(b.getContext(), "", function)),
      registers_(program.plan, function) {
  b.SetInsertPoint(new_block());
}

llvm::BasicBlock* Steps::new_block() {
  return llvm::BasicBlock::Create(b.getContext(), "", function_);
}

void Steps::close() {
  b.CreateRet(b.getInt32(0));
  first_.CreateBr(first_.GetInsertBlock()->getNextNode());
  registers_.promote();
}

llvm::Value* Steps::context_field(unsigned number) {
  static_assert(offsetof(RunContext, interrupt) == 8 && offsetof(RunContext, parallel) == 16 &&
                offsetof(RunContext, library) == 24 && offsetof(RunContext, after_step) == 32 &&
                offsetof(RunContext, library_in_parts) == 40);
  llvm::Value*& out = fields_[number];
  if (out) return out;
  llvm::Value* field = first_.CreateConstInBoundsGEP1_64(b.getPtrTy(), context(), number);
  llvm::LoadInst* load = first_.CreateLoad(b.getPtrTy(), field);
  is_same_all_run(load);
  return out = load;
}

llvm::Value* Steps::base(uint32_t allocation) {
  const auto load = [&](Builder& at) {
    return at.CreateLoad(b.getPtrTy(),
                         at.CreateConstInBoundsGEP1_64(b.getPtrTy(), context_field(0), allocation));
  };
  if (const auto found = bases_.find(allocation); found != bases_.end()) return found->second;
  if (bases_.size() == max_bases) return load(b);
  llvm::LoadInst* out = load(first_);
  is_same_all_run(out);
  return bases_[allocation] = out;
}

llvm::Value* Steps::pointer(Address address) {
  return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base(address.allocation),
                                      static_cast<uint64_t>(address.offset));
}

llvm::Value* Steps::load_scalar(InstructionId id) {
  const std::vector<Address> addresses = program.addresses.of(id);
  check(addresses.size() == 1, "Steps: a scalar has a place");
  const Shape& shape = module.shape(id);
  if (registers_.hold(addresses[0], shape)) return registers_.load(b, addresses[0], shape);
  return load_element(b, shape.type, pointer(addresses[0]), int64(b, 0));
}

template <class Body>
void Steps::for_each_held(InstructionId id, Body&& body) {
  const std::vector<Address> addresses = program.addresses.of(id);
  size_t leaf = 0;
  for_each_leaf(module.shape(id), [&](const Shape& shape, std::span<const int64_t>) {
    const Address address = addresses[leaf++];
    if (registers_.hold(address, shape)) body(address, shape);
  });
}

void Steps::to_memory(InstructionId id) {
  for_each_held(id, [&](Address address, const Shape& shape) {
    registers_.to_memory(b, address, shape, pointer(address));
  });
}

void Steps::from_memory(InstructionId id) {
  for_each_held(id, [&](Address address, const Shape& shape) {
    registers_.from_memory(b, address, shape, pointer(address));
  });
}

void Steps::return_if(llvm::Value* condition, llvm::Value* status) {
  llvm::BasicBlock *leave = new_block(), *stay = new_block();
  b.CreateCondBr(condition, leave, stay);
  b.SetInsertPoint(leave);
  b.CreateRet(status);
  b.SetInsertPoint(stay);
}

void Steps::call_or_return(unsigned field, std::initializer_list<llvm::Value*> arguments) {
  std::vector<llvm::Type*> types;
  for (const llvm::Value* argument : arguments) types.push_back(argument->getType());
  auto* type = llvm::FunctionType::get(b.getInt32Ty(), types, false);
  llvm::Value* status = b.CreateCall(type, context_field(field), arguments);
  return_if(b.CreateICmpNE(status, b.getInt32(0)), status);
}

Result<void> Steps::emit_called(ComputationId computation) {
  const size_t count = program.plan.schedule.orders[computation.value].size();
  if (inlined_ + count <= max_inlined && inlined_depth_ < deepest_inlined) {
    inlined_ += count;
    ++inlined_depth_;
    HILO_DO(emit_all(computation));
    --inlined_depth_;
    return {};
  }
  HILO_TRY(llvm::Function * function, emit_computation(program, computation));
  for (InstructionId parameter : module[computation].parameters) to_memory(parameter);
  llvm::Value* status = b.CreateCall(function, {context()});
  return_if(b.CreateICmpNE(status, b.getInt32(0)), status);
  from_memory(module[computation].root);
  return {};
}

Result<void> Steps::emit_all(ComputationId computation) {
  if (++program.depth > deepest_calls)
    return std::unexpected(
        Error{ErrorKind::Limit,
              fmt::format("computations call each other more than {} deep", deepest_calls),
              module.place(module[computation].root)});
  std::span<const InstructionId> order = program.plan.schedule.orders[computation.value];
  while (!order.empty()) {
    HILO_TRY(const size_t emitted, emit_tiled_and_fused(*this, order));
    order = order.subspan(emitted);
  }
  --program.depth;
  return {};
}

Result<void> Steps::emit(InstructionId id) {
  const OpFunctions& functions = functions_of(module[id].op);
  if (!functions.step) {
    emit_kernels(id);
    return {};
  }
  const auto before = written();
  HILO_DO(functions.step(*this, id));
  program.needs_code |= written() != before;
  return {};
}

bool Steps::is_told(InstructionId id) const {
  return program.tells_steps || (!program.is_object && is_large(module, id));
}

Result<void> Steps::emit_and_tell(InstructionId id) {
  HILO_DO(may_go_on(program.interrupt));
  const auto before = written();
  HILO_DO(emit(id));
  if (written() != before) tell(id);
  return {};
}

void Steps::tell(InstructionId id) {
  if (!is_told(id)) return;
  auto* type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getInt64Ty()}, false);
  b.CreateCall(type, context_field(4), {context(), b.getInt64(id.value)});
}

// Where that is known only when the program runs, the piece has an allocation of its own, whose
// place is stored with those of the others.
Address Steps::slice_address(InstructionId step, const OperandSlice& piece, ElementType type,
                             Address whole) {
  whole.offset += piece.first_element * storage_bytes(type);
  if (piece.starts.empty()) return whole;
  llvm::Value* first = int64(b, 0);
  for (const DynamicStart& start : piece.starts) {
    const InstructionId number = module.operand(step, start.operand);
    llvm::Value* place = as_index(b, module.shape(number).type, load_scalar(number));
    place = multiply_index(b, clamp_index(b, place, 0, start.most), start.stride);
    first = add_index(b, first, place);
  }
  llvm::Value* bytes = multiply_index(b, first, storage_bytes(type));
  const Address out = {program.addresses.add_suballocation()};
  b.CreateStore(b.CreateGEP(b.getInt8Ty(), pointer(whole), bytes),
                b.CreateConstInBoundsGEP1_64(b.getPtrTy(), context_field(0), out.allocation));
  program.needs_code = true;
  return out;
}

uint64_t Steps::add_library_step(InstructionId id, std::string reason) {
  const std::optional<DotOfSlices> product = dot_of_slices(module, id);
  LibraryStep step;
  step.instruction = product ? product->product : id;
  step.reason = std::move(reason);
  for (InstructionId operand : module.operands(id)) {
    step.operands.push_back(program.addresses.of(operand));
    to_memory(operand);
  }
  if (product) {
    std::vector<std::vector<Address>> pieces;
    for (size_t i = 0; i < product->operands.size(); ++i) {
      const OperandSlice& piece = product->operands[i];
      const ElementType type = module.shape(module.operand(product->product, i)).type;
      pieces.push_back({slice_address(id, piece, type, step.operands[piece.operand][0])});
    }
    step.operands = std::move(pieces);
  }
  step.results = program.addresses.of(id);
  program.code.library_steps.push_back(std::move(step));
  return program.code.library_steps.size() - 1;
}

void Steps::emit_library(InstructionId id, std::string reason) {
  const uint64_t number = add_library_step(id, std::move(reason));
  call_or_return(3, {context(), b.getInt64(number)});
  from_memory(id);
}

Result<llvm::Function*> emit_computation(Program& program, ComputationId computation) {
  llvm::LLVMContext& context = program.ir.getContext();
  auto* type = llvm::FunctionType::get(llvm::Type::getInt32Ty(context),
                                       {llvm::PointerType::get(context, 0)}, false);
  const bool is_entry = computation == program.module.entry;
  auto* function = llvm::Function::Create(
      type, is_entry ? llvm::Function::ExternalLinkage : llvm::Function::InternalLinkage,
      is_entry ? "run" : "computation", program.ir);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  Steps steps(program, function);
  for (InstructionId parameter : program.module[computation].parameters)
    steps.from_memory(parameter);
  HILO_DO(steps.emit_all(computation));
  steps.to_memory(program.module[computation].root);
  steps.close();
  return function;
}

}  // namespace hilo
