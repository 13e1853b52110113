#include "emit/function_passes.h"

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Vectorize/LoopVectorize.h>
#include <llvm/Transforms/Vectorize/SLPVectorizer.h>

#include "emit/index_tables.h"
#include "emit/llvm_failure.h"
#include "emit/loop_remainders.h"
#include "emit/memory_steps.h"
#include "emit/promote_accumulators.h"
#include "emit/scalarized_lanes.h"
#include "emit/select_to_branch.h"
#include "emit/table_reads.h"
#include "emit/vector_steps.h"
#include "emit/vectorize_loops.h"

namespace hilo {
namespace {

// Of what is written as loops over elements.
llvm::FunctionPassManager passes(LoopsOver loops_over, bool has_accumulators = false) {
  llvm::FunctionPassManager out;
  out.addPass(llvm::EarlyCSEPass(true));
  out.addPass(llvm::InstCombinePass());
  out.addPass(llvm::SimplifyCFGPass());
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  out.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops), true));
  if (loops_over == LoopsOver::Windows) {
    llvm::LoopPassManager variables;
    variables.addPass(llvm::IndVarSimplifyPass());
    out.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(variables), false));
  }
  if (loops_over == LoopsOver::FlattenedRows) out.addPass(IndexTables());
  const bool is_along = loops_over == LoopsOver::AlongRows,
             is_across = loops_over == LoopsOver::AcrossRows;
  if (is_across) out.addPass(VectorizeLoops());
  if (is_along || is_across) out.addPass(llvm::SLPVectorizerPass());
  if (!is_across) out.addPass(VectorizeLoops());
  out.addPass(LoopRemainders());
  out.addPass(ScalarizedLanes());
  // One vector a round: several would make each loop four times as long to compile.
  llvm::LoopVectorizeOptions vectors;
  vectors.setInterleaveOnlyWhenForced(true);
  out.addPass(llvm::LoopVectorizePass(vectors));
  if (has_accumulators) {
    out.addPass(PromoteAccumulators());
    out.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  }
  out.addPass(llvm::EarlyCSEPass());
  out.addPass(llvm::InstCombinePass());
  out.addPass(llvm::SimplifyCFGPass());
  llvm::LoopPassManager last;
  last.addPass(llvm::LICMPass(llvm::LICMOptions()));
  out.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(last), true));
  return out;
}

void give_width(llvm::Function& function, llvm::FunctionAnalysisManager& functions) {
  const unsigned bits = register_bits(functions.getResult<llvm::TargetIRAnalysis>(function));
  for (llvm::Loop* loop : functions.getResult<llvm::LoopAnalysis>(function))
    if (const auto width = vector_width(*loop, bits))
      if (*width > 1) llvm::addStringMetadataToLoop(loop, "llvm.loop.vectorize.width", *width);
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

// One for each kind of loop.
class Pipelines {
 public:
  llvm::FunctionPassManager& of(const KernelHints& hints) {
    switch (hints.loops_over) {
      case LoopsOver::Vectors: return vectors_;
      case LoopsOver::AlongRows: return rows_;
      case LoopsOver::AcrossRows: return columns_;
      case LoopsOver::FlattenedRows: return flattened_rows_;
      case LoopsOver::Windows: return hints.has_accumulators ? accumulators_ : windows_;
      case LoopsOver::Elements:
      case LoopsOver::Positions: break;
    }
    return hints.has_accumulators ? accumulators_ : elements_;
  }

 private:
  llvm::FunctionPassManager elements_ = passes(LoopsOver::Elements),
                            windows_ = passes(LoopsOver::Windows),
                            accumulators_ = passes(LoopsOver::Elements, true),
                            rows_ = passes(LoopsOver::AlongRows),
                            columns_ = passes(LoopsOver::AcrossRows),
                            flattened_rows_ = passes(LoopsOver::FlattenedRows),
                            vectors_ = passes_for_vectors();
};

// LLVM would print why a loop did not become vectors as it was asked to.
struct KeepsRemarks : llvm::DiagnosticHandler {
  bool handleDiagnostics(const llvm::DiagnosticInfo& said) override {
    return said.getSeverity() != llvm::DS_Error;
  }
};

// LLVM's analyses, and what makes them.
struct Analyses {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;

  explicit Analyses(llvm::TargetMachine* machine) : builder(machine) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
  }
};

}  // namespace

void optimise(llvm::Module& ir, llvm::TargetMachine& machine, bool verify) {
  check(!verify || !llvm::verifyModule(ir, &llvm::errs()), "emit: LLVM IR that does not verify");
  ir.getContext().setDiagnosticHandler(std::make_unique<KeepsRemarks>());
  const LostWhereThrown<Analyses> analyses(&machine);
  llvm::FunctionAnalysisManager& functions = analyses->functions;
  Pipelines pipelines;
  for (llvm::Function& function : ir) {
    if (function.isDeclaration()) continue;
    let_tables_be_gathered(function, machine);
    note_quick_gathers(function, machine);
    const KernelHints hints = hints_of(function);
    if (hints.loops_over == LoopsOver::Positions) give_width(function, functions);
    pipelines.of(hints).run(function, functions);
    const unsigned bits = register_bits(functions.getResult<llvm::TargetIRAnalysis>(function));
    shorten_vector_steps(function, machine, bits);
    branch_around_unlikely(function);
    branch_around_long_arms(function);
    hasten_memory(function, functions, machine, bits);
  }
}

}  // namespace hilo
