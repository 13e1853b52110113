#include "emit/memory_steps.h"

#include <llvm/Target/TargetMachine.h>

#include "emit/fetched_arrays.h"
#include "emit/single_lane_stores.h"
#include "emit/streamed_stores.h"
#include "emit/vector_constants.h"

namespace hilo {

void hasten_memory(llvm::Function& function, llvm::FunctionAnalysisManager& functions,
                   const llvm::TargetMachine& machine, unsigned register_bits) {
  store_whole(function);
  store_single_lanes(function);
  stream_stores(function, register_bits);
  fetch_large_arrays(function, functions, machine.getTargetCPU());
  keep_constants_as_vectors(function, machine);
}

}  // namespace hilo
