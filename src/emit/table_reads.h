// Loops that read tables of the code. Private to `emit`.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/Target/TargetMachine.h>

namespace hilo {

// While it lives, LoopVectorize takes gathers for cheap in a function that reads tables, where the
// chip has slow ones. Else all that makes the place in a table becomes single elements, and with it
// most of a loop of sines, which seldom read theirs. The code generator, which knows the chip,
// makes loads of the gathers that are left.
class TablesAreGathered {
 public:
  TablesAreGathered(llvm::Function& function, const llvm::TargetMachine& machine);
  ~TablesAreGathered();
  TablesAreGathered(const TablesAreGathered&) = delete;
  TablesAreGathered& operator=(const TablesAreGathered&) = delete;

 private:
  llvm::Function& function_;
  bool is_set_;
};

}  // namespace hilo
