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

// Short rows in straight code, whose vectors go along them, or across them where they can, or in
// flat loops.
enum class Rows { None, Along, Across, Flattened };

// Of what is written as loops over elements.
llvm::FunctionPassManager passes(bool has_windows, bool has_accumulators, Rows rows = Rows::None) {
  llvm::FunctionPassManager out;
  out.addPass(llvm::EarlyCSEPass(true));
  out.addPass(llvm::InstCombinePass());
  out.addPass(llvm::SimplifyCFGPass());
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  out.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops), true));
  if (has_windows) {
    llvm::LoopPassManager variables;
    variables.addPass(llvm::IndVarSimplifyPass());
    out.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(variables), false));
  }
  if (rows == Rows::Flattened) out.addPass(IndexTables());
  if (rows == Rows::Across) out.addPass(VectorizeLoops());
  if (rows == Rows::Along || rows == Rows::Across) out.addPass(llvm::SLPVectorizerPass());
  if (rows != Rows::Across) out.addPass(VectorizeLoops());
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
  llvm::FunctionPassManager of_elements = passes(false, false), of_windows = passes(true, false),
                            of_accumulators = passes(false, true),
                            of_rows = passes(false, false, Rows::Along),
                            of_columns = passes(false, false, Rows::Across),
                            of_flattened = passes(false, false, Rows::Flattened),
                            of_vectors = passes_for_vectors();
  for (llvm::Function& function : ir) {
    if (function.isDeclaration()) continue;
    let_tables_be_gathered(function, machine);
    note_quick_gathers(function, machine);
    const llvm::StringRef loops_over =
        function.getFnAttribute(loops_over_attribute).getValueAsString();
    if (loops_over == "places") give_width(function, functions);
    if (loops_over == "vectors") of_vectors.run(function, functions);
    else if (loops_over == "rows") of_rows.run(function, functions);
    else if (loops_over == "columns") of_columns.run(function, functions);
    else if (loops_over == "tabled rows") of_flattened.run(function, functions);
    else if (function.hasFnAttribute(accumulators_attribute))
      of_accumulators.run(function, functions);
    else (loops_over == "windows" ? of_windows : of_elements).run(function, functions);
    const unsigned bits = register_bits(functions.getResult<llvm::TargetIRAnalysis>(function));
    shorten_vector_steps(function, machine, bits);
    branch_around_unlikely(function);
    branch_around_long_arms(function);
    hasten_memory(function, functions, machine, bits);
  }
}

}  // namespace hilo
