// What this machine's processor has. Private to `emit`.
#pragma once

#include <llvm/ADT/StringMap.h>

namespace hilo {

// By LLVM's names of features: whether it has them. Others are not known.
llvm::StringMap<bool> host_features();

}  // namespace hilo
