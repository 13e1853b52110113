// Many slices of an array beside each other, each of which begins one element behind the one
// before, are windows of it, which one loop gathers, and not a loop for each slice:
//   concatenate(reshape(slice(x, s)), reshape(slice(x, s + 1)), ...)  =>  gather(x, places)
// The windows begin where the first slice has its elements, when the slices are columns of the
// result; else each slice is a window. Slices take all of x's other dimensions. Assumes nothing.
// Later passes may assume nothing. Behind what computes something of each slice, before fusion.
#include <algorithm>
#include <limits>

#include "pass/expand/formula.h"

namespace hilo {
namespace {

// Fewer a loop copies without one for each.
constexpr size_t min_slices = 8;

// Of what is reshaped, of slices alone.
const std::vector<SliceDim>* slice_of(const Module& module, InstructionId part) {
  if (module[part].op != Op::Reshape) return nullptr;
  const InstructionId slice = module.operand(part, 0);
  if (module[slice].op != Op::Slice) return nullptr;
  return &module.attributes<SliceAttributes>(slice).slice.dims;
}
InstructionId sliced_by(const Module& module, InstructionId part) {
  return module.operand(module.operand(part, 0), 0);
}

// Where a slice begins along the one dimension in which slices differ.
struct Spaced {
  size_t dim;
  int64_t start, count, stride;
};

std::optional<Spaced> spaced(const Module& module, std::span<const InstructionId> parts) {
  const std::vector<SliceDim>* const first = slice_of(module, parts[0]);
  const std::vector<SliceDim>* const second = slice_of(module, parts[1]);
  if (!first || !second || first->size() != second->size()) return std::nullopt;
  const size_t dim =
      static_cast<size_t>(std::ranges::mismatch(*first, *second).in1 - first->begin());
  if (dim == first->size()) return std::nullopt;
  const InstructionId from = sliced_by(module, parts[0]);
  for (size_t d = 0; d < first->size(); ++d)
    if (d != dim && (*first)[d] != SliceDim{0, module.shape(from).dims[d], 1}) return std::nullopt;
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::vector<SliceDim>* const slice = slice_of(module, parts[i]);
    if (!slice || sliced_by(module, parts[i]) != from) return std::nullopt;
    std::vector<SliceDim> expected = *first;
    expected[dim].start += static_cast<int64_t>(i);
    expected[dim].limit = (*slice)[dim].limit;
    if (*slice != expected || module.shape(parts[i]).dims != module.shape(parts[0]).dims)
      return std::nullopt;
  }
  const Shape& shape = module.shape(module.operand(parts[0], 0));
  return Spaced{dim, (*first)[dim].start, shape.dims[dim], (*first)[dim].stride};
}

Term gather_windows(Formula& f) {
  const Module& module = f.module();
  const auto given = module.operands(f.root());
  if (given.size() < min_slices) return {};
  const std::vector<InstructionId> parts(given.begin(), given.end());
  const auto slices = spaced(module, parts);
  if (!slices) return {};
  const auto joined =
      static_cast<size_t>(module.attributes<DimensionsAttributes>(f.root()).dimensions[0]);
  const Term x = f.term(sliced_by(module, parts[0]));
  if (x.shape().dims[slices->dim] > std::numeric_limits<int32_t>::max()) return {};
  const auto number = static_cast<int64_t>(parts.size());
  // What each slice was reshaped to has one more dimension.
  Dims dims = x.shape().dims;
  dims[slices->dim] = slices->count;
  dims.insert(dims.begin() + static_cast<int64_t>(joined), 1);
  const bool are_columns = joined == slices->dim + 1;
  if (module.shape(parts[0]).dims != dims || (!are_columns && joined != slices->dim) ||
      (!are_columns && slices->stride != 1))
    return {};
  const int64_t windows = are_columns ? slices->count : number;
  const int64_t stride = are_columns ? slices->stride : 1;
  const Term places = f.iota(ElementType::S32, {windows}, 0) * static_cast<double>(stride) +
                      static_cast<double>(slices->start);
  GatherAttributes a;
  for (int64_t d = 0; d < std::ssize(dims); ++d)
    if (d != static_cast<int64_t>(slices->dim)) a.offset_dims.push_back(d);
  a.start_index_map = {static_cast<int64_t>(slices->dim)};
  a.index_vector_dim = 1;
  a.slice_sizes = x.shape().dims;
  a.slice_sizes[slices->dim] = are_columns ? number : slices->count;
  a.indices_are_sorted = true;
  return f.term(f.editor().add(f.root(), Op::Gather, module.shape(f.root()),
                               std::array{x.value, places.value}, std::move(a)));
}

}  // namespace

Result<bool> gather_spaced_slices(Module& module, const PassOptions&) {
  Editor editor(module);
  return expand(editor, Op::Concatenate, gather_windows);
}

}  // namespace hilo
