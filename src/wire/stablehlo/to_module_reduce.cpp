// Ops that call a computation of scalars: reductions, windows, maps, sorts.
#include <algorithm>

#include "wire/stablehlo/op_rules.h"

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

std::vector<Shape> scalars_of(std::span<const ElementType> types) {
  std::vector<Shape> out;
  for (const ElementType type : types) out.push_back(Shape::scalar(type));
  return out;
}

std::string listed(std::span<const Shape> shapes) {
  std::string out;
  for (const Shape& shape : shapes)
    out += (out.empty() ? "" : ", ") + to_string_without_layout(shape);
  return "(" + out + ")";
}

// A region that takes and gives scalars of these types.
Result<void> need_region(Step& step, ComputationId region, std::span<const ElementType> taken,
                         std::span<const ElementType> given) {
  const Computation& found = step.module()[region];
  std::vector<Shape> parameters;
  for (InstructionId id : found.parameters) parameters.push_back(step.module().shape(id));
  const Shape& root = step.module().shape(found.root);
  const std::vector<Shape> results = root.is_tuple() ? root.elements : std::vector<Shape>{root};
  const std::vector<Shape> wanted = scalars_of(taken), answers = scalars_of(given);
  if (std::ranges::equal(parameters, wanted, fits) && std::ranges::equal(results, answers, fits))
    return {};
  return step.misfit("expected a region {} -> {}, found {} -> {}", listed(wanted), listed(answers),
                     listed(parameters), listed(results));
}

// The element types of the first n operands.
Result<std::vector<ElementType>> types_of(const Step& step, size_t n) {
  std::vector<ElementType> out;
  for (size_t i = 0; i < n; ++i) {
    HILO_DO(step.need_array(i));
    out.push_back(step.shape(i).type);
  }
  return out;
}

}  // namespace

Result<void> need_reducer(Step& step, ComputationId reducer, size_t n) {
  const std::vector<InstructionId> parameters = step.module()[reducer].parameters;
  HILO_TRY(std::vector<ElementType> types, types_of(step, n));
  for (size_t i = 0; i < n && i < parameters.size(); ++i)
    if (const Shape& shape = step.module().shape(parameters[i]); shape.is_array())
      types[i] = shape.type;
  std::vector<ElementType> taken = types;
  taken.insert(taken.end(), types.begin(), types.end());
  return need_region(step, reducer, taken, types);
}

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

// Numbers of one kind, none narrower than it was; quantised ones express the same.
static bool is_promotable(const Quantization* quantised, const Quantization* to_quantised,
                          ElementType from, ElementType to) {
  if (!quantised && !to_quantised)
    return kind_of(from) == kind_of(to) && bits_of(from) <= bits_of(to);
  return quantised && to_quantised && quantised->expressed == to_quantised->expressed &&
         bits_of(quantised->storage) <= bits_of(to_quantised->storage);
}

Result<void> promote(Step& step, ComputationId computation, size_t first, size_t last) {
  const std::vector<InstructionId> parameters = step.module()[computation].parameters;
  HILO_TRY(const Block* region, step.converter.only_block(step.operation.regions.back()));
  for (size_t i = first; i < last && i < step.count(); ++i) {
    const size_t parameter = parameters.size() > 2 ? i - first : 0;
    if (parameter >= parameters.size() || !step.shape(i).is_array()) continue;
    const auto quantised = [&](ValueId value) {
      return quantization_of(step.program(), step.program()[value].type);
    };
    const ElementType from = step.shape(i).type;
    const ElementType to = step.module().shape(parameters[parameter]).type;
    if (!is_promotable(quantised(step.operation.operands[i]),
                       quantised(region->arguments[parameter]), from, to))
      return step.misfit("operand {} of {} cannot become {}, which the region takes as argument {}",
                         i, text_of(from), text_of(to), parameter);
    HILO_TRY(step.operands[i], step.convert(step.operands[i], to));
  }
  return {};
}

Result<void> convert_reduce(Step& step) {
  ReduceAttributes attributes;
  HILO_TRY(attributes.dimensions, step.dims("dimensions"));
  HILO_TRY(attributes.to_apply, step.scalars(0));
  HILO_DO(need_reducer(step, attributes.to_apply, step.count() / 2));
  HILO_DO(promote(step, attributes.to_apply, 0, step.count()));
  HILO_TRY(const InstructionId value, step.add(Op::Reduce, step.operands, std::move(attributes)));
  return step.give(value);
}

