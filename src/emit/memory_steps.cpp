#include "emit/memory_steps.h"

#include <llvm/Target/TargetMachine.h>

#include "emit/non_temporal_stores.h"
#include "emit/prefetch.h"
#include "emit/single_lane_stores.h"
#include "emit/vector_constants.h"

namespace hilo {

void hasten_memory(llvm::Function& function, llvm::FunctionAnalysisManager& functions,
                   const llvm::TargetMachine& machine, unsigned register_bits) {
  store_whole(function);
  store_single_lanes(function);
  make_stores_non_temporal(function, register_bits);
  prefetch_large_arrays(function, functions, machine.getTargetCPU());
  keep_constants_as_vectors(function, machine);
}

}  // namespace hilo
