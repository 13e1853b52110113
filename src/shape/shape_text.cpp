// Text of shapes and layouts; format: xla.md 2.7, order of suffixes T L # * E S SC M.
#include "shape/shape_value.h"

namespace hilo {
namespace {

void append_list(std::string& out, const Dims& dims) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) out += ',';
    if (dims[i] == Tile::combine) out += '*';
    else out += std::to_string(dims[i]);
  }
}

std::string suffixes(const Layout& layout) {
  std::string out;
  if (!layout.tiles.empty()) out += 'T';
  for (const Tile& tile : layout.tiles) {
    out += '(';
    append_list(out, tile.dims);
    out += ')';
  }
  if (layout.tail_padding_alignment != 1)
    out += fmt::format("L({})", layout.tail_padding_alignment);
  if (layout.index_type != ElementType::Invalid)
    out += fmt::format("#({})", text_of(layout.index_type));
  if (layout.pointer_type != ElementType::Invalid)
    out += fmt::format("*({})", text_of(layout.pointer_type));
  if (layout.element_size_bits != 0) out += fmt::format("E({})", layout.element_size_bits);
  if (layout.memory_space != 0) out += fmt::format("S({})", layout.memory_space);
  if (!layout.split_configs.empty()) out += "SC";
  for (const SplitConfig& split : layout.split_configs) {
    out += fmt::format("({}:", split.dim);
    append_list(out, split.split_indices);
    out += ')';
  }
  if (layout.dynamic_shape_metadata_prefix_bytes != 0)
    out += fmt::format("M({})", layout.dynamic_shape_metadata_prefix_bytes);
  return out;
}

void append_array(std::string& out, const Shape& shape, bool with_layout) {
  out += text_of(shape.type);
  out += '[';
  for (size_t i = 0; i < shape.dims.size(); ++i) {
    if (i > 0) out += ',';
    if (shape.dims[i] == Shape::unbounded) out += '?';
    else out += (shape.is_dynamic(i) ? "<=" : "") + std::to_string(shape.dims[i]);
  }
  out += ']';
  if (!with_layout || !shape.has_layout) return;
  const std::string suffix = suffixes(shape.layout);
  if (shape.dims.empty() && suffix.empty()) return;
  out += '{';
  append_list(out, shape.layout.minor_to_major);
  if (!suffix.empty()) out += ':' + suffix;
  out += '}';
}

void append_shape(std::string& out, const Shape& shape, bool with_layout) {
  if (shape.is_array()) return append_array(out, shape, with_layout);
  if (shape.is_tuple()) {
    out += '(';
    for (size_t i = 0; i < shape.elements.size(); ++i) {
      if (i > 0) out += ", ";
      if (i > 0 && i % 5 == 0) out += fmt::format("/*index={}*/", i);
      append_shape(out, shape.elements[i], with_layout);
    }
    out += ')';
  } else if (shape.type == ElementType::Buffer && !shape.elements.empty()) {
    out += "b(";
    append_shape(out, shape.elements[0], with_layout);
    out += ')';
  } else {
    out += text_of(shape.type);
    out += "[]";
  }
}

}  // namespace

std::string to_string(const Shape& shape) {
  std::string out;
  append_shape(out, shape, true);
  return out;
}

std::string to_string_without_layout(const Shape& shape) {
  std::string out;
  append_shape(out, shape, false);
  return out;
}

}  // namespace hilo
