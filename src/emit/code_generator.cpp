#include "emit/code_generator.h"

#include <llvm/CodeGen/TargetInstrInfo.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/PassInfo.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>

#include <algorithm>

#include "emit/llvm_failure.h"

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

// What the code generator does for exceptions, debuggers, profilers, garbage collectors, attacks by
// speculation and matrix tiles: kernels have nothing for these passes, but each takes its time for
// each function.
constexpr llvm::StringLiteral needless[] = {"callbrprepare",
                                            "cfi-instr-inserter",
                                            "debug-ata",
                                            "dwarf-eh-prepare",
                                            "expand-memcmp",
                                            "fentry-insert",
                                            "fixup-statepoint-caller-saved",
                                            "funclet-layout",
                                            "gc-analysis",
                                            "gc-lowering",
                                            "indirectbr-expand",
                                            "kcfi",
                                            "livedebugvalues",
                                            "localstackalloc",
                                            "machine-sanmd",
                                            "mergeicmps",
                                            "objc-arc-contract",
                                            "partially-inline-libcalls",
                                            "patchable-function",
                                            "post-inline-ee-instrument",
                                            "pseudo-probe-inserter",
                                            "regallocscoringpass",
                                            "remove-loads-into-fake-uses",
                                            "removeredundantdebugvalues",
                                            "replace-with-veclib",
                                            "safe-stack",
                                            "shadow-stack-gc-lowering",
                                            "stack-frame-layout",
                                            "stackmap-liveness",
                                            "tilepreconfig",
                                            "x86-avoid-sfb",
                                            "x86-cf-opt",
                                            "x86-lower-amx-intrinsics",
                                            "x86-lower-amx-type",
                                            "x86-lower-tile-copy",
                                            "x86-lvi-load",
                                            "x86-lvi-ret",
                                            "x86-return-thunks",
                                            "x86-seses",
                                            "x86-slh",
                                            "x86-suppress-apx-for-relocation",
                                            "x86-tile-config",
                                            "x86argumentstackrebase",
                                            "xray-instrumentation"};

class NeededPasses : public llvm::legacy::PassManager {
 public:
  void add(llvm::Pass* pass) override {
    const llvm::PassInfo* info = llvm::Pass::lookupPassInfo(pass->getPassID());
    if (info && std::ranges::binary_search(needless, info->getPassArgument())) delete pass;
    else PassManager::add(pass);
  }
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
  const LostWhereThrown<std::unique_ptr<NeededPasses>> passes(std::make_unique<NeededPasses>());
  llvm::MCContext* context = nullptr;
  if (machine_->addPassesToEmitMC(**passes, context, stream_, true))
    return llvm_error("no code for this chip");
  passes_ = std::move(*passes);
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
  const LostWhereThrown<Sample> sample;
  const llvm::TargetInstrInfo* instructions = nullptr;
  {
    const std::lock_guard guard(lock_);
    if (!idle_.empty()) return;
    auto made = CodeGenerator::make(chip_);
    if (!made) return;  // who compiles is told of errors
    const LostWhereThrown<std::unique_ptr<CodeGenerator>> generator(std::move(*made));
    if (!(*generator)->prepare()) return;
    instructions = (*generator)->machine().getSubtargetImpl(sample->function())->getInstrInfo();
    idle_.push_back(std::move(*generator));
  }
  // Which instructions read memory: millions of steps, for the first that asks.
  instructions->getOpcodeAfterMemoryUnfold(0, true, false, nullptr);
}

}  // namespace hilo
