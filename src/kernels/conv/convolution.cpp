// convolution as a matrix product over position tables: the input is padded and dilated into a copy
// when the window asks for it, and then output position and window position add up. Of a dilated
// input with a window that moves by single places the holes are left out: one product for each
// remainder. Grouped convolutions with one small product a group run with the groups innermost
// instead.
#include <algorithm>

#include "kernels/gemm/matmul.h"
#include "kernels/gemm/matrix_kernel.h"
#include "kernels/gemm/matrix_pack.h"

namespace hilo {
namespace {

using Spatial = ConvolutionDims::Spatial;

// Bytes of whole cache lines.
int64_t whole_lines(int64_t bytes) { return (bytes + cache_line - 1) / cache_line * cache_line; }

// Copies one row to positions low, low + step, ... of a row of `size` elements; what falls outside
// is dropped.
void scatter_row(const std::byte* from, int64_t count, int64_t low, int64_t step, int64_t size,
                 int64_t bytes, std::byte* to) {
  const int64_t begin = low < 0 ? (-low + step - 1) / step : 0;
  const int64_t end = std::min(count, size <= low ? 0 : (size - low - 1) / step + 1);
  if (begin >= end) return;
  if (step == 1)
    std::copy_n(from + begin * bytes, (end - begin) * bytes, to + (low + begin) * bytes);
  else
    for (int64_t i = begin; i < end; ++i)
      std::copy_n(from + i * bytes, bytes, to + (low + i * step) * bytes);
}

// The input with holes and edges filled with zeros, and cut where the padding is negative.
struct Padded {
  Dims from;
  Shape shape;
  Dims low, step;  // where the first element of each dimension stands, and the distance to the next

  bool is_input() const {
    return shape.dims == from && std::ranges::all_of(low, [](int64_t at) { return at == 0; });
  }
  void fill(const std::byte* input, std::byte* out, const Parallel& parallel) const;

