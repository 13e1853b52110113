// Attributes of MLIR's text that belong to no dialect, and locations.
#include <algorithm>

#include "wire/stablehlo/dense_elements.h"
#include "wire/stablehlo/mlir_text_reader.h"
#include "wire/stablehlo/structs.h"

namespace hilo::mlir {

AttributeId TextReader::attribute(bool may_have_type) {
  const Nesting nesting(*this, max_depth);
  if (in_.failed()) return {};
  const char next = in_.next();
  if (next == '"') {
    const AttributeId out = builder_.string(in_.string());
    if (may_have_type && in_.accept(':')) type();
    return out;
  }
  if (next == '[') return array_attribute();
  if (next == '{') return builder_.dictionary(dictionary());
  if (next == '@') return symbol_attribute();
  if (next == '#') {
    const std::string_view name = in_.name('#');
    const bool is_of_dialect = name.find('.') != std::string_view::npos || in_.peek('<');
    return is_of_dialect ? dialect_attribute(name) : alias_attribute(name);
  }
  if (TextCursor::is_digit(next) || next == '-') return number_attribute(may_have_type);
  if (is_type()) return builder_.type_attribute(type());
  return word_attribute();
}

AttributeId TextReader::word_attribute() {
  const std::string_view word = in_.peek_word();
  if (word == "loc") return location();
  in_.word();
  if (word == "true" || word == "false") return builder_.boolean(word == "true");
  if (word == "unit") return builder_.add({.kind = AttributeKind::Unit});
  if (word == "dense") return dense();
  if (word == "array") return dense_array();
  if (word == "dense_resource") {
    in_.expect("<");
    Attribute out{.kind = AttributeKind::Resource};
    out.text = in_.peek('"') ? in_.string() : std::string(in_.word());
    in_.expect(">");
    in_.expect(":");
    out.type = type();
    return builder_.add(std::move(out));
  }
  if (!word.empty() && in_.peek('<')) {
    in_.balanced();  // affine_map, opaque, sparse: nothing here needs them
    if (in_.accept(':')) type();
    return builder_.structure("builtin.unknown", {});
  }
  in_.fail("expected an attribute, found '{}'", word.empty() ? in_.found() : word);
  return {};
}

AttributeId TextReader::unknown_attribute(std::string_view dialect) {
  if (in_.peek('<')) in_.balanced();
  return builder_.structure(std::string(dialect) + ".unknown", {});
}

TypeId TextReader::type_of_value(ElementType fallback, bool may_have_type) {
  return may_have_type && in_.accept(':') ? type() : builder_.scalar(fallback);
}

// 1, -2.5e+00, 0x7F800000 : f32
AttributeId TextReader::number_attribute(bool may_have_type) {
  const size_t offset = in_.offset();
  const std::string digits(in_.number());
  const bool is_hexadecimal = digits.find("0x") != std::string::npos;
  const bool is_float = !is_hexadecimal && digits.find_first_of(".eE") != std::string::npos;
  const TypeId id = type_of_value(is_float ? ElementType::F64 : ElementType::S64, may_have_type);
  if (in_.failed()) return {};
  const Type& type = builder_.program[id];
  if (type.kind == TypeKind::Scalar && is_floating(type.element)) {
    const double value =
        is_hexadecimal ? float_of_bits(type.element, std::strtoull(digits.c_str(), nullptr, 16))
                       : rounded_to(type.element, std::strtod(digits.c_str(), nullptr));
    return builder_.number(value, id);
  }
  const bool is_negative = digits.starts_with('-');
  const char* from = digits.data() + is_negative + (is_hexadecimal ? 2 : 0);
  uint64_t value = 0;
  const auto [stop, error] =
      std::from_chars(from, digits.data() + digits.size(), value, is_hexadecimal ? 16 : 10);
  if (error != std::errc() || stop != digits.data() + digits.size() || is_float) {
    in_.fail_at(ErrorKind::Syntax, offset, fmt::format("'{}' is no number of its type", digits));
    return {};
  }
  if (type.element == ElementType::Pred) return builder_.boolean(value != 0);
  return builder_.integer(static_cast<int64_t>(is_negative ? -value : value), id);
}

AttributeId TextReader::array_attribute() {
  in_.expect("[");
  std::vector<AttributeId> items;
  if (!in_.peek(']')) do
      items.push_back(attribute());
    while (in_.accept(','));
  in_.expect("]");
  return in_.failed() ? AttributeId{} : builder_.array(std::move(items));
}

// array<i64: 1, 2>
AttributeId TextReader::dense_array() {
  in_.expect("<");
  const TypeId element = type();
  std::string data;
  int64_t count = 0;
  if (in_.failed()) return {};
  const ElementType stored = builder_.program[element].element;
  const auto width = static_cast<size_t>(storage_bytes(stored));
  if (in_.accept(':')) do {
      int64_t bits = 0;
      if (stored == ElementType::Pred && in_.accept_word("true")) bits = 1;
      else if (stored == ElementType::Pred && in_.accept_word("false")) bits = 0;
      else if (stored == ElementType::F32)
        bits = std::bit_cast<int32_t>(std::strtof(std::string(in_.number()).c_str(), nullptr));
      else if (stored == ElementType::F64)
        bits = std::bit_cast<int64_t>(std::strtod(std::string(in_.number()).c_str(), nullptr));
      else bits = in_.integer();
      data.append(reinterpret_cast<const char*>(&bits), width);
      ++count;
    } while (in_.accept(','));
  in_.expect(">");
  Attribute out;
  if (in_.failed()) return {};
  out.kind = AttributeKind::Tensor;
  out.type = builder_.tensor(element, {count});
  if (width == 0 || is_complex(stored)) {
    in_.fail("an array of numbers has another element type");
    return {};
  }
  out.data = std::make_shared<const std::string>(std::move(data));
  return builder_.add(std::move(out));
}

AttributeId TextReader::symbol_attribute() {
  const AttributeId out = builder_.symbol(in_.symbol());
  while (in_.accept("::")) in_.symbol();
  return out;
}

// What it stands for may come later.
AttributeId TextReader::alias_attribute(std::string_view name) {
  const auto [found, is_new] = aliases_.try_emplace(name);
  if (is_new) {
    found->second.id = builder_.add({.kind = AttributeKind::Struct, .text = "loc.unknown"});
    found->second.offset = in_.offset();
  }
  return found->second.id;
}

Fields TextReader::dictionary() {
  Fields out;
  in_.expect("{");
  while (!in_.failed() && !in_.peek('}')) {
    std::string name = in_.peek('"') ? in_.string() : std::string(in_.word());
    if (name.empty()) in_.fail("expected the name of an attribute, found {}", in_.found());
    const AttributeId value =
        in_.accept('=') ? attribute() : builder_.add({.kind = AttributeKind::Unit});
    out.emplace_back(std::move(name), value);
    if (!in_.accept(',')) break;
  }
  in_.expect("}");
  sort_fields(out);
  for (size_t i = 1; i < out.size(); ++i)
    if (out[i].first == out[i - 1].first) in_.fail("a second attribute '{}'", out[i].first);
  return out;
}

AttributeId TextReader::optional_location() {
  return in_.peek_word() == "loc" ? location() : AttributeId{};
}

AttributeId TextReader::location() {
  in_.expect_word("loc");
  in_.expect("(");
  const AttributeId out = location_inside();
  in_.expect(")");
  return out;
}

AttributeId TextReader::location_inside() {
  const Nesting nesting(*this, max_depth);
  if (in_.failed()) return {};
  if (in_.peek('#')) return alias_attribute(in_.name('#'));
  if (in_.accept_word("unknown")) return builder_.structure("loc.unknown", {});
  if (in_.accept_word("callsite")) {
    in_.expect("(");
    const AttributeId callee = location_inside();
    in_.expect_word("at");
    const AttributeId caller = location_inside();
    in_.expect(")");
    return builder_.structure("loc.callsite", {{"callee", callee}, {"caller", caller}});
  }
  if (in_.accept_word("fused")) {
    if (in_.peek('<')) in_.balanced();
    in_.expect("[");
    std::vector<AttributeId> parts;
    do parts.push_back(location_inside());
    while (in_.accept(','));
    in_.expect("]");
    return builder_.structure("loc.fused", {{"locations", builder_.array(std::move(parts))}});
  }
  if (in_.peek_word() == "loc") return location();
  const AttributeId name = builder_.string(in_.string());
  if (in_.accept('(')) {
    const AttributeId child = location_inside();
    in_.expect(")");
    return builder_.structure("loc.name", {{"name", name}, {"child", child}});
  }
  if (!in_.accept(':'))
    return builder_.structure("loc.name",
                              {{"name", name}, {"child", builder_.structure("loc.unknown", {})}});
  const int64_t line = in_.integer();
  in_.expect(":");
  const int64_t column = in_.integer();
  int64_t end_line = line, end_column = column;
  if (in_.accept_word("to")) {
    if (!in_.peek(':')) end_line = in_.integer();
    in_.expect(":");
    end_column = in_.integer();
  }
  return make_file_location(builder_, name, line, column, end_line, end_column);
}

}  // namespace hilo::mlir
