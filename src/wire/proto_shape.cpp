#include "wire/proto_shape.h"

#include <algorithm>

namespace hilo {
namespace {

// The letters of D(...): dense, compressed, singleton, loose compressed; '+' not unique, '~' not
// ordered.
constexpr std::string_view level_letters = "DCSH";

void write_level_types(std::string_view text, proto::LayoutProto& to) {
  for (size_t at = 0; at < text.size(); ++at) {
    const size_t letter = level_letters.find(text[at]);
    if (letter == std::string_view::npos) continue;
    to.add_dim_level_types(static_cast<proto::DimLevelType>(letter));
    const std::string_view marks = text.substr(at + 1, text.find(',', at) - at - 1);
    to.add_dim_unique(marks.find('+') == std::string_view::npos);
    to.add_dim_ordered(marks.find('~') == std::string_view::npos);
  }
}

std::string read_level_types(const proto::LayoutProto& from) {
  const auto& types = from.dim_level_types();
  const bool all_dense =
      std::all_of(types.begin(), types.end(), [](int type) { return type == 0; });
  if (all_dense) return "";
  std::string text;
  for (int i = 0; i < types.size(); ++i) {
    if (i > 0) text += ',';
    text += level_letters[std::clamp<int>(types[i], 0, 3)];
    if (i < from.dim_unique_size() && !from.dim_unique(i)) text += '+';
    if (i < from.dim_ordered_size() && !from.dim_ordered(i)) text += '~';
  }
  return text;
}

void write_layout(const Layout& layout, proto::LayoutProto& to) {
  put_dims(layout.minor_to_major, *to.mutable_minor_to_major());
  write_level_types(layout.dim_level_types, to);
  for (const Tile& tile : layout.tiles) put_dims(tile.dims, *to.add_tiles()->mutable_dimensions());
  to.set_tail_padding_alignment_in_elements(layout.tail_padding_alignment);
  to.set_index_primitive_type(static_cast<proto::PrimitiveType>(proto_number(layout.index_type)));
  to.set_pointer_primitive_type(
      static_cast<proto::PrimitiveType>(proto_number(layout.pointer_type)));
  to.set_element_size_in_bits(layout.element_size_bits);
  to.set_memory_space(layout.memory_space);
  to.set_dynamic_shape_metadata_prefix_bytes(layout.dynamic_shape_metadata_prefix_bytes);
  for (const SplitConfig& config : layout.split_configs) {
    proto::SplitConfigProto& split = *to.add_split_configs();
    split.set_dimension(config.dim);
    put_dims(config.split_indices, *split.mutable_split_indices());
  }
}

Result<ElementType> read_type(int number) {
  if (number == 0) return ElementType::Invalid;
  const std::optional<ElementType> type = element_type_of_number(number);
  if (!type) return fail(ErrorKind::Unsupported, "element type number {}", number);
  return *type;
}

constexpr int64_t largest_layout_number = int64_t{1} << 31;

Result<Layout> read_layout(const proto::LayoutProto& from) {
  Layout layout;
  layout.minor_to_major = dims_of(from.minor_to_major());
  layout.dim_level_types = read_level_types(from);
  int64_t largest = std::max(from.memory_space(), from.tail_padding_alignment_in_elements());
  for (const proto::TileProto& tile : from.tiles()) {
    layout.tiles.push_back({dims_of(tile.dimensions())});
    for (int64_t dim : layout.tiles.back().dims) largest = std::max(largest, dim);
  }
  if (largest > largest_layout_number)
    return fail(ErrorKind::Limit, "{} is too large in a layout", largest);
  if (from.tail_padding_alignment_in_elements() > 0)
    layout.tail_padding_alignment = from.tail_padding_alignment_in_elements();
  HILO_TRY(layout.index_type, read_type(from.index_primitive_type()));
  HILO_TRY(layout.pointer_type, read_type(from.pointer_primitive_type()));
  layout.element_size_bits = from.element_size_in_bits();
  layout.memory_space = from.memory_space();
  layout.dynamic_shape_metadata_prefix_bytes = from.dynamic_shape_metadata_prefix_bytes();
  for (const proto::SplitConfigProto& split : from.split_configs())
    layout.split_configs.push_back({split.dimension(), dims_of(split.split_indices())});
  return layout;
}

Result<void> read_dims(const proto::ShapeProto& from, Shape& shape) {
  shape.dims = dims_of(from.dimensions());
  int64_t bytes = storage_bytes(shape.type);
  for (size_t i = 0; i < shape.dims.size(); ++i) {
    const bool is_dynamic =
        static_cast<int>(i) < from.is_dynamic_dimension_size() && from.is_dynamic_dimension(i);
    if (shape.dims[i] < 0 && !(is_dynamic && shape.dims[i] == Shape::unbounded))
      return fail(ErrorKind::Shape, "a dimension of {}", shape.dims[i]);
    if (shape.dims[i] > 0 && __builtin_mul_overflow(bytes, shape.dims[i], &bytes))
      return fail(ErrorKind::Limit, "a shape of more than 2^63 - 1 bytes");
    if (is_dynamic) shape.dynamic.resize(shape.dims.size());
    if (is_dynamic) shape.dynamic[i] = true;
  }
  return {};
}

}  // namespace

void write_shape(const Shape& shape, proto::ShapeProto& to) {
  to.set_element_type(static_cast<proto::PrimitiveType>(proto_number(shape.type)));
  put_dims(shape.dims, *to.mutable_dimensions());
  for (size_t i = 0; i < shape.dims.size(); ++i) to.add_is_dynamic_dimension(shape.is_dynamic(i));
  for (const Shape& element : shape.elements) write_shape(element, *to.add_tuple_shapes());
  if (shape.has_layout && shape.is_array()) write_layout(shape.layout, *to.mutable_layout());
}

Result<Shape> read_shape(const proto::ShapeProto& from) {
  Shape shape;
  HILO_TRY(shape.type, read_type(from.element_type()));
  if (shape.type == ElementType::Invalid)
    return fail(ErrorKind::Shape, "a shape without an element type");
  const bool has_elements = shape.is_tuple() || shape.type == ElementType::Buffer;
  if (!has_elements && from.tuple_shapes_size() > 0)
    return fail(ErrorKind::Shape, "{} with elements", text_of(shape.type));
  if (shape.type == ElementType::Buffer && from.tuple_shapes_size() != 1)
    return fail(ErrorKind::Shape, "a buffer of {} shapes", from.tuple_shapes_size());
  for (const proto::ShapeProto& element : from.tuple_shapes()) {
    HILO_TRY(Shape read, read_shape(element));
    shape.elements.push_back(std::move(read));
  }
  if (!shape.is_array()) return shape;
  HILO_DO(read_dims(from, shape));
  shape.has_layout = from.has_layout();
  if (shape.has_layout) {
    HILO_TRY(shape.layout, read_layout(from.layout()));
  }
  if (const std::string fault = shape.has_layout ? layout_fault(shape) : ""; !fault.empty())
    return fail(ErrorKind::Shape, "{}", fault);
  return shape;
}

}  // namespace hilo
