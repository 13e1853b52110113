#include "emit/registers.h"

#include <llvm/IR/Dominators.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "emit/scalars.h"

namespace hilo {
namespace {

// Whether a register has one element as it is held; of other values it has the bits.
bool is_held(Builder& b, const Shape& shape) {
  return element_count(shape) == 1 && is_array(shape.type) &&
         held_type(b, shape.type) == stored_type(b, shape.type);
}

llvm::Type* type_of(Builder& b, const Shape& shape) {
  if (is_held(b, shape)) return held_type(b, shape.type);
  return b.getIntNTy(8 * static_cast<unsigned>(literal_bytes(shape)));
}

}  // namespace

bool Registers::hold(Address address, const Shape& shape) const {
  if (!shape.is_array() || address.allocation >= plan_.allocations.size()) return false;
  const int64_t bytes = literal_bytes(shape);
  return (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) &&
         !plan_.allocations[address.allocation].is_constant;
}

Registers::Register& Registers::of(Builder& b, Address address, const Shape& shape) {
  Register& out = registers_[{address.allocation, address.offset, literal_bytes(shape)}];
  if (out.memory) return out;
  llvm::BasicBlock& first = function_->getEntryBlock();
  Builder at_start(&first, first.begin());
  out.memory = at_start.CreateAlloca(type_of(b, shape));
  return out;
}

// Values of several types may lie at one place one after the other, or the same bits as a bitcast.
llvm::Value* Registers::raw(Builder& b, Register& from, llvm::Type* type) {
  llvm::Value* out = b.CreateLoad(from.memory->getAllocatedType(), from.memory);
  return b.CreateBitCast(out, type);
}

llvm::Value* Registers::load(Builder& b, Address address, const Shape& shape) {
  llvm::Value* out = raw(b, of(b, address, shape), type_of(b, shape));
  return is_held(b, shape) ? out : element_of_bits(b, shape.type, out);
}

void Registers::store(Builder& b, Address address, const Shape& shape, llvm::Value* held) {
  Register& to = of(b, address, shape);
  to.is_written = true;
  llvm::Value* value = held;
  if (!is_held(b, shape))  // 4-bit floats take a byte
    value = b.CreateZExt(bits_of_element(b, shape.type, held), type_of(b, shape));
  b.CreateStore(b.CreateBitCast(value, to.memory->getAllocatedType()), to.memory);
}

void Registers::to_memory(Builder& b, Address address, const Shape& shape, llvm::Value* place) {
  Register& from = of(b, address, shape);
  llvm::Value* value = raw(b, from, type_of(b, shape));
  from.copies.push_back(b.CreateAlignedStore(value, place, llvm::Align(1)));
}

void Registers::from_memory(Builder& b, Address address, const Shape& shape, llvm::Value* place) {
  Register& to = of(b, address, shape);
  llvm::Value* value = b.CreateAlignedLoad(to.memory->getAllocatedType(), place, llvm::Align(1));
  b.CreateStore(value, to.memory);
}

void Registers::promote() {
  std::vector<llvm::AllocaInst*> all;
  for (auto& [place, one] : registers_) {
    if (!one.is_written)
      for (llvm::Instruction* copy : one.copies) copy->eraseFromParent();
    all.push_back(one.memory);
  }
  registers_.clear();
  if (all.empty()) return;
  llvm::DominatorTree dominators(*function_);
  llvm::PromoteMemToReg(all, dominators);
}

}  // namespace hilo
