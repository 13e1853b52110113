#include "emit/function_passes.h"

#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Vectorize/LoopVectorize.h>

#include "base/base.h"
#include "emit/masked_remainders.h"

namespace hilo {
namespace {

llvm::FunctionPassManager passes() {
  llvm::FunctionPassManager out;
  out.addPass(llvm::EarlyCSEPass(true));
  out.addPass(llvm::InstCombinePass());
  out.addPass(llvm::SimplifyCFGPass());
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  out.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops), true));
  llvm::LoopPassManager variables;
  variables.addPass(llvm::IndVarSimplifyPass());
  out.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(variables), false));
  out.addPass(MaskedRemainders());
  // One vector a round: several would make each loop four times as long to compile.
  llvm::LoopVectorizeOptions vectors;
  vectors.setInterleaveOnlyWhenForced(true);
  out.addPass(llvm::LoopVectorizePass(vectors));
  out.addPass(llvm::EarlyCSEPass());
  out.addPass(llvm::InstCombinePass());
  out.addPass(llvm::SimplifyCFGPass());
  llvm::LoopPassManager last;
  last.addPass(llvm::LICMPass(llvm::LICMOptions()));
  out.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(last), true));
  return out;
}

// Of what is written as vectors.
llvm::FunctionPassManager passes_for_vectors() {
  llvm::FunctionPassManager out;
  out.addPass(llvm::EarlyCSEPass());
  out.addPass(llvm::InstCombinePass());
  out.addPass(llvm::SimplifyCFGPass());
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  out.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops), true));
  return out;
}

}  // namespace

void optimise(llvm::Module& ir, llvm::TargetMachine& machine, bool verify) {
  check(!verify || !llvm::verifyModule(ir, &llvm::errs()), "emit: LLVM IR that does not verify");
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::FunctionPassManager all = passes(), few = passes_for_vectors();
  for (llvm::Function& function : ir)
    if (!function.isDeclaration())
      (function.hasFnAttribute("hilo-vectors") ? few : all).run(function, functions);
}

}  // namespace hilo
