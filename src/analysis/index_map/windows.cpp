// Maps of ops with windows. Element w of window o stands, in one dimension, at o * stride +
// w * window_dilation - padding_low among the elements and the holes of base dilation.
#include "analysis/index_map/op_maps.h"

namespace hilo {

WindowIndex window_index(const WindowDim& dim, const IndexExpression& window,
                         const IndexExpression& element, int64_t size) {
  const IndexExpression from = dim.reversal ? element * -1 + (dim.size - 1) : element;
  const IndexExpression at = window * dim.stride + from * dim.window_dilation - dim.padding_low;
  WindowIndex out{quotient(at, dim.base_dilation), {}};
  out.guards.push_back({out.index, {0, size - 1}});
  out.guards.push_back({remainder(at, dim.base_dilation), {0, 0}});
  return out;
}

namespace {

void set_index(IndexMap& map, size_t d, WindowIndex window) {
  map.index[d] = std::move(window.index);
  map.guards.insert(map.guards.end(), window.guards.begin(), window.guards.end());
}

WindowDim dim_of(const Window& window, size_t d) {
  return d < window.dims.size() ? window.dims[d] : WindowDim{};
}

}  // namespace

// Operands are N arrays and N initial values; each result needs all arrays.
IndexMapResult map_ReduceWindow(const MapQuery& query) {
  if (query.operand >= query.count() / 2) return blank_map(query);
  const Window& window = query.attributes<ReduceWindowAttributes>().window;
  IndexMap map = blank_map(query);
  for (size_t d = 0; d < map.index.size(); ++d) {
    const WindowDim dim = dim_of(window, d);
    set_index(map, d,
              window_index(dim, result_index(static_cast<int64_t>(d)),
                           add_range(map, dim.size, true), map.operand_dims[d]));
  }
  map.is_exact = query.operand == query.output;
  return map;
}

// The source's elements whose windows lie over the result's element, and of the operand all of
// these windows: which of its elements each of them selects, values decide.
IndexMapResult map_SelectAndScatter(const MapQuery& query) {
  IndexMap map = blank_map(query);
  if (query.operand == 2) return map;
  map.is_exact = false;
  const Window& window = query.attributes<SelectAndScatterAttributes>().window;
  for (size_t d = 0; d < map.index.size(); ++d) {
    const WindowDim dim = dim_of(window, d);
    const int64_t windows = query.operand_shape(1).dims[d];
    const IndexExpression at = result_index(static_cast<int64_t>(d)) * dim.base_dilation;
    // The last window that begins at or before the element, and as many before it as can reach it.
    const int64_t extent =
        saturating_add(saturating_multiply(dim.size - 1, dim.window_dilation), 1);
    const IndexExpression number =
        quotient(at + dim.padding_low, dim.stride) - add_range(map, ceiling_of(extent, dim.stride));
    const IndexExpression inside = at + dim.padding_low - number * dim.stride;
    map.guards.push_back({number, {0, windows - 1}});
    map.guards.push_back({inside, {0, extent - 1}});
    map.guards.push_back({remainder(inside, dim.window_dilation), {0, 0}});
    if (query.operand == 1) map.index[d] = number;
    else
      set_index(map, d, window_index(dim, number, add_range(map, dim.size), map.operand_dims[d]));
  }
  return map;
}

// Features fall into groups, of which the result's feature decides which one it sees; or batches
// do. Kernel elements over padding are not needed.
IndexMapResult map_Convolution(const MapQuery& query) {
  const auto& a = query.attributes<ConvolutionAttributes>();
  if (!a.sparsity_config.text.empty()) return std::unexpected("its operand is sparse");
  const ConvolutionLabels& l = a.dim_labels;
  if (!l.input_unknown.empty() || !l.kernel_unknown.empty())
    return std::unexpected("it has dimensions without a meaning");
  const Shape &input = query.operand_shape(0), &kernel = query.operand_shape(1);
  IndexMap map = blank_map(query);
  const IndexExpression feature = result_index(l.output_feature);
  const int64_t features = query.result.dims[l.output_feature];
  const int64_t inputs = kernel.dims[l.kernel_input_feature];
  const IndexExpression input_feature = add_range(map, inputs, true);
  if (features == 0 || inputs == 0) return no_elements(query);
  if (query.operand == 0) {
    const int64_t batches = query.result.dims[l.output_batch];
    map.index[l.input_feature] =
        quotient(feature, features / a.feature_group_count) * inputs + input_feature;
    map.index[l.input_batch] =
        quotient(feature, features / a.batch_group_count) * batches + result_index(l.output_batch);
    if (a.feature_group_count == 1) map.index[l.input_feature] = input_feature;
    if (a.batch_group_count == 1) map.index[l.input_batch] = result_index(l.output_batch);
  } else {
    map.index[l.kernel_input_feature] = input_feature;
    map.index[l.kernel_output_feature] = feature;
  }
  for (size_t k = 0; k < l.input_spatial.size(); ++k) {
    const IndexExpression element = add_range(map, a.window.dims[k].size, true);
    WindowIndex window = window_index(a.window.dims[k], result_index(l.output_spatial[k]), element,
                                      input.dims[l.input_spatial[k]]);
    if (query.operand == 1) window.index = element;
    set_index(map, query.operand == 0 ? l.input_spatial[k] : l.kernel_spatial[k],
              std::move(window));
  }
  return map;
}

}  // namespace hilo