 private:
  Padded with_long_rows() const;
};

Padded padded_shape(const ConvolutionDims& a, const Shape& input) {
  Padded out{input.dims, Shape::array(input.type, input.dims), Dims(input.dims.size(), 0),
             Dims(input.dims.size(), 1)};
  for (const Spatial& window : a.spatial) {
    const int64_t dim = window.input;
    out.low[dim] = window.padding_low, out.step[dim] = window.base_dilation;
    const int64_t size = input.dims[dim];
    const int64_t dilated = size ? (size - 1) * window.base_dilation + 1 : 0;
    out.shape.dims[dim] = std::max<int64_t>(0, dilated + window.padding_low + window.padding_high);
  }
  return out;
}

void Padded::fill(const std::byte* input, std::byte* out, const Parallel& parallel) const {
  std::fill_n(out, literal_bytes(shape), std::byte{0});
  const Padded rows = with_long_rows();
  const Dims &dims = rows.shape.dims, &sizes = rows.from;
  const Dims strides = row_major_strides(dims);
  const int64_t bytes = storage_bytes(shape.type), last = sizes.size() - 1;
  parallel(sizes[last] ? element_count(sizes) / sizes[last] : 0,
           std::max<int64_t>(1, 1024 / std::max<int64_t>(1, sizes[last])),
           [&](int64_t begin, int64_t end) {
             for (int64_t row = begin; row < end; ++row) {
               int64_t base = 0, rest = row;
               bool is_inside = true;
               for (int64_t d = last - 1; d >= 0; rest /= sizes[d--]) {
                 const int64_t at = rows.low[d] + rest % sizes[d] * rows.step[d];
                 is_inside &= at >= 0 && at < dims[d];
                 base += at * strides[d];
               }
               if (is_inside)
                 scatter_row(input + row * sizes[last] * bytes, sizes[last], rows.low[last],
                             rows.step[last], dims[last], bytes, out + base * bytes);
             }
           });
}

// Dimensions that stay whole are one with the dimension before them, where its elements follow each
// other.
Padded Padded::with_long_rows() const {
  Padded out = *this;
  while (out.from.size() > 1) {
    const size_t last = out.from.size() - 1;
    const int64_t size = out.from[last];
    if (out.low[last] != 0 || out.shape.dims[last] != size || out.step[last] != 1 ||
        out.step[last - 1] != 1)
      break;
    out.from.resize(last), out.low.resize(last), out.step.resize(last), out.shape.dims.resize(last);
    out.from[last - 1] *= size, out.low[last - 1] *= size, out.shape.dims[last - 1] *= size;
  }
  return out;
}

// A dilated input is seen only at its elements: of the places of the result those of one remainder
// all see the same places of the window, and from one of these places to the next, and from one
// place of the window to the next but the dilation, the input goes on by one element.
//   o + k - low = dilation * i,  o = remainder + dilation * q,  k = first + dilation * t
//   =>  i = q + t + (remainder + first - low) / dilation
struct Remainder {
  int64_t remainder, first, start;  // start: of i
  int64_t places, windows;          // how many q and t there are
  int64_t step;                     // the dilation
};
bool skips_holes(const ConvolutionDims& a) {
  bool has_holes = false;
  for (const Spatial& dim : a.spatial) {
    if (dim.stride != 1 || dim.window_dilation != 1) return false;
    has_holes |= dim.base_dilation > 1;
  }
  return has_holes;
}
std::vector<Remainder> remainders_of(const Spatial& dim, int64_t result) {
  std::vector<Remainder> out;
  const int64_t step = dim.base_dilation;
  for (int64_t r = 0; r < std::min(step, result); ++r) {
    const int64_t first = ((dim.padding_low - r) % step + step) % step;
    out.push_back({r, first, (r + first - dim.padding_low) / step, (result - r + step - 1) / step,
                   first < dim.size ? (dim.size - first + step - 1) / step : 0, step});
  }
  return out;
}
// The window without holes in the input that all remainders' places see.
Spatial whole_window(const Spatial& dim, int64_t input, int64_t result) {
  Spatial out = dim;
  int64_t begin = 0, end = input;
  for (const Remainder& r : remainders_of(dim, result))
    if (r.windows > 0)
      begin = std::min(begin, r.start), end = std::max(end, r.start + r.places + r.windows - 1);
  out.base_dilation = 1, out.padding_low = -begin, out.padding_high = end - input;
  return out;
}
ConvolutionDims without_holes(ConvolutionDims a, const Shape& input, const Shape& result) {
  for (Spatial& dim : a.spatial)
    dim = whole_window(dim, input.dims[dim.input], result.dims[dim.output]);
  return a;
}

struct Axis {
  int64_t size, in, other;  // stride in the input; and in the output or the kernel
};
Dims positions_of(std::span<const Axis> axes, int64_t Axis::* stride) {
  Dims sizes, strides;
  for (const Axis& axis : axes) sizes.push_back(axis.size), strides.push_back(axis.*stride);
  return positions(sizes, strides);
}

// Output positions, in the output's order in memory; of remainders their places.
std::vector<Axis> output_axes(const ConvolutionDims& a, const Dims& in, const Shape& out,
                              std::span<const Remainder> remainders) {
  const Dims strides = row_major_strides(out.dims);
  std::vector<Axis> axes = {{out.dims[a.output_batch], in[a.input_batch], strides[a.output_batch]}};
  for (size_t d = 0; d < a.spatial.size(); ++d) {
    const Spatial& dim = a.spatial[d];
    const int64_t step = strides[dim.output];
    if (remainders.empty())
      axes.push_back({out.dims[dim.output], in[dim.input] * dim.stride, step});
    else axes.push_back({remainders[d].places, in[dim.input], step * remainders[d].step});
  }
  std::ranges::stable_sort(axes, std::greater(), &Axis::other);
  return axes;
}

// Window positions and input features, in the input's order in memory; `kernel_base` is the
// position of the first, which is not 0 where a window is reversed.
std::vector<Axis> window_axes(const ConvolutionDims& a, const Dims& in, const Shape& kernel,
                              std::span<const Remainder> remainders, int64_t& kernel_base) {
  const Dims strides = row_major_strides(kernel.dims);
  std::vector<Axis> axes = {
      {kernel.dims[a.kernel_input_feature], in[a.input_feature], strides[a.kernel_input_feature]}};
  kernel_base = 0;
  for (size_t d = 0; d < a.spatial.size(); ++d) {
    const Spatial& window = a.spatial[d];
    const int64_t size = kernel.dims[window.kernel], step = strides[window.kernel];
    if (window.is_reversed) kernel_base += (size - 1) * step;
    const int64_t taken = window.is_reversed ? -step : step;
    if (remainders.empty()) {
      axes.push_back({size, in[window.input] * window.window_dilation, taken});
    } else {
      kernel_base += remainders[d].first * taken;
      axes.push_back({remainders[d].windows, in[window.input], taken * remainders[d].step});
    }
  }
  std::ranges::stable_sort(axes, std::greater(), &Axis::in);
  return axes;
}

// The whole convolution, or its places of one remainder in each dimension, as a product with one
// batch index for each group, without data.
Matmul as_matmul(const ConvolutionDims& a, const Shape& input, const Shape& kernel,
                 const Shape& out, std::span<const Remainder> remainders = {}) {
  const Dims in = row_major_strides(input.dims);
  const Dims kernel_strides = row_major_strides(kernel.dims);
  const Dims out_strides = row_major_strides(out.dims);
  const int64_t groups = a.feature_groups * a.batch_groups;
  const int64_t outputs = out.dims[a.output_feature] / groups;
  const int64_t step = a.batch_groups > 1
                           ? out.dims[a.output_batch] * in[a.input_batch]
                           : kernel.dims[a.kernel_input_feature] * in[a.input_feature];
  int64_t kernel_base = 0;
  const auto rows = output_axes(a, in, out, remainders);
  const auto window = window_axes(a, in, kernel, remainders, kernel_base);
  const int64_t kernel_step = kernel_strides[a.kernel_output_feature];
  const int64_t out_step = out_strides[a.output_feature];
  Matmul product = {
      {nullptr, input.type, positions(Dims{groups}, Dims{step}), positions_of(rows, &Axis::in),
       positions_of(window, &Axis::in)},
      {nullptr, kernel.type, positions(Dims{groups}, Dims{outputs * kernel_step}),
       positions(Dims{outputs}, Dims{kernel_step}), positions_of(window, &Axis::other)},
      {nullptr, out.type, positions(Dims{groups}, Dims{outputs * out_step}),
       positions_of(rows, &Axis::other), positions(Dims{outputs}, Dims{out_step})}};
  for (int64_t& base : product.rhs.batch) base += kernel_base;
  for (size_t d = 0; d < remainders.size(); ++d) {
    const Spatial& dim = a.spatial[d];
    const int64_t start = remainders[d].start + dim.padding_low;
    for (int64_t& base : product.lhs.batch) base += start * in[dim.input];
    for (int64_t& base : product.out.batch)
      base += remainders[d].remainder * out_strides[dim.output];
  }
  return product;
}

// One product for each choice of remainders; `a` has holes, the input is that without_holes().
std::vector<Matmul> products_of_remainders(const ConvolutionDims& a, const ConvolutionDims& whole,
                                           const Shape& input, const Shape& kernel,
                                           const Shape& out) {
  std::vector<std::vector<Remainder>> choices;
  Dims sizes;
  for (const Spatial& dim : a.spatial) {
    choices.push_back(remainders_of(dim, out.dims[dim.output]));
    sizes.push_back(choices.back().size());
  }
  std::vector<Matmul> products;
  Dims index(sizes.size(), 0);
  do {
    std::vector<Remainder> chosen;
    for (size_t d = 0; d < index.size(); ++d) chosen.push_back(choices[d][index[d]]);
    products.push_back(as_matmul(whole, input, kernel, out, chosen));
  } while (next_index(index, sizes));
  return products;
}

// Whether neighbouring groups are neighbours in memory, and each is a single column.
bool groups_are_innermost(const Matmul& p) {
  return p.lhs.batch.size() >= 8 && p.out.column.size() == 1 &&
         p.lhs.batch[1] - p.lhs.batch[0] == 1 && p.rhs.batch[1] - p.rhs.batch[0] == 1;
}

// A convolution as products that read its input, or a padded copy.
struct Products {
  Padded padded;
  std::vector<Matmul> products;
};
Products products_of(const ConvolutionDims& a, const Shape& input, const Shape& kernel,
                     const Shape& out) {
  const Padded padded = padded_shape(a, input);
  const Matmul one = as_matmul(a, padded.shape, kernel, out);
  if (!skips_holes(a) || groups_are_innermost(one) || element_count(out.dims) == 0)
    return {padded, {one}};
  const ConvolutionDims whole = without_holes(a, input, out);
  const Padded without = padded_shape(whole, input);
  return {without, products_of_remainders(a, whole, without.shape, kernel, out)};
}

template <class T>
const T* converted(const std::byte* from, ElementType type, int64_t count, std::byte*& workspace,
                   const Parallel& parallel) {
  if (type == element_type<T>) return reinterpret_cast<const T*>(from);
  T* out = reinterpret_cast<T*>(workspace);
  workspace += whole_lines(count * static_cast<int64_t>(sizeof(T)));
  parallel(count, 1 << 16, [&](int64_t begin, int64_t end) {
    pack(from, type, begin, Dims{0}, positions(Dims{end - begin}, Dims{1}), out + begin);
  });
  return out;
}

template <class T>
void run_grouped(const Matmul& p, const T* x, const T* w, const Parallel& parallel) {
  constexpr int64_t width = 256;
  x += p.lhs.batch[0], w += p.rhs.batch[0] + p.rhs.outer[0];
  const int64_t groups = p.lhs.batch.size(), rows = p.out.row.size(), k = p.lhs.inner.size();
  const int64_t pieces = (groups + width - 1) / width;
  const int64_t grain = std::max<int64_t>(1, 32768 / (std::max<int64_t>(k, 1) * width));
  parallel(pieces * rows, grain, [&](int64_t begin, int64_t end) {
    T sum[width];
    for (int64_t task = begin; task < end; ++task) {
      const int64_t row = task / pieces, g = task % pieces * width;
      const int64_t count = std::min(width, groups - g);
      std::fill_n(sum, width, T(0));
      for (int64_t t = 0; t < k; ++t) {
        const T* a = x + p.lhs.outer[row] + p.lhs.inner[t] + g;
        const T* b = w + p.rhs.inner[t] + g;
        for (int64_t i = 0; i < count; ++i) sum[i] += a[i] * b[i];
      }
      unpack(sum, width, p.out.data, p.out.type, p.out.row[row] + p.out.column[0], Dims{0},
             std::span(p.out.batch).subspan(g, count));
    }
  });
}

}  // namespace

struct PreparedConvolution::State {
  Products all;
  int64_t input_count, kernel_count;  // elements, of the padded input

