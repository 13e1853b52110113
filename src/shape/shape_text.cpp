// Text of shapes and layouts; format: openxla.org/xla/shapes, order of suffixes T L # * E S SC M.
#include <charconv>

#include "shape/shape_value.h"

namespace hilo {
namespace {

void append_integer(std::string& out, int64_t value) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void append_list(std::string& out, const Dims& dims) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) out += ',';
    if (dims[i] == Tile::combine) out += '*';
    else append_integer(out, dims[i]);
  }
}

void append_count(std::string& out, std::string_view letter, int64_t value) {
  out += letter;
  out += '(';
  append_integer(out, value);
  out += ')';
}

void append_type(std::string& out, std::string_view letter, ElementType type) {
  if (type == ElementType::Invalid) return;
  out += letter;
  out += '(';
  out += text_of(type);
  out += ')';
}

void append_suffixes(std::string& out, const Layout& layout) {
  if (!layout.tiles.empty()) out += 'T';
  for (const Tile& tile : layout.tiles) {
    out += '(';
    append_list(out, tile.dims);
    out += ')';
  }
  if (layout.tail_padding_alignment != 1) append_count(out, "L", layout.tail_padding_alignment);
  append_type(out, "#", layout.index_type);
  append_type(out, "*", layout.pointer_type);
  if (layout.element_size_bits != 0) append_count(out, "E", layout.element_size_bits);
  if (layout.memory_space != 0) append_count(out, "S", layout.memory_space);
  if (!layout.split_configs.empty()) out += "SC";
  for (const SplitConfig& split : layout.split_configs) {
    out += '(';
    append_integer(out, split.dim);
    out += ':';
    append_list(out, split.split_indices);
    out += ')';
  }
  if (layout.dynamic_shape_metadata_prefix_bytes != 0)
    append_count(out, "M", layout.dynamic_shape_metadata_prefix_bytes);
}

// A scalar's layout is printed only for its suffixes.
void append_layout(std::string& out, const Shape& shape) {
  const size_t before = out.size();
  out += '{';
  append_list(out, shape.layout.minor_to_major);
  const size_t colon = out.size();
  out += ':';
  append_suffixes(out, shape.layout);
  if (out.size() == colon + 1) out.pop_back();
  if (shape.dims.empty() && out.size() == colon) return out.resize(before);
  out += '}';
}

void append_array(std::string& out, const Shape& shape, bool with_layout) {
  out += text_of(shape.type);
  out += '[';
  for (size_t i = 0; i < shape.dims.size(); ++i) {
    if (i > 0) out += ',';
    if (shape.dims[i] == Shape::unbounded) {
      out += '?';
      continue;
    }
    if (shape.is_dynamic(i)) out += "<=";
    append_integer(out, shape.dims[i]);
  }
  out += ']';
  if (with_layout && shape.has_layout) append_layout(out, shape);
}

}  // namespace

void append_text(std::string& out, const Shape& shape, bool with_layout) {
  if (shape.is_array()) return append_array(out, shape, with_layout);
  if (shape.is_tuple()) {
    out += '(';
    for (size_t i = 0; i < shape.elements.size(); ++i) {
      if (i > 0) out += ", ";
      if (i > 0 && i % 5 == 0) {
        out += "/*index=";
        append_integer(out, static_cast<int64_t>(i));
        out += "*/";
      }
      append_text(out, shape.elements[i], with_layout);
    }
    out += ')';
  } else if (shape.type == ElementType::Buffer && !shape.elements.empty()) {
    out += "b(";
    append_text(out, shape.elements[0], with_layout);
    out += ')';
  } else {
    out += text_of(shape.type);
    out += "[]";
  }
}

std::string to_string(const Shape& shape) {
  std::string out;
  append_text(out, shape, true);
  return out;
}

std::string to_string_without_layout(const Shape& shape) {
  std::string out;
  append_text(out, shape, false);
  return out;
}

}  // namespace hilo
