// Attributes as MLIR prints them, read back from where HLO keeps them as text: {a = 1 : i64,
// b = "text", c = [1 : i32, true], d = array<i64: 1, 2>, e}.
#include <cstdlib>
#include <utility>

#include "wire/stablehlo/exporter.h"
#include "wire/text_scanner.h"

namespace hilo::mlir {
namespace {

constexpr int deepest = 64;

class Parser {
 public:
  Parser(Builder& builder, std::string_view text) : builder_(builder), in_(text) {}
  std::optional<AttributeId> whole() {
    const auto out = dictionary(0);
    return out && in_.at_end() ? out : std::nullopt;
  }

 private:
  std::optional<AttributeId> dictionary(int depth);
  std::optional<AttributeId> list(int depth);
  std::optional<AttributeId> value(int depth);
  std::optional<AttributeId> number();
  std::optional<AttributeId> array();
  std::optional<AttributeId> dense();
  std::optional<TypeId> type();
  static std::string unescaped(std::string_view quoted);

  Builder& builder_;
  TextScanner in_;
};

void append_element(std::string& data, ElementType type, const std::string& word) {
  visit_storage(type, [&]<class T>(std::type_identity<T>) {
    T value;
    if constexpr (std::is_same_v<T, bool>) value = word == "true";
    else if constexpr (std::is_same_v<T, uint64_t>)
      value = std::strtoull(word.c_str(), nullptr, 10);
    else if constexpr (std::is_integral_v<T>)
      value = static_cast<T>(std::strtoll(word.c_str(), nullptr, 10));
    else if constexpr (std::is_same_v<T, double>) value = std::strtod(word.c_str(), nullptr);
    else value = static_cast<T>(std::strtof(word.c_str(), nullptr));
    data.append(reinterpret_cast<const char*>(&value), sizeof(T));
  });
}

std::optional<int> hexadecimal(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return {};
}

std::string Parser::unescaped(std::string_view quoted) {
  std::string out;
  for (size_t i = 0; i < quoted.size(); ++i) {
    if (quoted[i] != '\\' || i + 1 >= quoted.size()) {
      out += quoted[i];
      continue;
    }
    const char next = quoted[++i];
    const auto high = hexadecimal(next);
    const auto low = i + 1 < quoted.size() ? hexadecimal(quoted[i + 1]) : std::nullopt;
    if (next == 'n') out += '\n';
    else if (next == 't') out += '\t';
    else if (high && low) out += static_cast<char>(*high * 16 + *low), ++i;
    else out += next;
  }
  return out;
}

std::optional<TypeId> Parser::type() {
  std::string_view word = in_.word();
  if (word == "index") return builder_.intern({.kind = TypeKind::Index});
  if (word == "i1") return builder_.scalar(ElementType::Pred);
  std::string name(word);
  if (name.starts_with("si")) name.erase(1, 1);
  else if (name.starts_with("ui")) name.erase(1, 1);
  else if (name.starts_with('i')) name[0] = 's';
  const auto element = element_type_of(name);
  if (!element || !is_array(*element) || is_complex(*element)) return {};
  return builder_.scalar(*element);
}

// 3 : i64, -1.0e+00 : f32, 0x7FC00000 : f32, -1 : index; true and false.
std::optional<AttributeId> Parser::number() {
  const std::string word(in_.word());
  if (word == "true" || word == "false") return builder_.boolean(word == "true");
  if (word.empty()) return {};
  const bool is_float_text =
      word.find_first_of(".eE") != std::string::npos && !word.starts_with("0x");
  TypeId of = builder_.scalar(is_float_text ? ElementType::F64 : ElementType::S64);
  if (in_.accept(':')) {
    const auto stated = type();
    if (!stated) return {};
    of = *stated;
  }
  char* end = nullptr;
  const Type& found = builder_.program[of];
  if (found.kind == TypeKind::Scalar && is_floating(found.element)) {
    const double number = std::strtod(word.c_str(), &end);
    if (*end != '\0' || word.starts_with("0x")) return {};
    return builder_.number(number, of);
  }
  const bool is_negative = word[0] == '-';
  const int64_t integer = is_negative ? std::strtoll(word.c_str(), &end, 10)
                                      : static_cast<int64_t>(std::strtoull(word.c_str(), &end, 10));
  if (*end != '\0') return {};
  return builder_.integer(integer, of);
}

// array<i64: 1, 2>: dense elements of one dimension.
std::optional<AttributeId> Parser::array() {
  if (!in_.accept('<')) return {};
  std::string head(in_.word());
  const bool has_values = head.ends_with(':');
  if (has_values) head.pop_back();
  if (head != "i64") return {};
  Dims values;
  while (has_values && !in_.peek('>')) {
    int64_t value = 0;
    if (!in_.number(value)) return {};
    values.push_back(value);
    if (!in_.accept(',')) break;
  }
  if (!in_.accept('>')) return {};
  return builder_.numbers(std::move(values));
}

// dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>; one element stands for all.
std::optional<AttributeId> Parser::dense() {
  std::vector<std::string> words;
  if (!in_.accept('<')) return {};
  while (!in_.accept('>')) {
    if (in_.accept('[') || in_.accept(']') || in_.accept(',')) continue;
    const std::string_view word = in_.word();
    if (word.empty()) return {};
    words.emplace_back(word);
  }
  if (!in_.accept(':') || !in_.accept("tensor") || !in_.accept('<')) return {};
  std::string name(in_.word());
  Dims dims;
  for (size_t mark; (mark = name.find('x')) != std::string::npos; name.erase(0, mark + 1))
    dims.push_back(std::strtoll(name.c_str(), nullptr, 10));
  if (!in_.accept('>')) return {};
  TextScanner rest = std::exchange(in_, TextScanner(name));
  const auto of = type();
  in_ = rest;
  if (!of || builder_.program[*of].kind != TypeKind::Scalar) return {};
  const ElementType element = builder_.program[*of].element;
  std::string data;
  for (const std::string& word : words) append_element(data, element, word);
  Attribute out{.kind = AttributeKind::Tensor};
  out.type = builder_.tensor(*of, dims);
  const int64_t count = hilo::element_count(dims);
  out.is_splat = words.size() == 1 && count > 1;
  if (!out.is_splat && std::ssize(words) != count) return {};
  out.data = std::make_shared<const std::string>(std::move(data));
  return builder_.add(std::move(out));
}

std::optional<AttributeId> Parser::list(int depth) {
  std::vector<AttributeId> items;
  if (!in_.accept('[')) return {};
  while (!in_.accept(']')) {
    if (!items.empty() && !in_.accept(',')) return {};
    const auto item = value(depth + 1);
    if (!item) return {};
    items.push_back(*item);
  }
  return builder_.array(std::move(items));
}

std::optional<AttributeId> Parser::value(int depth) {
  if (depth > deepest) return {};
  std::string_view quoted;
  if (in_.peek('"')) {
    if (!in_.string(quoted)) return {};
    return builder_.string(unescaped(quoted));
  }
  if (in_.peek('{')) return dictionary(depth);
  if (in_.peek('[')) return list(depth);
  if (in_.accept('@')) return builder_.symbol(in_.word());
  if (in_.accept("array")) return array();
  if (in_.accept("dense")) return dense();
  if (in_.accept("unit")) return builder_.add({.kind = AttributeKind::Unit});
  return number();
}

std::optional<AttributeId> Parser::dictionary(int depth) {
  Fields fields;
  if (!in_.accept('{')) return {};
  while (!in_.accept('}')) {
    if (!fields.empty() && !in_.accept(',')) return {};
    std::string_view name;
    if (in_.peek('"')) {
      if (!in_.string(name)) return {};
    } else {
      name = in_.word();
    }
    if (name.empty()) return {};
    std::string key = unescaped(name);
    if (!in_.accept('=')) {
      fields.emplace_back(std::move(key), builder_.add({.kind = AttributeKind::Unit}));
      continue;
    }
    const auto field = value(depth + 1);
    if (!field) return {};
    fields.emplace_back(std::move(key), *field);
  }
  sort_fields(fields);
  return builder_.dictionary(std::move(fields));
}

}  // namespace

std::optional<AttributeId> parse_dictionary(Builder& builder, std::string_view text) {
  return Parser(builder, text).whole();
}

}  // namespace hilo::mlir
