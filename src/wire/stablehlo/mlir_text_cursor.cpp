#include "wire/stablehlo/mlir_text_cursor.h"

#include <algorithm>

namespace hilo::mlir {
namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace

std::string TextCursor::string() {
  const std::string_view raw = quoted();
  if (raw.find('\\') == std::string_view::npos) return std::string(raw);
  std::string out;
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || i + 1 >= raw.size()) {
      out.push_back(raw[i]);
      continue;
    }
    const char c = raw[++i];
    const int high = digit_of(c), low = i + 1 < raw.size() ? digit_of(raw[i + 1]) : -1;
    if (high >= 0 && low >= 0) {
      out.push_back(static_cast<char>(high * 16 + low));
      ++i;
    } else {
      out.push_back(c == 'n' ? '\n' : c == 't' ? '\t' : c);
    }
  }
  return out;
}

std::string_view TextCursor::balanced() {
  skip();
  const size_t start = at_;
  std::string open;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') {
      quoted();
      continue;
    }
    ++at_;
    if (c == '-' && at_ < text_.size() && text_[at_] == '>') {
      ++at_;
      continue;
    }
    constexpr std::string_view openers = "<([{", closers = ">)]}";
    if (const size_t kind = openers.find(c); kind != std::string_view::npos) {
      open.push_back(closers[kind]);
    } else if (closers.find(c) != std::string_view::npos) {
      if (open.empty() || open.back() != c) break;
      open.pop_back();
      if (open.empty()) return text_.substr(start, at_ - start);
    }
  }
  fail_at(ErrorKind::Syntax, start, "brackets that are not closed");
  return {};
}

}  // namespace hilo::mlir
