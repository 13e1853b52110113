#include "plan/kernel_forms.h"

namespace hilo {
namespace {

// Whether windows along a dimension of `size` elements are such.
std::optional<RunningWindow> running(const WindowDim& dim, size_t d, int64_t size,
                                     int64_t results) {
  if (dim.stride != 1 || dim.window_dilation != 1 || dim.size < size) return std::nullopt;
  const bool has_empty = results == size + 1;
  if (results != size && !has_empty) return std::nullopt;
  const RunningWindow out{d, dim.padding_low == 0, size, has_empty};
  const bool to_start =
      dim.padding_low >= results - 1 && dim.size - dim.padding_low == (has_empty ? 0 : 1);
  return out.from_end || to_start ? std::optional(out) : std::nullopt;
}

const Shape& first_array(const Shape& shape) {
  return shape.is_tuple() ? first_array(shape.elements[0]) : shape;
}

}  // namespace

Windows windows_of(const Module& module, InstructionId id, const HasArray& has_array) {
  const auto& dims = module.attributes<ReduceWindowAttributes>(id).window.dims;
  const InstructionId operand = module.operand(id, 0);
  const Dims &in = module.shape(operand).dims, &out = first_array(module.shape(id)).dims;
  Windows merged = {id, {}, {}, {}};
  if (module.operands(id).size() != 2 || !has_array(operand) || dims.size() != in.size())
    return {id, dims, in, out};
  for (size_t d = 0; d < dims.size(); ++d) {
    const bool has_none = dims[d] == WindowDim{};
    if (has_none && d > 0 && dims[d - 1] == WindowDim{}) {
      merged.in.back() *= in[d];
      merged.out.back() *= out[d];
      continue;
    }
    merged.dims.push_back(dims[d]);
    merged.in.push_back(in[d]);
    merged.out.push_back(out[d]);
  }
  return merged;
}

std::optional<RunningWindow> find_running(const Windows& windows) {
  std::optional<RunningWindow> found;
  for (size_t d = 0; d < windows.dims.size(); ++d) {
    if (windows.dims[d] == WindowDim{}) continue;
    if (found) return std::nullopt;
    found = running(windows.dims[d], d, windows.in[d], windows.out[d]);
    if (!found) return std::nullopt;
  }
  return found;
}

bool combines_numbers(const Module& module, ComputationId computation) {
  const std::optional<Combiner> found = find_combiner(module, computation);
  return found && is_array(found->element) && !is_complex(found->element);
}

}  // namespace hilo