Result<void> convert_reduce_window(Step& step) {
  ReduceWindowAttributes attributes;
  HILO_TRY(const Dims sizes, step.dims("window_dimensions"));
  HILO_TRY(attributes.window, window_of(step, sizes, "base_dilations", "window_dilations"));
  HILO_TRY(attributes.to_apply, step.scalars(0));
  HILO_DO(need_reducer(step, attributes.to_apply, step.count() / 2));
  HILO_DO(promote(step, attributes.to_apply, 0, step.count()));
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
  HILO_TRY(const auto types, types_of(step, 1));
  HILO_DO(need_region(step, attributes.select, std::array{types[0], types[0]},
                      std::array{ElementType::Pred}));
  HILO_DO(need_reducer(step, attributes.scatter, 1));
  HILO_DO(promote(step, attributes.scatter, 0, step.count()));
  HILO_TRY(const InstructionId value,
           step.add(Op::SelectAndScatter, step.operands, std::move(attributes)));
  return step.give(value);
}

Result<void> convert_map(Step& step) {
  MapAttributes attributes;
  HILO_TRY(attributes.dimensions, step.dims("dimensions"));
  HILO_TRY(attributes.to_apply, step.scalars(0));
  HILO_TRY(const auto taken, types_of(step, step.count()));
  HILO_TRY(const Shape stated, step.stated());
  HILO_DO(need_region(step, attributes.to_apply, taken, std::array{stated.type}));
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
  HILO_TRY(const auto types, types_of(step, step.count()));
  std::vector<ElementType> taken;
  for (const ElementType type : types) taken.insert(taken.end(), 2, type);
  HILO_DO(need_region(step, attributes.to_apply, taken, std::array{ElementType::Pred}));
  HILO_TRY(const InstructionId value, step.add(Op::Sort, step.operands, std::move(attributes)));
  return step.give(value);
}

// (slices, carries) -> (slices, carries) for each index of a dimension.
Result<void> convert_scan(Step& step) {
  ScanAttributes attributes;
  HILO_TRY(const int64_t dimension, step.integer("dimension"));
  attributes.dimensions = {dimension};
  HILO_TRY(const Dims sizes, step.dims("operandSegmentSizes"));
  if (sizes.size() != 2 || sizes[1] < 0) return step.misfit("expected sizes of two segments");
  attributes.num_carries = sizes[1];
  HILO_TRY(attributes.is_reverse, step.flag("is_reverse"));
  if (step.find("is_associative")) {
    HILO_TRY(attributes.is_associative, step.flag("is_associative"));
  }
  HILO_TRY(const int64_t size, step.integer("scan_dim_size", -1));
  if (size >= 0 && step.count() > 0 && step.shape(0).is_array() && dimension >= 0 &&
      dimension < step.shape(0).rank() && step.shape(0).dims[dimension] != size)
    return step.misfit("scan_dim_size is {}, dimension {} has {}", size, dimension,
                       step.shape(0).dims[dimension]);
  HILO_TRY(attributes.to_apply, step.scalars(0));
  HILO_TRY(const InstructionId value, step.add(Op::Scan, step.operands, std::move(attributes)));
  return step.give(value);
}

// The k largest along the last dimension, and where they stood. Of booleans as numbers.
Result<void> convert_top_k(Step& step) {
  HILO_DO(step.need_array(0));
  TopKAttributes attributes;
  HILO_TRY(attributes.k, step.integer("k"));
  HILO_TRY(attributes.largest, step.flag("largest", true));
  if (step.shape(0).type == ElementType::Pred) {
    HILO_TRY(const InstructionId numbers, step.convert(step.operands[0], ElementType::S8));
    HILO_TRY(const InstructionId both, step.add(Op::TopK, {numbers}, attributes));
    HILO_TRY(const auto parts, step.converter.untuple(step.scope, both, 2, step.origin));
    HILO_TRY(const InstructionId values, step.convert(parts[0], ElementType::Pred));
    HILO_DO(step.give(0, values));
    return step.give(1, parts[1]);
  }
  HILO_TRY(const InstructionId value, step.add(Op::TopK, step.operands, attributes));
  return step.give(value);
}

}  // namespace hilo::mlir
