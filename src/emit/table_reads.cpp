#include "emit/table_reads.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>

#include <algorithm>

namespace hilo {
namespace {

bool reads_table(const llvm::Function& function) {
  return std::ranges::any_of(llvm::instructions(function), [](const llvm::Instruction& step) {
    const llvm::Value* place = llvm::getLoadStorePointerOperand(&step);
    if (!place) return false;
    const auto* table = llvm::dyn_cast<llvm::GlobalVariable>(llvm::getUnderlyingObject(place));
    return table && table->isConstant();
  });
}

}  // namespace

void let_tables_be_gathered(llvm::Function& function, const llvm::TargetMachine& machine) {
  if (!machine.getTargetTriple().isX86() || !reads_table(function)) return;
  const llvm::StringRef features = machine.getTargetFeatureString();
  function.addFnAttr("target-features",
                     features.empty() ? "+fast-gather" : (features + ",+fast-gather").str());
}

}  // namespace hilo
