// dynamic-slice and dynamic-update-slice: start indices are one scalar a dimension, or (older) one
// vector of them.
#include "ir/infer/infer.h"

namespace hilo {
namespace {

Result<void> need_starts(const Given& given, size_t first, int64_t rank) {
  HILO_DO(need_arrays(given));
  if (given.count() == first + 1 && given.operand(first).rank() == 1) {
    const Shape& vector = given.operand(first);
    if (is_integral(vector.type) && vector.dims[0] == rank) return {};
    return misfit("expected {} integer start indices, found {}", rank, text(vector));
  }
  if (given.count() - first != static_cast<size_t>(rank))
    return misfit("expected {} start indices, found {}", rank, given.count() - first);
  for (size_t i = first; i < given.count(); ++i) {
    HILO_DO(need_integral_scalar(given, i));
    if (given.operand(i).type != given.operand(first).type)
      return misfit("start indices have different element types: {} and {}",
                    text(given.operand(first)), text(given.operand(i)));
  }
  return {};
}

Result<void> need_sizes_within(std::span<const int64_t> sizes, const Shape& whole) {
  if (sizes.size() != whole.dims.size())
    return misfit("expected {} sizes for {}, found {}", whole.dims.size(), text(whole),
                  braced(sizes));
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] < 0 || sizes[i] > whole.dims[i])
      return misfit("size {} is not within dimension {} of {}", sizes[i], i, text(whole));
  return {};
}

}  // namespace

Result<Shape> infer_DynamicSlice(const Given& given) {
  HILO_DO(need_count_at_least(given, 1));
  HILO_DO(need_array(given, 0));
  const Shape& from = given.operand(0);
  const Dims& sizes = given.attributes<DynamicSliceAttributes>().dynamic_slice_sizes;
  HILO_DO(need_sizes_within(sizes, from));
  HILO_DO(need_starts(given, 1, from.rank()));
  Shape out = make_array(from.type, sizes);
  for (size_t i = 0; i < sizes.size(); ++i)
    set_dynamic(out, i, from.is_dynamic(i) && sizes[i] == from.dims[i]);
  return out;
}

Result<Shape> infer_DynamicUpdateSlice(const Given& given) {
  HILO_DO(need_count_at_least(given, 2));
  HILO_DO(need_array(given, 0));
  HILO_DO(need_array(given, 1));
  const Shape& into = given.operand(0);
  const Shape& update = given.operand(1);
  if (into.type != update.type)
    return misfit("operand and update have different element types: {} and {}", text(into),
                  text(update));
  HILO_DO(need_sizes_within(update.dims, into));
  HILO_DO(need_starts(given, 2, into.rank()));
  return into;
}

}  // namespace hilo