  const Matmul& first() const { return all.products[0]; }
  bool is_grouped() const { return groups_are_innermost(first()); }
  ElementType sum() const {
    return accumulator_type(first().lhs.type, first().rhs.type, first().out.type);
  }
  int64_t padded_bytes() const {
    return all.padded.is_input() ? 0 : whole_lines(literal_bytes(all.padded.shape));
  }
  int64_t converted_bytes(ElementType type, int64_t count) const {
    return !is_grouped() || type == sum() ? 0 : whole_lines(count * storage_bytes(sum()));
  }
};

PreparedConvolution::PreparedConvolution(const ConvolutionDims& dims, const Shape& input,
                                         const Shape& kernel, const Shape& result,
                                         MatmulPrecision precision, bool may_split) {
  State state{products_of(dims, input, kernel, result), 0, element_count(kernel)};
  state.input_count = element_count(state.all.padded.shape);
  for (Matmul& product : state.all.products)
    product.precision = precision, product.may_split = may_split;
  state_ = std::make_shared<const State>(std::move(state));
}

bool PreparedConvolution::is_product() const { return !state_->is_grouped(); }

bool PreparedConvolution::tells_parts(int64_t width) const {
  return is_product() && std::ranges::all_of(state_->all.products, [&](const Matmul& product) {
           return hilo::tells_parts(product, width);
         });
}

int64_t PreparedConvolution::workspace_bytes() const {
  const Matmul& p = state_->first();
  return state_->padded_bytes() + state_->converted_bytes(p.lhs.type, state_->input_count) +
         state_->converted_bytes(p.rhs.type, state_->kernel_count);
}

void PreparedConvolution::run(const std::byte* input, const std::byte* kernel, std::byte* result,
                              std::byte* workspace, const Parallel& parallel, int64_t width,
                              const TakePart* take) const {
  if (!state_->all.padded.is_input()) {
    state_->all.padded.fill(input, workspace, parallel);
    input = workspace;
    workspace += state_->padded_bytes();
  }
  for (Matmul now : state_->all.products) {
    now.lhs.data = input, now.rhs.data = kernel, now.out.data = result;
    now.take = take, now.width = width;
    if (is_product()) {
      matmul(now, parallel);
      continue;
    }
    visit_accumulator(state_->sum(), [&]<class T>(std::type_identity<T>) {
      const T* x = converted<T>(input, now.lhs.type, state_->input_count, workspace, parallel);
      const T* w = converted<T>(kernel, now.rhs.type, state_->kernel_count, workspace, parallel);
      run_grouped(now, x, w, parallel);
    });
  }
}

}  // namespace hilo
