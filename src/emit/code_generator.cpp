#include "emit/code_generator.h"

#include <llvm/CodeGen/TargetInstrInfo.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>

namespace hilo {
namespace {

// A function with the attributes of those that code is made of, in a module of its own.
class Sample {
 public:
  Sample() : ir_("", context_) {
    auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context_), false);
    function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "", ir_);
    CodeGenerator::set_attributes(*function_);
  }
  const llvm::Function& function() const { return *function_; }

 private:
  llvm::LLVMContext context_;
  llvm::Module ir_;
  llvm::Function* function_;
};

}  // namespace

CodeGenerator::~CodeGenerator() = default;

void CodeGenerator::set_attributes(llvm::Function& function) {
  function.addFnAttr("prefer-vector-width", "512");
  // Subnormal numbers are zeros when the code runs, as in the evaluator and in XLA.
  function.addFnAttr("denormal-fp-math", "preserve-sign,preserve-sign");
}

Result<std::unique_ptr<CodeGenerator>> CodeGenerator::make(const Chip& chip) {
  std::unique_ptr<CodeGenerator> out(new CodeGenerator);
  HILO_TRY(out->machine_, chip.machine());
  return out;
}

Result<void> CodeGenerator::prepare() {
  if (passes_) return {};
  auto passes = std::make_unique<llvm::legacy::PassManager>();
  llvm::MCContext* context = nullptr;
  if (machine_->addPassesToEmitMC(*passes, context, stream_, true))
    return fail(ErrorKind::Unsupported, "LLVM cannot emit code for this chip");
  passes_ = std::move(passes);
  return {};
}

// The passes are used once: what they keep of a module is theirs.
Result<std::unique_ptr<llvm::MemoryBuffer>> CodeGenerator::object_of(llvm::Module& ir) {
  HILO_DO(prepare());
  passes_->run(ir);
  passes_.reset();
  auto out = std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes_), "hilo", false);
  bytes_.clear();
  return out;
}

Result<std::unique_ptr<CodeGenerator>> CodeGenerators::take() {
  const std::lock_guard guard(lock_);
  if (idle_.empty()) return CodeGenerator::make(chip_);
  auto out = std::move(idle_.back());
  idle_.pop_back();
  return out;
}

void CodeGenerators::give_back(std::unique_ptr<CodeGenerator> generator) {
  const std::lock_guard guard(lock_);
  idle_.push_back(std::move(generator));
}

void CodeGenerators::make_ready() {
  const Sample sample;
  const llvm::TargetInstrInfo* instructions = nullptr;
  {
    const std::lock_guard guard(lock_);
    if (!idle_.empty()) return;
    auto made = CodeGenerator::make(chip_);
    // Who compiles is told of errors.
    if (!made || !(*made)->prepare()) return;
    instructions = (*made)->machine().getSubtargetImpl(sample.function())->getInstrInfo();
    idle_.push_back(std::move(*made));
  }
  // Which instructions read memory: millions of steps, for the first that asks.
  instructions->getOpcodeAfterMemoryUnfold(0, true, false, nullptr);
}

}  // namespace hilo
