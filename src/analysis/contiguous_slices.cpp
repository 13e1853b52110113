#include <algorithm>

#include "analysis/analysis.h"

namespace hilo {

bool is_contiguous(const Dims& part, const Dims& whole) {
  size_t d = 0;
  while (d < part.size() && part[d] == 1) ++d;
  const size_t rest = std::min(d + 1, part.size());
  return std::ranges::equal(std::span(part).subspan(rest), std::span(whole).subspan(rest));
}

bool is_contiguous_dynamic_slice(const Module& module, InstructionId slice) {
  if (module[slice].op != Op::DynamicSlice) return false;
  const Dims& whole = module.shape(module.operand(slice, 0)).dims;
  return is_contiguous(module.shape(slice).dims, whole) &&
         module.operands(slice).size() == whole.size() + 1;
}

int64_t contiguous_slice_start(const Module& module, InstructionId slice) {
  const Dims &part = module.shape(slice).dims, &whole = module.shape(module.operand(slice, 0)).dims;
  const auto& taken = module.attributes<SliceAttributes>(slice).slice.dims;
  int64_t position = 0;
  for (size_t d = 0; d < whole.size(); ++d) {
    if (taken[d].stride != 1) return -1;
    position = position * whole[d] + taken[d].start;
  }
  return is_contiguous(part, whole) ? position : -1;
}

}  // namespace hilo
