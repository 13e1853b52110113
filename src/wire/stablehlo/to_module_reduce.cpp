// Ops that call a computation of scalars: reductions, windows, maps, sorts.
#include "wire/stablehlo/handlers.h"

namespace hilo::mlir {
namespace {

constexpr size_t max_window_dims = 64;

// A list as long as the window's, or `otherwise` everywhere.
Result<Dims> window_list(const Step& step, std::string_view name, size_t size, int64_t otherwise) {
  HILO_TRY(Dims out, step.dims(name, Dims(size, otherwise)));
  if (out.empty()) out.assign(size, otherwise);
  if (out.size() == size) return out;
  return step.misfit("expected {} numbers as {}, found {}", size, name, out.size());
}

}  // namespace

// Dimensions, strides, paddings [n,2] and dilations of a window of `sizes`.
Result<Window> window_of(const Step& step, const Dims& sizes, std::string_view base,
                         std::string_view window) {
  const size_t n = sizes.size();
  if (n > max_window_dims) return step.misfit("a window of {} dimensions", n);
  HILO_TRY(const Dims strides, window_list(step, "window_strides", n, 1));
  HILO_TRY(const Dims padding, window_list(step, "padding", 2 * n, 0));
  HILO_TRY(const Dims base_dilations, window_list(step, base, n, 1));
  HILO_TRY(const Dims dilations, window_list(step, window, n, 1));
  Window out;
  for (size_t i = 0; i < n; ++i)
    out.dims.push_back({sizes[i], strides[i], padding[2 * i], padding[2 * i + 1], dilations[i],
                        base_dilations[i], false});
  return out;
}

Result<void> convert_reduce(Step& step) {
  ReduceAttributes attributes;
  HILO_TRY(attributes.dimensions, step.dims("dimensions"));
  HILO_TRY(attributes.to_apply, step.scalars(0));
  HILO_TRY(const InstructionId value, step.add(Op::Reduce, step.operands, std::move(attributes)));
  return step.give(value);
}

Result<void> convert_reduce_window(Step& step) {
  ReduceWindowAttributes attributes;
  HILO_TRY(const Dims sizes, step.dims("window_dimensions"));
  HILO_TRY(attributes.window, window_of(step, sizes, "base_dilations", "window_dilations"));
  HILO_TRY(attributes.to_apply, step.scalars(0));
  HILO_TRY(const InstructionId value,
           step.add(Op::ReduceWindow, step.operands, std::move(attributes)));
  return step.give(value);
}

Result<void> convert_select_and_scatter(Step& step) {
  HILO_DO(step.need_array(0));
  SelectAndScatterAttributes attributes;
  HILO_TRY(const Dims sizes, step.dims("window_dimensions", Dims(step.shape(0).dims.size(), 1)));
  HILO_TRY(attributes.window, window_of(step, sizes, "base_dilations", "window_dilations"));
  HILO_TRY(attributes.select, step.scalars(0));
  HILO_TRY(attributes.scatter, step.scalars(1));
  HILO_TRY(const InstructionId value,
           step.add(Op::SelectAndScatter, step.operands, std::move(attributes)));
  return step.give(value);
}

Result<void> convert_map(Step& step) {
  MapAttributes attributes;
  HILO_TRY(attributes.dimensions, step.dims("dimensions"));
  HILO_TRY(attributes.to_apply, step.scalars(0));
  HILO_TRY(const InstructionId value, step.add(Op::Map, step.operands, std::move(attributes)));
  return step.give(value);
}

Result<void> convert_sort(Step& step) {
  HILO_DO(step.need_array(0));
  SortAttributes attributes;
  HILO_TRY(int64_t dimension, step.integer("dimension", -1));
  if (dimension < 0) dimension += step.shape(0).rank();
  attributes.dimensions = {dimension};
  HILO_TRY(attributes.is_stable, step.flag("is_stable"));
  HILO_TRY(attributes.to_apply, step.scalars(0));
  HILO_TRY(const InstructionId value, step.add(Op::Sort, step.operands, std::move(attributes)));
  return step.give(value);
}

// The k largest along the last dimension, and where they stood.
Result<void> convert_top_k(Step& step) {
  TopKAttributes attributes;
  HILO_TRY(attributes.k, step.integer("k"));
  HILO_TRY(attributes.largest, step.flag("largest", true));
  HILO_TRY(const InstructionId value, step.add(Op::TopK, step.operands, attributes));
  return step.give(value);
}

}  // namespace hilo::mlir
