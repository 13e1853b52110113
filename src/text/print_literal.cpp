// Literals: every float prints so that reading it gives the same bits; f32 and f64 with as few as 6
// and 15 digits where those suffice, else with the digits that always do. Form: docs/hlo-text.md.
#include <charconv>
#include <cmath>

#include "text/print.h"

namespace hilo {
namespace {

void append_chars(std::string& out, const char* start, std::to_chars_result end) {
  out.append(start, end.ptr - start);
}

void append_integer(std::string& out, int64_t value) {
  char digits[24];
  append_chars(out, digits, std::to_chars(digits, digits + sizeof digits, value));
}

// `mantissa` is the mantissa field of a NaN, of `width` bits; width 0: the type has one NaN.
void append_nan(std::string& out, bool negative, uint64_t mantissa, int width) {
  out += negative ? "-nan" : "nan";
  if (width == 0 || mantissa == uint64_t{1} << (width - 1)) return;
  char digits[24];
  out += "(0x";
  append_chars(out, digits, std::to_chars(digits, digits + sizeof digits, mantissa, 16));
  out += ')';
}

// `digits` significant digits as %g prints them; not a NaN.
template <class T>
void append_general(std::string& out, T value, int digits) {
  char text[40];
  append_chars(out, text,
               std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits));
}

// T is float or double.
template <class T>
void append_round_trip(std::string& out, T value, int few, int enough) {
  if (std::isinf(value)) return void(out += value < 0 ? "-inf" : "inf");
  if (std::abs(value) < 1e6 && value == std::trunc(value) && !(value == 0 && std::signbit(value)))
    return append_integer(out, static_cast<int64_t>(value));
  char text[40];
  const auto short_form =
      std::to_chars(text, text + sizeof text, value, std::chars_format::general, few);
  T back = 0;
  const auto read = std::from_chars(text, short_form.ptr, back);
  if (read.ec == std::errc() && back == value) return append_chars(out, text, short_form);
  append_general(out, value, enough);
}

constexpr int digits_for(int significand_bits) { return 2 + significand_bits * 30103 / 100000; }

void append_value(std::string& out, float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (value != value) return append_nan(out, bits >> 31, bits & 0x7fffff, 23);
  append_round_trip(out, value, 6, 9);
}
void append_value(std::string& out, double value) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  if (value != value) return append_nan(out, bits >> 63, bits & 0xfffffffffffff, 52);
  append_round_trip(out, value, 15, 17);
}
void append_value(std::string& out, F16 value) {
  const float wide = value;
  if (wide != wide) return append_nan(out, value.bits >> 15, value.bits & 0x3ff, 10);
  append_general(out, wide, digits_for(11));
}
void append_value(std::string& out, BF16 value) {
  const float wide = value;
  if (wide != wide) return append_nan(out, value.bits >> 15, value.bits & 0x7f, 7);
  append_general(out, wide, digits_for(8));
}
void append_value(std::string& out, F8E8M0FNU value) {
  if (value.bits == 0xff) return append_nan(out, false, 0, 0);
  // Reading rounds what is between the two smallest up, so the smallest needs more digits.
  append_general(out, static_cast<float>(value), value.bits == 0 ? 9 : digits_for(1));
}
template <int Exponent, int Mantissa, int Bias, Specials S>
void append_value(std::string& out, SmallFloat<Exponent, Mantissa, Bias, S> value) {
  const float wide = value;
  if (wide != wide)
    return append_nan(out, value.bits >> (Exponent + Mantissa) & 1,
                      value.bits & ((1 << Mantissa) - 1), S == Specials::Ieee ? Mantissa : 0);
  append_general(out, wide, digits_for(Mantissa + 1));
}
template <class T>
void append_value(std::string& out, std::complex<T> value) {
  out += '(';
  append_value(out, value.real());
  out += ", ";
  append_value(out, value.imag());
  out += ')';
}
void append_value(std::string& out, uint64_t value) {
  char digits[24];
  append_chars(out, digits, std::to_chars(digits, digits + sizeof digits, value));
}
void append_value(std::string& out, bool value) { out += value ? '1' : '0'; }
template <class T>
  requires(std::is_integral_v<T> || requires(T value) { value.value; })
void append_value(std::string& out, T value) {
  append_integer(out, static_cast<int64_t>(value));
}

using AppendElement = void (*)(std::string& out, const void* elements, int64_t position);
template <class T>
void append_element(std::string& out, const void* elements, int64_t position) {
  append_value(out, static_cast<const T*>(elements)[position]);
}

class ArrayPrinter {
 public:
  ArrayPrinter(const Literal& literal, std::string& out)
      : literal_(literal), out_(out), strides_(row_major_strides(literal.shape().dims)) {
    append_ = visit_storage(literal.type(), []<class T>(std::type_identity<T>) -> AppendElement {
      return append_element<T>;
    });
    elements_ = literal.raw().data();
  }

  void print() {
    if (literal_.shape().rank() > 0) return level(0, 0);
    if (literal_.type() != ElementType::Pred) return append_(out_, elements_, 0);
    out_ += literal_.data<bool>()[0] ? "true" : "false";
  }

 private:
  size_t rank() const { return strides_.size(); }

  // A row stands without spaces alone, and with them in a larger array when it has more than one.
  void row(int64_t position) {
    const int64_t count = literal_.size(rank() - 1);
    const bool spaces = rank() > 1 && count > 1;
    out_ += spaces ? "{ " : "{";
    for (int64_t i = 0; i < count; ++i) {
      if (i > 0) out_ += ", ";
      append_(out_, elements_, position + i);
    }
    out_ += spaces ? " }" : "}";
  }

  // Recursion is as deep as the rank.
  void level(size_t dim, int64_t position) {
    if (dim + 1 == rank()) return row(position);
    const int64_t count = literal_.size(dim);
    if (dim == 0) out_ += "{ ";
    for (int64_t i = 0; i < count; ++i) {
      if (i > 0) out_ += ", ";
      const bool outer = dim + 2 < rank();
      if (outer) open(dim, i);
      level(dim + 1, position + i * strides_[dim]);
      if (outer) out_ += " }";
    }
    if (dim == 0) out_ += " }";
  }

  void open(size_t dim, int64_t i) {
    out_ += "{ ";
    if (rank() <= 3) return;
    out_ += "/*i";
    append_integer(out_, static_cast<int64_t>(dim));
    out_ += '=';
    append_integer(out_, i);
    out_ += "*/ ";
  }

  const Literal& literal_;
  std::string& out_;
  Dims strides_;
  AppendElement append_;
  const void* elements_;
};

}  // namespace

// Recursion is as deep as the shape.
void Printer::literal(const Literal& literal) {
  if (literal.shape().is_array()) return ArrayPrinter(literal, out_).print();
  if (!literal.shape().is_tuple()) return void(text(text_of(literal.type())));
  const auto element = [&](const Literal& element) { this->literal(element); };
  text("( ").list(literal.elements(), ", ", element);
  text(" )");
}

std::string print(const Literal& literal) {
  std::string out;
  const PrintStyle style;
  Printer(nullptr, style, out).literal(literal);
  return out;
}

}  // namespace hilo
