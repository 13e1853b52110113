#include "emit/table_reads.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>

#include <algorithm>

namespace hilo {
namespace {

constexpr const char* features_attribute = "target-features";

bool reads_table(const llvm::Function& function) {
  return std::ranges::any_of(llvm::instructions(function), [](const llvm::Instruction& step) {
    const llvm::Value* place = llvm::getLoadStorePointerOperand(&step);
    if (!place) return false;
    const auto* table = llvm::dyn_cast<llvm::GlobalVariable>(llvm::getUnderlyingObject(place));
    return table && table->isConstant();
  });
}

}  // namespace

TablesAreGathered::TablesAreGathered(llvm::Function& function, const llvm::TargetMachine& machine)
    : function_(function), is_set_(machine.getTargetTriple().isX86() && reads_table(function)) {
  if (!is_set_) return;
  const llvm::StringRef features = machine.getTargetFeatureString();
  function.addFnAttr(features_attribute,
                     features.empty() ? "+fast-gather" : (features + ",+fast-gather").str());
}

TablesAreGathered::~TablesAreGathered() {
  if (is_set_) function_.removeFnAttr(features_attribute);
}

}  // namespace hilo
