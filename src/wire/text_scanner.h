// A cursor over an attribute kept as text.
#pragma once

#include <charconv>
#include <string_view>

namespace hilo {

class TextScanner {
 public:
  explicit TextScanner(std::string_view text) : text_(text) {}
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
  }
  bool at_end() { return skip(), at_ >= text_.size(); }
  bool peek(char wanted) { return skip(), at_ < text_.size() && text_[at_] == wanted; }
  bool accept(char wanted) {
    if (!peek(wanted)) return false;
    ++at_;
    return true;
  }
  bool accept(std::string_view wanted) {
    skip();
    if (!text_.substr(at_).starts_with(wanted)) return false;
    at_ += wanted.size();
    return true;
  }
  // Letters, digits, '_', '.', '-', '+', ':'; may be empty.
  std::string_view word() {
    skip();
    const size_t start = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }
  template <class Number>
  bool number(Number& out) {
    const std::string_view digits = word();
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    return error == std::errc() && end == digits.data() + digits.size() && !digits.empty();
  }
  // What stands between quotes, escapes untouched.
  bool string(std::string_view& inside) {
    if (!accept('"')) return false;
    const size_t start = at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ >= text_.size()) return false;
    inside = text_.substr(start, at_++ - start);
    return true;
  }
  // A balanced {...}, braces included; braces in strings do not count.
  bool braced(std::string_view& whole) {
    if (!peek('{')) return false;
    const size_t start = at_;
    int depth = 0;
    while (at_ < text_.size()) {
      std::string_view ignored;
      if (text_[at_] == '"') {
        if (!string(ignored)) return false;
        continue;
      }
      depth += text_[at_] == '{' ? 1 : text_[at_] == '}' ? -1 : 0;
      ++at_;
      if (depth == 0) return whole = text_.substr(start, at_ - start), true;
    }
    return false;
  }

 private:
  static bool is_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("_.-+:").find(c) != std::string_view::npos;
  }
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace hilo
