#include "compile/compile.h"
#include "pass/pass.h"

namespace hilo {

Result<void> partition(Module& module, PartitionFrom from) {
  const std::string_view name = from == PartitionFrom::Annotations ? "spmd" : "spmd-tiles";
  HILO_TRY(const Pipeline pipeline, parse_pipeline(name, all_passes(), all_pipelines()));
  HILO_DO(run_pipeline(module, pipeline));
  return {};
}

}  // namespace hilo
