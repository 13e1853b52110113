// Dense elements of MLIR's text. The type follows the values, so that their end is looked for
// first.
#include <complex>

#include "wire/stablehlo/dense_elements.h"
#include "wire/stablehlo/mlir_text_reader.h"

namespace hilo::mlir {
namespace {

struct Span {
  const char* at;
  const char* end;
  char peek() const { return at < end ? *at : '\0'; }
  void skip() {
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')) ++at;
  }
  bool accept(std::string_view word) {
    if (!std::string_view(at, static_cast<size_t>(end - at)).starts_with(word)) return false;
    at += word.size();
    return true;
  }
};

template <class T>
constexpr bool is_float_storage =
    std::is_floating_point_v<T> || requires(T value) { T::from_bits(value.bits); };

template <class T>
bool read_float(Span& in, T& out) {
  if (in.accept("0x")) {
    uint64_t bits = 0;
    const auto [stop, error] = std::from_chars(in.at, in.end, bits, 16);
    in.at = stop;
    std::memcpy(static_cast<void*>(&out), &bits, sizeof(T));
    return error == std::errc();
  }
  double value = 0;
  const auto [stop, error] = std::from_chars(in.at, in.end, value);
  if (error == std::errc::result_out_of_range)
    value = std::strtod(std::string(in.at, stop).c_str(), nullptr);
  else if (error != std::errc()) return false;
  in.at = stop;
  out = T(value);
  return true;
}

template <class T>
bool read_integer(Span& in, T& out) {
  const bool is_negative = in.accept("-");
  const int base = in.accept("0x") ? 16 : 10;
  uint64_t value = 0;
  const auto [stop, error] = std::from_chars(in.at, in.end, value, base);
  if (error != std::errc()) return false;
  in.at = stop;
  out = T(static_cast<int64_t>(is_negative ? -value : value));
  return true;
}

template <class T>
bool read_element(Span& in, T& out) {
  if constexpr (std::is_same_v<T, bool>) {
    if (in.accept("true")) return out = true, true;
    if (in.accept("false")) return out = false, true;
    int64_t value = 0;
    if (!read_integer(in, value)) return false;
    return out = value != 0, true;
  } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                       std::is_same_v<T, std::complex<double>>) {
    typename T::value_type real = 0, imaginary = 0;
    if (!in.accept("(") || (in.skip(), !read_float(in, real))) return false;
    in.skip();
    if (!in.accept(",") || (in.skip(), !read_float(in, imaginary))) return false;
    in.skip();
    out = T(real, imaginary);
    return in.accept(")");
  } else if constexpr (is_float_storage<T>) {
    return read_float(in, out);
  } else {
    return read_integer(in, out);
  }
}

// Nested lists, each as long as its dimension, or one element for all.
template <class T>
std::string read_elements(Span& in, const Dims& dims, std::string& data) {
  const size_t rank = dims.size();
  std::vector<int64_t> counts(rank + 1, 0);
  size_t depth = 0;
  bool wants_value = true;
  for (in.skip(); in.at < in.end; in.skip()) {
    const char c = *in.at;
    if (c == ',') {
      if (wants_value || depth == 0) return "a ',' without an element before it";
      wants_value = true;
      ++in.at;
    } else if (c == '[') {
      if (!wants_value || depth >= rank) return "more brackets than dimensions";
      counts[++depth] = 0;
      ++in.at;
    } else if (c == ']') {
      if (depth == 0 || (wants_value && counts[depth] != 0)) return "a ']' too many";
      if (counts[depth] != dims[depth - 1])
        return fmt::format("{} elements in a dimension of {}", counts[depth], dims[depth - 1]);
      ++counts[--depth];
      wants_value = false;
      ++in.at;
    } else {
      T value{};
      if (!wants_value || (depth != rank && depth != 0) || !read_element(in, value))
        return "no element of the type";
      data.append(reinterpret_cast<const char*>(&value), sizeof(T));
      ++counts[depth];
      wants_value = false;
    }
  }
  return depth != 0 || wants_value || counts[0] != 1 ? "a list that does not end" : "";
}

constexpr int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

std::optional<std::string> bytes_of_hexadecimal(std::string_view text) {
  static constexpr auto table = [] {
    std::array<int8_t, 256> out{};
    for (int c = 0; c < 256; ++c)
      out[static_cast<size_t>(c)] = static_cast<int8_t>(digit_of(static_cast<char>(c)));
    return out;
  }();
  if (!text.starts_with("0x") || text.size() % 2 != 0) return {};
  std::string out(text.size() / 2 - 1, '\0');
  int wrong = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    const int high = table[static_cast<uint8_t>(text[2 * i + 2])],
              low = table[static_cast<uint8_t>(text[2 * i + 3])];
    wrong |= high | low;
    out[i] = static_cast<char>((high << 4) | low);
  }
  if (wrong < 0) return {};
  return out;
}

AttributeId TextReader::dense() {
  in_.expect("<");
  in_.skip();
  const size_t start = in_.offset();
  const bool is_hexadecimal = in_.peek('"');
  std::string_view raw;
  size_t end = start;
  if (is_hexadecimal) {
    raw = in_.quoted();
  } else {
    end = std::min(in_.text().find('>', start), in_.text().size());
    in_.go_to(end);
  }
  in_.expect(">");
  in_.expect(":");
  const TypeId id = type();
  if (in_.failed()) return {};
  Attribute out;
  if (is_hexadecimal) {
    const auto bytes = bytes_of_hexadecimal(raw);
    const std::string fault = bytes ? set_elements(builder_, id, *bytes, out)
                                    : "expected bytes as \"0x…\" with two digits each";
    if (!fault.empty()) in_.fail_at(ErrorKind::Syntax, start, fault);
  } else {
    const std::string fault = dense_values(id, in_.text().substr(start, end - start), out);
    if (!fault.empty()) in_.fail_at(ErrorKind::Syntax, start, fault);
  }
  return in_.failed() ? AttributeId{} : builder_.add(std::move(out));
}

std::string TextReader::dense_values(TypeId id, std::string_view text, Attribute& out) {
  const Type& type = builder_.program[id];
  if (type.kind != TypeKind::Tensor || element_bytes(builder_.program, type) == 0)
    return "dense elements of a type that has none";
  for (const int64_t dim : type.dims)
    if (dim < 0) return "dense elements of dynamic dimensions";
  const Type& element = builder_.program[type.element_type];
  const ElementType stored = element.kind == TypeKind::Index ? ElementType::S64 : element.element;
  const int64_t count = element_count(type);
  Span in{text.data(), text.data() + text.size()};
  in.skip();
  std::string data;
  if (in.at == in.end && count != 0) return fmt::format("no elements for {}", count);
  if (in.at != in.end) {
    const bool is_list = *in.at == '[';
    const std::string fault = visit_storage(stored, [&]<class T>(std::type_identity<T>) {
      return read_elements<T>(in, type.dims, data);
    });
    if (!fault.empty())
      return fmt::format(
          "{} at '{}'", fault,
          std::string(in.at, std::min<size_t>(static_cast<size_t>(in.end - in.at), 12)));
    out.is_splat = !is_list && count > 1;
    if (count == 0) data.clear();
  }
  out.kind = AttributeKind::Tensor;
  out.type = id;
  out.data = std::make_shared<const std::string>(std::move(data));
  return "";
}

}  // namespace hilo::mlir
