// Integers, strings, names and shapes.
#include <array>
#include <charconv>

#include "text/print.h"

namespace hilo {

Printer& Printer::integer(int64_t value) {
  char digits[24];
  out_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  return *this;
}

namespace {

constexpr bool is_plain(unsigned char c) {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\'' && c != '\\';
}
constexpr auto plain = [] {
  std::array<bool, 256> table = {};
  for (int c = 0; c < 256; ++c) table[c] = is_plain(static_cast<unsigned char>(c));
  return table;
}();

void append_escaped(std::string& out, unsigned char c) {
  out += '\\';
  if (c == '\n') out += 'n';
  else if (c == '\r') out += 'r';
  else if (c == '\t') out += 't';
  else if (c >= 0x20 && c < 0x7f) out += static_cast<char>(c);
  else
    for (int shift : {6, 3, 0}) out += static_cast<char>('0' + ((c >> shift) & 7));
}

}  // namespace

Printer& Printer::quoted(std::string_view text) {
  out_ += '"';
  for (size_t start = 0; start < text.size();) {
    size_t stop = start;
    while (stop < text.size() && plain[static_cast<unsigned char>(text[stop])]) ++stop;
    out_.append(text, start, stop - start);
    if (stop < text.size()) append_escaped(out_, static_cast<unsigned char>(text[stop++]));
    start = stop;
  }
  out_ += '"';
  return *this;
}

Printer& Printer::name(std::string_view name) {
  if (style_.percent) out_ += '%';
  out_ += name;
  return *this;
}

Printer& Printer::shape(ShapeId id) {
  if (shapes_.size() <= id.value) shapes_.resize(module_->shapes.size());
  std::string& known = shapes_[id.value];
  if (known.empty()) append_text(known, module_->shapes[id], true);
  return text(known);
}

void Printer::index_comment(size_t i) {
  if (i > 0 && i % 5 == 0 && style_.index_comments)
    text("/*index=").integer(static_cast<int64_t>(i)).text("*/");
}

Printer& Printer::integers(const Dims& values) {
  return list(values, ",", [&](int64_t value) { integer(value); });
}

}  // namespace hilo
