#include "compile/compile.h"
#include "pass/pass.h"

namespace hilo {

Result<bool> partition(Module& module, const PassOptions& options) {
  if (module.header.num_partitions <= 1) return false;
  HILO_TRY(const Pipeline pipeline, parse_pipeline("spmd", all_passes(), all_pipelines()));
  PipelineOptions pipeline_options;
  pipeline_options.pass = options;
  HILO_DO(run_pipeline(module, pipeline, pipeline_options));
  return true;
}

}  // namespace hilo
