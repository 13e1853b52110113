#include "compile/transform.h"

#include <algorithm>

#include "verify/verify.h"

namespace hilo {
namespace {

std::vector<Shape> arrays_of(const Module& module) {
  std::vector<Shape> out;
  for (InstructionId parameter : module[module.entry].parameters)
    out.push_back(module.shape(parameter));
  out.push_back(module.shape(module[module.entry].root));
  return out;
}

}  // namespace

Result<bool> transform(Module& module, TransformStage stage, const ModuleTransform& change) {
  if (!change) return false;
  ModuleHeader header = module.header;
  const std::vector<Shape> arrays = arrays_of(module);
  HILO_TRY(const bool is_changed, change(stage, module));
  if (!is_changed) return false;
  // What concerns callers stays.
  header.is_scheduled = module.header.is_scheduled;
  header.stack_frames = std::move(module.header.stack_frames);
  module.header = std::move(header);
  if (!std::ranges::equal(arrays, arrays_of(module), same_dims))
    return fail(ErrorKind::Structure,
                "{}: a transformation changes what the program takes or gives", module.header.name);
  HILO_DO(check_module(module));
  return true;
}

Module in_order_of(const Plan& plan, Module module) {
  for (size_t c = 0; c < module.computations.size(); ++c) {
    std::vector<InstructionId>& now = module.computations[c].instructions;
    const std::vector<InstructionId>& planned = plan.schedule.orders[c];
    if (planned.size() == now.size()) now = planned;
  }
  module.header.is_scheduled = true;
  return module;
}

}  // namespace hilo
