// Shapes with layouts, their sizes, and index arithmetic over them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "shape/element_type.h"

namespace hilo {

using Dims = std::vector<int64_t>;

// One tile of a layout, minor-most dimension last; `combine` in a position folds that dimension
// into the next more minor one. Format: "Tiled layout" in XLA's documentation.
struct Tile {
  static constexpr int64_t combine = INT64_MIN;
  Dims dims;
  bool operator==(const Tile&) const = default;
};

struct SplitConfig {
  int64_t dim = 0;
  Dims split_indices;
  bool operator==(const SplitConfig&) const = default;
};

struct Shape;

struct Layout {
  Dims minor_to_major;
  std::string dim_level_types;  // the letters of D(...), kept only to be read
  std::vector<Tile> tiles;
  int64_t tail_padding_alignment = 1;               // L(n), elements
  ElementType index_type = ElementType::Invalid;    // #(u32)
  ElementType pointer_type = ElementType::Invalid;  // *(u32)
  int64_t element_size_bits = 0;                    // E(n); 0 = natural
  int64_t memory_space = 0;                         // S(n)
  std::vector<SplitConfig> split_configs;           // SC(...)
  int64_t dynamic_shape_metadata_prefix_bytes = 0;  // M(n)
  bool operator==(const Layout&) const = default;

  static Layout descending(size_t rank);  // {rank-1, ..., 0}
  bool is_descending() const;             // dimension order only; tiles do not count
};

struct Shape {
  ElementType type = ElementType::Invalid;
  bool has_layout = false;
  Dims dims;                    // bounds where dynamic; `unbounded` for "?"
  std::vector<bool> dynamic;    // empty when no dimension is
  Layout layout;                // meaningful only with has_layout
  std::vector<Shape> elements;  // of a tuple; the one array of a buffer `b(...)`

  static constexpr int64_t unbounded = INT64_MIN;

  static Shape array(ElementType type, Dims dims);  // with the descending layout
  static Shape scalar(ElementType type) { return array(type, {}); }
  static Shape tuple(std::vector<Shape> elements);
  static Shape token();

  bool is_array() const { return hilo::is_array(type); }
  bool is_tuple() const { return type == ElementType::Tuple; }
  bool is_token() const { return type == ElementType::Token; }
  bool is_scalar() const { return is_array() && dims.empty(); }
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  bool is_dynamic(size_t dim) const { return dim < dynamic.size() && dynamic[dim]; }
  bool has_dynamic_dims() const;  // of this array, not of tuple elements
  bool operator==(const Shape&) const = default;
};

std::string to_string(const Shape& shape);  // "f32[4,8]{1,0:T(8,128)}"; tuples with /*index=5*/
std::string to_string_without_layout(const Shape& shape);                  // "f32[4,8]"
void append_text(std::string& out, const Shape& shape, bool with_layout);  // the same, appended
size_t hash_of(const Shape& shape);
// Same types, dimensions and dynamic marks; layouts do not count.
bool same_dims(const Shape& a, const Shape& b);           // element types count
bool same_dims_any_type(const Shape& a, const Shape& b);  // nor element types
// No dynamic or unbounded dimension anywhere.
bool is_static(const Shape& shape);
// Whether the first dimensions are these.
bool begins_with(const Dims& dims, const Dims& first);

// What is wrong with the layouts in a shape (order, tiles, sizes, splits), or "" when all is sound.
// Only shapes of sound layouts may be asked for physical sizes and positions.
std::string layout_fault(const Shape& shape);

// Number of elements; tuples: 0. Saturates at INT64_MAX.
int64_t element_count(const Shape& shape);
int64_t element_count(std::span<const int64_t> dims);
// Bytes of the elements side by side without padding, sub-byte types packed when the layout says so
// (XLA's ByteSizeOf); tuples: pointer_bytes for each element.
int64_t unpadded_bytes(const Shape& shape, int64_t pointer_bytes = 8);
// Bytes of the array in its layout, tiles padded, of the largest share where it is split between
// cores; check() for tuples.
int64_t padded_bytes(const Shape& shape);
// Bytes that a Literal of this shape takes here: all leaves, one element a byte at least.
int64_t literal_bytes(const Shape& shape);
// Leaves in order: arrays, tokens and opaques.
int64_t leaf_count(const Shape& shape);
void for_each_leaf(const Shape& shape,
                   const std::function<void(const Shape&, std::span<const int64_t> index)>& body);

// Row-major strides of dims, in elements.
Dims row_major_strides(std::span<const int64_t> dims);
// Advances index (row-major, last fastest) below dims; false when it wrapped to all zeros.
bool next_index(std::span<int64_t> index, std::span<const int64_t> dims);
// Position, in elements of the padded physical array, of a logical index in its layout with tiles.
int64_t physical_position(const Shape& shape, std::span<const int64_t> index);
// Elements of the padded physical array.
int64_t physical_count(const Shape& shape);

}  // namespace hilo
