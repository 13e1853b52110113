#include "emit/llvm_modules.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/TargetParser/Host.h>

#include "emit/cache_sizes.h"

namespace hilo {
namespace {

// About ten milliseconds of making code, of which a part by itself costs one. It does not depend on
// the number of threads, nor does the code.
constexpr size_t full = 300;

}  // namespace

LlvmModules::LlvmModules(std::string name, const VectorRegisters& registers, bool whole)
    : name_(std::move(name)),
      triple_(llvm::sys::getProcessTriple()),
      layout_(triple_.computeDataLayout()),
      registers_(registers),
      whole_(whole) {
  begin();
}

void LlvmModules::begin() {
  Part part;
  part.context = std::make_unique<llvm::LLVMContext>();
  part.context->setDiscardValueNames(true);
  part.ir = std::make_unique<llvm::Module>(name_, *part.context);
  part.ir->setDataLayout(layout_);
  part.ir->setTargetTriple(triple_);
  set_vector_registers(*part.ir, registers_);
  if (!parts_.empty()) set_cpu(*part.ir, cpu_of(first()));
  parts_.push_back(std::move(part));
  instructions_ = 0;
}

llvm::Module& LlvmModules::current() {
  if (instructions_ >= full && !whole_) begin();
  return *parts_.back().ir;
}

void LlvmModules::added(const llvm::Function& function) {
  instructions_ += function.getInstructionCount();
}

void LlvmModules::drop(size_t i) {
  parts_[i].ir.reset();
  parts_[i].context.reset();
}

}  // namespace hilo
