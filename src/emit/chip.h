// The chip that code is made for. Private to `emit`.
#pragma once

#include <llvm/Target/TargetMachine.h>

#include "emit/emit.h"

namespace hilo {

struct Chip {
  const llvm::Target* target = nullptr;
  llvm::Triple triple;
  std::string cpu, features;  // features: only those that differ from what the cpu implies

  // One for each thread that makes code.
  Result<std::unique_ptr<llvm::TargetMachine>> machine() const;
};

// The chip and the features that the options name.
Result<Chip> find_chip(const EmitOptions& options);

}  // namespace hilo
