// Reductions and windows.
#include <algorithm>

#include "plan/ask/ask.h"

namespace hilo {
namespace {

constexpr int64_t max_windows = 256;  // that hold one element: beyond, blocks' running results pay

Answer ask_reduce(KernelQuestion& question, InstructionId id, size_t) {
  if (Answer refused = question.operands(id)) return refused;
  return question.applied(question.module.attributes<ReduceAttributes>(id).to_apply);
}

bool is_dilated(const WindowDim& dim) { return dim.base_dilation != 1; }

Answer ask_reduce_window(KernelQuestion& question, InstructionId id) {
  const Module& module = question.module;
  const ComputationId combined = module.attributes<ReduceWindowAttributes>(id).to_apply;
  const Windows windows = windows_of(module, id, question.arrays());
  if (windows.out.empty() || windows.dims.size() != windows.out.size() ||
      element_count(windows.out) == 0)
    return KernelQuestion::no(NoKernel::Nothing, id);
  if (std::ranges::any_of(windows.dims, is_dilated))
    return KernelQuestion::no(NoKernel::DilatedArray, id);
  double count = 1;  // that hold one element
  for (const WindowDim& dim : windows.dims)
    count *= std::max(1.0, static_cast<double>(dim.size) / static_cast<double>(dim.stride));
  // The evaluator's blocks of running results are for such computations alone.
  const bool is_simple = module.operands(id).size() == 2 && combines_numbers(module, combined);
  if (count > max_windows && is_simple && !find_running(windows))
    return KernelQuestion::no(NoKernel::LargeWindow, id);
  if (Answer refused = question.operands(id)) return refused;
  return question.applied(combined);
}

Answer ask_select_and_scatter(KernelQuestion& question, InstructionId id) {
  const Module& module = question.module;
  const auto& a = module.attributes<SelectAndScatterAttributes>(id);
  const Shape& result = module.shape(id);
  for (InstructionId operand : module.operands(id))
    if (module.shape(operand).type != result.type)
      return KernelQuestion::no(NoKernel::SeveralTypes, id);
  if (a.window.dims.size() != result.dims.size() || element_count(result.dims) == 0 ||
      element_count(module.shape(module.operand(id, 1)).dims) == 0)
    return KernelQuestion::no(NoKernel::Nothing, id);
  if (std::ranges::any_of(a.window.dims, is_dilated))
    return KernelQuestion::no(NoKernel::DilatedArray, id);
  if (Answer refused = question.operands(id)) return refused;
  if (Answer refused = question.applied(a.select)) return refused;
  return question.applied(a.scatter);
}

}  // namespace

const OpCommands commands_of_Reduce = {.element = ask_reduce};
const OpCommands commands_of_ReduceWindow = {.loops = ask_reduce_window};
const OpCommands commands_of_SelectAndScatter = {.loops = ask_select_and_scatter};

}  // namespace hilo
