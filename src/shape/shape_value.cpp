#include "shape/shape_value.h"

#include <algorithm>
#include <utility>

namespace hilo {
namespace {

int64_t saturating_multiply(int64_t a, int64_t b) {
  int64_t out;
  return __builtin_mul_overflow(a, b, &out) ? INT64_MAX : out;
}

size_t combine(size_t seed, size_t value) {
  return (seed ^ value) * 0x9e3779b97f4a7c15ull + (seed >> 29);
}

size_t hash_dims(size_t seed, const Dims& dims) {
  for (int64_t dim : dims) seed = combine(seed, static_cast<size_t>(dim));
  return combine(seed, dims.size());
}

int64_t packed_bits(const Shape& shape) {
  if (shape.has_layout && shape.layout.element_size_bits != 0)
    return shape.layout.element_size_bits;
  return 8 * storage_bytes(shape.type);
}

}  // namespace

Layout Layout::descending(size_t rank) {
  Layout out;
  for (size_t i = rank; i-- > 0;) out.minor_to_major.push_back(static_cast<int64_t>(i));
  return out;
}

bool Layout::is_descending() const {
  for (size_t i = 0; i < minor_to_major.size(); ++i)
    if (minor_to_major[i] != static_cast<int64_t>(minor_to_major.size() - 1 - i)) return false;
  return true;
}

Shape Shape::array(ElementType type, Dims dims) {
  Shape out;
  out.type = type;
  out.has_layout = true;
  out.layout = Layout::descending(dims.size());
  out.dims = std::move(dims);
  return out;
}

Shape Shape::tuple(std::vector<Shape> elements) {
  Shape out;
  out.type = ElementType::Tuple;
  out.elements = std::move(elements);
  return out;
}

Shape Shape::token() {
  Shape out;
  out.type = ElementType::Token;
  return out;
}

bool Shape::has_dynamic_dims() const {
  return std::find(dynamic.begin(), dynamic.end(), true) != dynamic.end();
}

bool is_static(const Shape& shape) {
  return std::ranges::find(shape.dims, Shape::unbounded) == shape.dims.end() &&
         !shape.has_dynamic_dims() && std::ranges::all_of(shape.elements, is_static);
}

bool begins_with(const Dims& dims, const Dims& first) {
  return dims.size() >= first.size() && std::equal(first.begin(), first.end(), dims.begin());
}

size_t hash_of(const Shape& shape) {
  size_t seed = hash_dims(static_cast<size_t>(shape.type) * 2 + shape.has_layout, shape.dims);
  if (shape.has_layout) {
    seed = hash_dims(seed, shape.layout.minor_to_major);
    for (const Tile& tile : shape.layout.tiles) seed = hash_dims(seed, tile.dims);
    seed = combine(seed, static_cast<size_t>(shape.layout.memory_space));
  }
  for (const Shape& element : shape.elements) seed = combine(seed, hash_of(element));
  return seed;
}

bool same_dims_any_type(const Shape& a, const Shape& b) {
  if (a.dims != b.dims || a.elements.size() != b.elements.size()) return false;
  for (size_t i = 0; i < a.dims.size(); ++i)
    if (a.is_dynamic(i) != b.is_dynamic(i)) return false;
  for (size_t i = 0; i < a.elements.size(); ++i)
    if (!same_dims(a.elements[i], b.elements[i])) return false;
  return a.is_array() == b.is_array();
}

bool same_dims(const Shape& a, const Shape& b) {
  return a.type == b.type && same_dims_any_type(a, b);
}

int64_t element_count(std::span<const int64_t> dims) {
  int64_t out = 1;
  for (int64_t dim : dims) {
    if (dim == 0) return 0;
    out = saturating_multiply(out, dim == Shape::unbounded ? INT64_MAX : dim);
  }
  return out;
}

int64_t element_count(const Shape& shape) {
  return shape.is_array() ? element_count(shape.dims) : 0;
}

int64_t unpadded_bytes(const Shape& shape, int64_t pointer_bytes) {
  if (shape.is_tuple()) return pointer_bytes * static_cast<int64_t>(shape.elements.size());
  if (shape.type == ElementType::Buffer) return unpadded_bytes(shape.elements[0], pointer_bytes);
  if (!shape.is_array()) return 0;
  const int64_t bits = saturating_multiply(element_count(shape), packed_bits(shape));
  return bits / 8 + (bits % 8 != 0);
}

int64_t physical_count(const Shape& shape) {
  if (!shape.has_layout) return element_count(shape);
  Dims dims;  // physical dimensions, major to minor
  for (size_t i = shape.layout.minor_to_major.size(); i-- > 0;)
    dims.push_back(shape.dims[shape.layout.minor_to_major[i]]);
  for (const Tile& tile : shape.layout.tiles) {
    const size_t n = tile.dims.size();
    while (dims.size() < n) dims.insert(dims.begin(), 1);
    const size_t base = dims.size() - n;
    for (size_t k = 0; k < n; ++k) {
      if (tile.dims[k] == Tile::combine) {  // folds into the next more minor dimension
        dims[base + k + 1] = saturating_multiply(dims[base + k + 1], dims[base + k]);
        dims[base + k] = 1;
        dims.push_back(1);
      } else {
        dims[base + k] = dims[base + k] / tile.dims[k] + (dims[base + k] % tile.dims[k] != 0);
        dims.push_back(tile.dims[k]);
      }
    }
  }
  const int64_t align = std::max<int64_t>(1, shape.layout.tail_padding_alignment);
  const int64_t count = element_count(std::span<const int64_t>(dims));
  return count == INT64_MAX ? count : (count + align - 1) / align * align;
}

namespace {
// A layout's splits cut the array between the cores of a chip; memory is as large as the largest
// share, in every core.
Shape largest_share(Shape shape) {
  for (const SplitConfig& split : std::exchange(shape.layout.split_configs, {})) {
    int64_t begin = 0, largest = 0;
    for (int64_t end : split.split_indices) {
      largest = std::max(largest, end - begin);
      begin = end;
    }
    shape.dims[split.dim] = std::max(largest, shape.dims[split.dim] - begin);
  }
  return shape;
}
}  // namespace

int64_t padded_bytes(const Shape& shape) {
  check(!shape.is_tuple(), "padded_bytes: a tuple");
  if (shape.has_layout && !shape.layout.split_configs.empty())
    return padded_bytes(largest_share(shape));
  if (!shape.is_array())
    return shape.type == ElementType::Buffer ? padded_bytes(shape.elements[0]) : 0;
  const int64_t bits = saturating_multiply(physical_count(shape), packed_bits(shape));
  return bits / 8 + (bits % 8 != 0);
}

int64_t literal_bytes(const Shape& shape) {
  int64_t out = saturating_multiply(element_count(shape), storage_bytes(shape.type));
  for (const Shape& element : shape.elements)
    if (__builtin_add_overflow(out, literal_bytes(element), &out)) return INT64_MAX;
  return out;
}

int64_t leaf_count(const Shape& shape) {
  if (!shape.is_tuple()) return 1;
  int64_t out = 0;
  for (const Shape& element : shape.elements) out += leaf_count(element);
  return out;
}

namespace {
void walk_leaves(const Shape& shape, Dims& index,
                 const std::function<void(const Shape&, std::span<const int64_t>)>& body) {
  if (!shape.is_tuple()) return body(shape, index);
  for (size_t i = 0; i < shape.elements.size(); ++i) {
    index.push_back(static_cast<int64_t>(i));
    walk_leaves(shape.elements[i], index, body);
    index.pop_back();
  }
}
}  // namespace

void for_each_leaf(const Shape& shape,
                   const std::function<void(const Shape&, std::span<const int64_t>)>& body) {
  Dims index;
  walk_leaves(shape, index, body);
}

Dims row_major_strides(std::span<const int64_t> dims) {
  Dims out(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) out[i - 1] = saturating_multiply(out[i], dims[i]);
  return out;
}

bool next_index(std::span<int64_t> index, std::span<const int64_t> dims) {
  for (size_t i = dims.size(); i-- > 0;) {
    if (++index[i] < dims[i]) return true;
    index[i] = 0;
  }
  return false;
}

int64_t physical_position(const Shape& shape, std::span<const int64_t> index) {
  Dims dims, at;  // physical, major to minor
  if (shape.has_layout) {
    for (size_t i = shape.layout.minor_to_major.size(); i-- > 0;) {
      dims.push_back(shape.dims[shape.layout.minor_to_major[i]]);
      at.push_back(index[shape.layout.minor_to_major[i]]);
    }
    for (const Tile& tile : shape.layout.tiles) {
      const size_t n = tile.dims.size();
      while (dims.size() < n) dims.insert(dims.begin(), 1), at.insert(at.begin(), 0);
      const size_t base = dims.size() - n;
      for (size_t k = 0; k < n; ++k) {
        const int64_t t = tile.dims[k];
        if (t == Tile::combine) {
          at[base + k + 1] += at[base + k] * dims[base + k + 1];
          dims[base + k + 1] *= dims[base + k];
          dims[base + k] = 1, at[base + k] = 0;
          dims.push_back(1), at.push_back(0);
        } else {
          dims.push_back(t), at.push_back(at[base + k] % t);
          dims[base + k] = (dims[base + k] + t - 1) / t, at[base + k] /= t;
        }
      }
    }
  } else {
    dims = shape.dims, at.assign(index.begin(), index.end());
  }
  int64_t position = 0;
  for (size_t i = 0; i < dims.size(); ++i) position = position * dims[i] + at[i];
  return position;
}

}  // namespace hilo
