// Values of constants: `1.5`, `{1, 2}`, `{ { 1, 2 }, { 3, 4 } }`, `(literal, literal)`, `(re, im)`,
// and `{...}`, an elided array, which `{1, 2, ...}` is, too. Commas are optional, as XLA reads
// them. Where an array should stand, XLA takes one value for its first element and zeros for the
// others.
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "text/parser.h"

namespace hilo {
namespace {

template <class T>
constexpr bool is_integral_type = std::is_integral_v<T>;
template <int Bits, bool Signed>
constexpr bool is_integral_type<SmallInt<Bits, Signed>> = true;

struct Number {
  enum class Kind : uint8_t { Integer, Real, Nan, Boolean } kind = Kind::Integer;
  bool negative = false;
  uint64_t magnitude = 0;  // Integer, Boolean; Nan: the payload
  double real = 0;         // Real
  bool has_payload = false;
};

bool read_payload(Lexer& lexer, Number& out) {
  const char* start = lexer.at++;  // '('
  if (lexer.at[0] == '0' && (lexer.at[1] == 'x' || lexer.at[1] == 'X')) lexer.at += 2;
  const auto [stop, error] = std::from_chars(lexer.at, lexer.end, out.magnitude, 16);
  if (error != std::errc() || *stop != ')') {
    lexer.at = start;
    return lexer.fail_expected("a NaN payload such as (0x1f)");
  }
  lexer.at = stop + 1;
  return out.has_payload = true;
}

bool read_word(Lexer& lexer, Number& out) {
  const char* start = lexer.at;
  if (*lexer.at == '-') out.negative = true, ++lexer.at;
  const std::string_view word = lexer.word_here();
  if (word == "inf") {
    out.kind = Number::Kind::Real;
    out.real = out.negative ? -INFINITY : INFINITY;
    return true;
  }
  if (word == "nan") {
    out.kind = Number::Kind::Nan;
    return *lexer.at != '(' || read_payload(lexer, out);
  }
  if (!out.negative && (word == "true" || word == "false")) {
    out.kind = Number::Kind::Boolean;
    out.magnitude = word == "true";
    return true;
  }
  lexer.at = start;
  return lexer.fail_expected("a value");
}

bool read_real(Lexer& lexer, const char* start, Number& out) {
  out.kind = Number::Kind::Real;
  const auto [stop, error] = std::from_chars(start, lexer.end, out.real);
  if (error == std::errc::result_out_of_range) {
    // Too small is zero; too large cannot be.
    double tiny = std::strtod(std::string(start, stop).c_str(), nullptr);
    if (std::isinf(tiny))
      return lexer.fail_at(
          start, ErrorKind::Limit,
          fmt::format("the number {} does not fit in a double",
                      std::string_view(start, std::min<size_t>(stop - start, 40))));
    out.real = tiny;
  }
  lexer.at = stop;
  return true;
}

bool read_number(Lexer& lexer, Number& out) {
  lexer.skip();
  const char* start = lexer.at;
  const char* p = start + (*start == '-');
  if (*p == '.' && is_digit(p[1])) return read_real(lexer, start, out);
  if (!is_digit(*p)) return read_word(lexer, out);
  uint64_t magnitude = 0;
  const char* digits = p;
  while (is_digit(*p)) magnitude = magnitude * 10 + static_cast<uint64_t>(*p++ - '0');
  if (*p == '.' || *p == 'e' || *p == 'E') return read_real(lexer, start, out);
  if (p - digits >= 19 &&
      std::from_chars(digits, p, magnitude).ec == std::errc::result_out_of_range)
    return read_real(lexer, start, out);
  out.kind = Number::Kind::Integer;
  out.negative = *start == '-';
  out.magnitude = magnitude;
  lexer.at = p;
  return true;
}

double real_of(const Number& number) {
  if (number.kind == Number::Kind::Real) return number.real;
  const double value = static_cast<double>(number.magnitude);
  return number.negative ? -value : value;
}

bool out_of_range(Lexer& lexer, const char* at, ElementType type) {
  size_t size = 1;
  while (size < 40 && is_class(at[size], WordChar)) ++size;
  return lexer.fail_at(at, ErrorKind::Limit,
                       fmt::format("the value {} is out of the range of {}",
                                   std::string_view(at, size), text_of(type)));
}

bool wrong_kind(Lexer& lexer, const char* at, std::string_view expected, ElementType type) {
  lexer.at = at;
  return lexer.fail_expected(fmt::format("{} for {}", expected, text_of(type)));
}

template <class T>
struct FloatLayout {  // where a type keeps the payload of a NaN; 0 bits: it has none
  static constexpr int mantissa_bits = 0;
};
template <int E, int M, int B>
struct FloatLayout<SmallFloat<E, M, B, Specials::Ieee>> {
  using Bits = uint8_t;
  static constexpr int mantissa_bits = M;
};
template <>
struct FloatLayout<BF16> {
  using Bits = uint16_t;
  static constexpr int mantissa_bits = 7;
};
template <>
struct FloatLayout<F16> {
  using Bits = uint16_t;
  static constexpr int mantissa_bits = 10;
};
template <>
struct FloatLayout<float> {
  using Bits = uint32_t;
  static constexpr int mantissa_bits = 23;
};
template <>
struct FloatLayout<double> {
  using Bits = uint64_t;
  static constexpr int mantissa_bits = 52;
};

template <class T>
bool store_nan(Lexer& lexer, const char* at, const Number& number, T& out) {
  if constexpr (FloatLayout<T>::mantissa_bits == 0) {
    out = T(std::copysign(std::nan(""), number.negative ? -1.0 : 1.0));
    if (number.has_payload)
      return lexer.fail_at(at, ErrorKind::Shape,
                           fmt::format("{} has no NaN payloads", text_of(element_type<T>)));
  } else {
    using Bits = typename FloatLayout<T>::Bits;
    constexpr int mantissa = FloatLayout<T>::mantissa_bits, all = 8 * sizeof(Bits);
    constexpr uint64_t limit = uint64_t{1} << mantissa;
    if (number.has_payload && (number.magnitude >= limit || number.magnitude == 0))
      return lexer.fail_at(at, ErrorKind::Limit,
                           fmt::format("the NaN payload 0x{:x} is not between 1 and 0x{:x}",
                                       number.magnitude, limit - 1));
    const uint64_t payload = number.has_payload ? number.magnitude : limit >> 1;
    const uint64_t exponent = ((uint64_t{1} << (all - 1)) - 1) & ~(limit - 1);
    const uint64_t sign = number.negative ? uint64_t{1} << (all - 1) : 0;
    out = std::bit_cast<T>(static_cast<Bits>(sign | exponent | payload));
  }
  return true;
}

template <class T>
bool store_float(Lexer& lexer, const char* at, const Number& number, T& out) {
  if (number.kind == Number::Kind::Boolean)
    return wrong_kind(lexer, at, "a number", element_type<T>);
  if (number.kind == Number::Kind::Nan) return store_nan(lexer, at, number, out);
  const double value = real_of(number);
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, float>) out = static_cast<T>(value);
  else out = T(value);
  if constexpr (std::is_same_v<T, F8E8M0FNU>) {
    if (!(value > 0)) return out_of_range(lexer, at, element_type<T>);
  }
  if (std::isfinite(value) && !std::isfinite(static_cast<double>(out)))
    return out_of_range(lexer, at, element_type<T>);
  return true;
}

template <class T>
bool store_integer(Lexer& lexer, const char* at, const Number& number, T& out) {
  constexpr ElementType type = element_type<T>;
  if (number.kind != Number::Kind::Integer) return wrong_kind(lexer, at, "an integer", type);
  const int bits = bits_of(type);
  uint64_t limit;  // of the magnitude
  if (is_unsigned(type)) limit = number.negative ? 0 : ~uint64_t{0} >> (64 - bits);
  else limit = (uint64_t{1} << (bits - 1)) - (number.negative ? 0 : 1);
  const uint64_t bits_of_value = number.negative ? -number.magnitude : number.magnitude;
  out = static_cast<T>(static_cast<int64_t>(bits_of_value));
  if (number.magnitude <= limit) return true;
  const bool wraps = bits == 64 && (!number.negative || number.magnitude <= uint64_t{1} << 63);
  if (!wraps) return out_of_range(lexer, at, type);
  return lexer.doubt(
      at, fmt::format("the value is out of the range of {}; as XLA does, it is read "
                      "modulo 2^64, as {}",
                      text_of(type),
                      is_unsigned(type) ? fmt::format("{}", bits_of_value)
                                        : fmt::format("{}", static_cast<int64_t>(bits_of_value))));
}

template <class T>
bool store(Lexer& lexer, const char* at, const Number& number, T& out) {
  if constexpr (std::is_same_v<T, bool>) {
    if (number.kind != Number::Kind::Integer && number.kind != Number::Kind::Boolean)
      return wrong_kind(lexer, at, "true, false or an integer", ElementType::Pred);
    return out = number.magnitude != 0, true;
  } else if constexpr (is_integral_type<T>) {
    return store_integer(lexer, at, number, out);
  } else {
    return store_float(lexer, at, number, out);
  }
}

template <class T>
bool parse_element(Lexer& lexer, T& out) {
  Number number;
  const char* start = (lexer.skip(), lexer.at);
  return read_number(lexer, number) && store(lexer, start, number, out);
}
template <class T>
bool parse_element(Lexer& lexer, std::complex<T>& out) {
  T real, imaginary;
  if (!lexer.expect('(', "before a complex value") || !parse_element(lexer, real) ||
      !lexer.expect(',', "in a complex value") || !parse_element(lexer, imaginary) ||
      !lexer.expect(')', "after a complex value"))
    return false;
  return out = {real, imaginary}, true;
}

bool wrong_count(Lexer& lexer, size_t level, int64_t expected, int64_t found, bool more) {
  return lexer.fail(ErrorKind::Shape,
                    fmt::format("expected {} elements at level {} of the literal, found {}{}",
                                expected, level + 1, more ? "more than " : "", found));
}

// The values of a row: count of them, then '}'.
template <class T>
bool parse_row(Lexer& lexer, T* out, int64_t count, size_t level) {
  for (int64_t i = 0;; ++i) {
    while (lexer.accept(',')) {
    }
    if (*lexer.at == '}') {
      if (i != count) return wrong_count(lexer, level, count, i, false);
      ++lexer.at;
      return true;
    }
    if (i == count) return wrong_count(lexer, level, count, count, true);
    if (!parse_element(lexer, out[i])) return false;
  }
}

template <class T>
bool parse_dense(Lexer& lexer, const Dims& dims, T* out) {
  const size_t rank = dims.size();
  if (rank == 0) return parse_element(lexer, *out);
  Dims counts(rank);  // elements seen in the open braces
  for (size_t level = 0;;) {
    if (level == rank - 1) {
      if (!lexer.expect('{', "before a row of the literal")) return false;
      if (!parse_row(lexer, out, dims[level], level)) return false;
      out += dims[level];
    } else if (counts[level] == 0 && !lexer.expect('{', "before the elements of the literal")) {
      return false;
    } else {
      while (lexer.accept(',')) {
      }
      if (*lexer.at != '}' && counts[level] == dims[level])
        return wrong_count(lexer, level, dims[level], dims[level], true);
      if (*lexer.at != '}') {
        counts[++level] = 0;
        continue;
      }
      if (counts[level] != dims[level])
        return wrong_count(lexer, level, dims[level], counts[level], false);
      ++lexer.at;
    }
    if (level == 0) return true;
    ++counts[--level];
  }
}

// XLA's filling of an elided array: the 32-bit words 0, 1, 2, ..., for pred only their low bits.
void fill_elided(Literal& literal) {
  const std::span<std::byte> bytes = literal.mutable_raw();
  const uint32_t mask = literal.type() == ElementType::Pred ? 0x01010101u : ~0u;
  for (size_t i = 0; i * 4 < bytes.size(); ++i) {
    const uint32_t word = static_cast<uint32_t>(i) & mask;
    std::memcpy(bytes.data() + i * 4, &word, std::min<size_t>(4, bytes.size() - i * 4));
  }
  // Types narrower than a byte keep their invariant: extended in place.
  if (bits_of(literal.type()) < 8 && literal.type() != ElementType::Pred)
    visit_storage(literal.type(), [&]<class T>(std::type_identity<T>) {
      if constexpr (is_integral_type<T>)
        for (T& value : literal.mutable_data<T>()) value = T(static_cast<int64_t>(value));
      else
        for (std::byte& byte : bytes) byte &= std::byte((1 << bits_of(literal.type())) - 1);
    });
}

bool accept_elided(Lexer& lexer) {
  const char* start = (lexer.skip(), lexer.at);
  if (lexer.accept('{') && lexer.accept(std::string_view("...")) && lexer.accept('}')) return true;
  lexer.at = start;
  return false;
}

bool take_bytes(Lexer& lexer, const Shape& shape, int64_t& bytes_left) {
  const int64_t bytes = hilo::literal_bytes(shape);
  if (bytes > bytes_left)
    return lexer.fail(ErrorKind::Limit,
                      fmt::format("the constants of this module take more bytes than are allowed: "
                                  "{} has {}",
                                  to_string_without_layout(shape), bytes));
  bytes_left -= bytes;
  return true;
}

// One value where an array of real numbers or pred should stand.
bool parse_single_value(Lexer& lexer, const Shape& shape, Literal& out) {
  const char* start = lexer.at;
  out = Literal::zeros(shape);
  const bool read = visit_storage(shape.type, [&]<class T>(std::type_identity<T>) {
    return parse_element(lexer, out.mutable_data<T>()[0]);
  });
  if (!read || element_count(shape) == 1) return read;
  return lexer.doubt(
      start, fmt::format("one value for {}: as XLA does, it is read as the first element, and the "
                         "others are 0; a broadcast is an array of equal values",
                         to_string_without_layout(shape)));
}

// After an array at `start` could not be read: whether it is because "..." stands among its
// elements, which elides all of it. Then reading goes on behind it.
bool accept_partly_elided(Lexer& lexer, const char* start) {
  const auto failure = std::exchange(lexer.failure, std::nullopt);
  lexer.at = start;
  std::string_view group;
  if (lexer.balanced(group) && group.contains("...")) return true;
  lexer.failure = failure;
  lexer.at = start;
  return false;
}

bool parse_array(Lexer& lexer, const Shape& shape, int64_t& bytes_left, bool& elided,
                 Literal& out) {
  for (int64_t dim : shape.dims)
    if (dim == Shape::unbounded)
      return lexer.fail(ErrorKind::Shape, fmt::format("a literal cannot have the shape {}",
                                                      to_string_without_layout(shape)));
  bool now_elided = !shape.dims.empty() && accept_elided(lexer);
  const char* start = (lexer.skip(), lexer.at);
  const bool is_single = !shape.dims.empty() && !now_elided && *start != '{' &&
                         !is_complex(shape.type) && element_count(shape) > 0;
  // An element takes two characters at least; so nothing large is allocated for a short text.
  if (!now_elided && !is_single && element_count(shape) > lexer.end - lexer.at) {
    now_elided = accept_partly_elided(lexer, start);
    if (!now_elided)
      return lexer.fail(ErrorKind::Shape, fmt::format("the literal is too short for {}",
                                                      to_string_without_layout(shape)));
  }
  if (!take_bytes(lexer, shape, bytes_left)) return false;
  if (is_single) return parse_single_value(lexer, shape, out);
  out = Literal::uninitialized(shape);
  const auto read = [&]<class T>(std::type_identity<T>) {
    return parse_dense(lexer, shape.dims, out.mutable_data<T>().data());
  };
  if (!now_elided && visit_storage(shape.type, read)) return true;
  if (!now_elided && !accept_partly_elided(lexer, start)) return false;
  return elided = true, fill_elided(out), true;
}

bool elide_tuple(Lexer& lexer, const Shape& shape, int64_t& bytes_left, Literal& out) {
  if (!take_bytes(lexer, shape, bytes_left)) return false;
  const auto fill = [](auto& self, Literal& literal) -> void {
    if (literal.shape().is_array()) fill_elided(literal);
    for (Literal& element : literal.mutable_elements()) self(self, element);
  };
  out = Literal::uninitialized(shape);
  fill(fill, out);
  return true;
}

// Recursion is as deep as the shape, whose depth parse_shape limits.
bool parse_any(Lexer& lexer, const Shape& shape, int64_t& bytes_left, bool& elided, Literal& out) {
  if (shape.is_array()) return parse_array(lexer, shape, bytes_left, elided, out);
  if (!shape.is_tuple())
    return lexer.fail(ErrorKind::Shape,
                      fmt::format("{} has no literals", to_string_without_layout(shape)));
  if (accept_elided(lexer)) return elided = true, elide_tuple(lexer, shape, bytes_left, out);
  if (!lexer.expect('(', "before the elements of a tuple")) return false;
  std::vector<Literal> elements(shape.elements.size());
  for (size_t i = 0; i < elements.size(); ++i) {
    if (i > 0 && !lexer.accept(',') && lexer.peek(')'))
      return lexer.fail_expected(',', "between the elements of a tuple");
    if (!parse_any(lexer, shape.elements[i], bytes_left, elided, elements[i])) return false;
  }
  out = Literal::tuple(std::move(elements));
  return lexer.expect(')', "after the elements of a tuple");
}

}  // namespace

bool parse_literal(Lexer& lexer, const Shape& shape, int64_t& bytes_left, LiteralRef& out) {
  Literal literal;
  if (!parse_any(lexer, shape, bytes_left, out.elided, literal)) return false;
  out.literal = std::make_shared<const Literal>(std::move(literal));
  return true;
}

}  // namespace hilo
