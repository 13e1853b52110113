#include "pass/pass.h"

namespace hilo {

std::span<const Pass> all_passes() {
  static constexpr Pass passes[] = {
#define PASS(function, name, summary) {name, summary, function},
#include "pass/passes.def"
#undef PASS
  };
  return passes;
}

std::span<const NamedPipeline> all_pipelines() {
  static constexpr NamedPipeline pipelines[] = {
#define PIPELINE(name, summary, text) {name, summary, text},
#include "pass/pipelines.def"
#undef PIPELINE
  };
  return pipelines;
}

}  // namespace hilo
