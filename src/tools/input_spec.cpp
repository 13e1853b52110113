#include "tools/input_spec.h"

#include <charconv>
#include <fstream>
#include <vector>

#include "report/report.h"
#include "text/text.h"
#include "tools/array_file.h"
#include "wire/wire.h"

namespace hilo::tools {
namespace {

bool parse_number(std::string_view text, int64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

// Usage of what stands on the command line, Input of what a file holds.
std::unexpected<Error> wrong(std::string_view parameter, const Shape& shape, std::string_view found,
                             ErrorKind kind = ErrorKind::Usage) {
  return fail(kind, "input for parameter {}: expected {}, found {}", parameter,
              to_string_without_layout(shape), found);
}

// Elements written one after the other: [1 2 3][4 5 6], with commas or not; one value fills all.
Result<std::vector<Literal>> read_elements(std::string_view text, std::string_view parameter,
                                           const Shape& shape) {
  std::string inner(text);
  std::vector<std::string> words;
  for (char& c : inner)
    if (c == '[' || c == ']' || c == ',') c = ' ';
  for (size_t at = 0; (at = inner.find_first_not_of(' ', at)) != std::string::npos;) {
    const size_t end = std::min(inner.find(' ', at), inner.size());
    words.push_back(inner.substr(at, end - at));
    at = end;
  }
  const int64_t count = element_count(shape);
  if (words.size() != 1 && std::ssize(words) != count)
    return wrong(parameter, shape,
                 fmt::format("{} for {}", counted(words.size(), "value"),
                             counted(static_cast<size_t>(count), "element")));
  std::vector<Literal> out;
  for (const std::string& word : words) {
    auto element = parse_literal(word, Shape::scalar(shape.type));
    if (!element) return wrong(parameter, shape, fmt::format("the value '{}'", word));
    out.push_back(std::move(*element));
  }
  return out;
}

Literal filled(const Shape& shape, std::span<const Literal> elements) {
  Literal out = Literal::uninitialized(shape);
  const size_t bytes = static_cast<size_t>(storage_bytes(shape.type));
  std::byte* to = out.mutable_raw().data();
  for (int64_t i = 0; i < element_count(shape); ++i, to += bytes) {
    const Literal& element = elements[elements.size() == 1 ? 0 : static_cast<size_t>(i)];
    std::copy_n(element.raw().data(), bytes, to);
  }
  return out;
}

Result<Literal> read_raw(const std::string& path, std::string_view parameter, const Shape& shape) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return fail(ErrorKind::Io, "cannot read {}", path);
  const auto needed = element_count(shape) * storage_bytes(shape.type);
  if (file.tellg() != static_cast<std::streamoff>(needed))
    return wrong(parameter, shape,
                 fmt::format("{} bytes in {} where {} are needed",
                             static_cast<int64_t>(file.tellg()), path, needed),
                 ErrorKind::Input);
  Literal out = Literal::uninitialized(shape);
  const auto raw = out.mutable_raw();
  file.seekg(0);
  file.read(reinterpret_cast<char*>(raw.data()), static_cast<std::streamsize>(raw.size()));
  if (!file) return fail(ErrorKind::Io, "cannot read {}", path);
  return out;
}

// What is behind the shape of "4x8xf32=0.5", which must be the parameter's; "0" where nothing is.
Result<std::string_view> written_elements(std::string_view value, std::string_view parameter,
                                          const Shape& shape) {
  const size_t equals = value.find('=');
  const auto stated = parse_shape_spec(value.substr(0, equals));
  if (!stated)
    return wrong(parameter, shape,
                 fmt::format("'{}' (write it as in 4x8xf32=0.5, or @file.npy)", value));
  if (!same_dims(*stated, shape)) return wrong(parameter, shape, to_string_without_layout(*stated));
  return equals == std::string_view::npos ? std::string_view("0") : value.substr(equals + 1);
}

}  // namespace

std::optional<Shape> parse_shape_spec(std::string_view text) {
  Dims dims;
  while (true) {
    const size_t x = text.find('x');
    int64_t dim;
    if (x == std::string_view::npos || !parse_number(text.substr(0, x), dim)) break;
    dims.push_back(dim);
    text.remove_prefix(x + 1);
  }
  std::string name(text);
  if (name.starts_with('i')) name[0] = 's';  // i32 as IREE writes it
  const auto type = element_type_of(name);
  if (!type || !is_array(*type)) return std::nullopt;
  return Shape::array(*type, dims);
}

Result<std::optional<Shape>> stated_shape(const InputSpec& spec) {
  const std::string_view value = spec.value;
  if (!value.starts_with('@')) return parse_shape_spec(value.substr(0, value.find('=')));
  const std::string path(value.substr(1));
  const Result<Literal> read = read_npy(path);
  if (!read) return std::unexpected(expected_arrays(read.error(), path, "a .npy file"));
  return read->shape();
}

InputSpec parse_input_spec(std::string_view text) {
  InputSpec out;
  const size_t equals = text.find('=');
  std::string_view head = equals == std::string_view::npos ? "" : text.substr(0, equals);
  const size_t at = head.find('@');
  int64_t leaf = 0, device = 0;
  const bool has_device = at != std::string_view::npos && at > 0;
  const std::string_view named = has_device ? head.substr(0, at) : head;
  const bool is_value = named.empty() || named[0] == '@' || parse_shape_spec(named);
  if (is_value || (has_device && !parse_number(head.substr(at + 1), device))) {
    out.value = text;
    return out;
  }
  if (parse_number(named, leaf)) out.leaf = leaf;
  else out.name = named.substr(named[0] == '%' ? 1 : 0);
  if (has_device) out.device = device;
  out.value = text.substr(equals + 1);
  return out;
}

Result<Literal> read_input(const InputSpec& spec, std::string_view parameter, const Shape& shape) {
  const std::string& value = spec.value;
  if (value.starts_with('@')) {
    const std::string path = value.substr(1);
    const Result<Literal> read = read_npy(path);
    if (!read) return std::unexpected(expected_arrays(read.error(), path, "a .npy file"));
    auto fitted = reinterpret_as(*read, shape);
    if (!fitted) return wrong(parameter, shape, fitted.error().message, ErrorKind::Input);
    return fitted;
  }
  HILO_TRY(const std::string_view elements, written_elements(value, parameter, shape));
  if (elements.starts_with('@')) return read_raw(std::string(elements.substr(1)), parameter, shape);
  HILO_TRY(const std::vector<Literal> read, read_elements(elements, parameter, shape));
  return filled(shape, read);
}

}  // namespace hilo::tools
