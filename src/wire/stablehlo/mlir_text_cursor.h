// Reads the words and signs of MLIR's text. The first mistake ends it: the cursor then stands at
// the end, where nothing more is found.
#pragma once

#include <charconv>
#include <cstring>

#include "wire/stablehlo/mlir.h"

namespace hilo::mlir {

class TextCursor {
 public:
  explicit TextCursor(std::string_view text) : text_(text) {}

  size_t offset() const { return at_; }
  void go_to(size_t offset) {
    if (!failed()) at_ = offset;
  }
  std::string_view text() const { return text_; }
  bool failed() const { return error_.has_value(); }
  Error& error() { return *error_; }

  template <class... Args>
  void fail(fmt::format_string<Args...> message, Args&&... args) {
    fail_at(ErrorKind::Syntax, at_, fmt::format(message, std::forward<Args>(args)...));
  }
  void fail_at(ErrorKind kind, size_t offset, std::string message) {
    if (failed()) return;
    error_ = Error{kind, std::move(message), {}};
    const Position where = position(offset);
    error_->place.line = where.line;
    error_->place.column = where.column;
    at_ = text_.size();
  }
  // Lines are counted on from the position asked for last.
  Position position(size_t offset) {
    if (text_.empty()) return {1, 1, 0};
    if (offset < counted_) line_ = 1, line_start_ = counted_ = 0;
    while (const void* end = std::memchr(text_.data() + counted_, '\n', offset - counted_)) {
      ++line_;
      line_start_ = static_cast<size_t>(static_cast<const char*>(end) - text_.data()) + 1;
      counted_ = line_start_;
    }
    counted_ = offset;
    const auto column = static_cast<int64_t>(offset - line_start_) + 1;
    return {line_, column, static_cast<int64_t>(offset)};
  }

  // Past blanks and comments.
  void skip() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
        ++at_;
      } else if (c == '/' && text_.substr(at_).starts_with("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        break;
      }
    }
  }
  bool at_end() { return skip(), at_ >= text_.size(); }
  char next() { return skip(), at_ < text_.size() ? text_[at_] : '\0'; }
  bool peek(char sign) { return next() == sign; }
  bool peek(std::string_view sign) { return skip(), text_.substr(at_).starts_with(sign); }
  bool accept(char sign) {
    if (!peek(sign)) return false;
    ++at_;
    return true;
  }
  bool accept(std::string_view sign) {
    if (!peek(sign)) return false;
    at_ += sign.size();
    return true;
  }
  void expect(std::string_view sign) {
    if (!accept(sign)) fail("expected '{}', found {}", sign, found());
  }
  // What stands here, for messages.
  std::string found() {
    if (at_end()) return "the end";
    const size_t end = text_.find_first_of(" \n\t\r", at_);
    return fmt::format("'{}'", text_.substr(at_, std::min<size_t>(end - at_, 20)));
  }

  // Words: letters, digits, '_', '$' and '.', no digit first.
  std::string_view peek_word() {
    skip();
    size_t end = at_;
    if (end < text_.size() && is_letter(text_[end]))
      while (end < text_.size() && is_word(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }
  std::string_view word() {
    const std::string_view out = peek_word();
    at_ += out.size();
    return out;
  }
  bool accept_word(std::string_view wanted) {
    if (peek_word() != wanted) return false;
    at_ += wanted.size();
    return true;
  }
  void expect_word(std::string_view wanted) {
    if (!accept_word(wanted)) fail("expected '{}', found {}", wanted, found());
  }
  // Behind '%', '^', '#' or '!', which come first: digits, or letters, digits and "$._-".
  std::string_view name(char sign) {
    if (!accept(sign)) {
      fail("expected a name with '{}', found {}", sign, found());
      return {};
    }
    const size_t start = at_;
    while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '-')) {
      if (text_[at_] == '-' && text_.substr(at_).starts_with("->")) break;
      ++at_;
    }
    if (at_ == start) fail("a name is missing behind '{}'", sign);
    return text_.substr(start, at_ - start);
  }
  std::string symbol() {  // behind '@'
    expect("@");
    if (at_ < text_.size() && text_[at_] == '"') return string();
    const size_t start = at_;
    while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '-')) {
      if (text_[at_] == '-' && text_.substr(at_).starts_with("->")) break;
      ++at_;
    }
    if (at_ == start) fail("a name is missing behind '@'");
    return std::string(text_.substr(start, at_ - start));
  }

  int64_t integer() {
    int64_t value = 0;
    skip();
    const char* end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(text_.data() + at_, end, value);
    if (error != std::errc()) {
      fail("expected an integer, found {}", found());
      return 0;
    }
    at_ = static_cast<size_t>(stop - text_.data());
    return value;
  }
  // A number as it stands: signs, digits, '.', exponents, hexadecimal.
  std::string_view number() {
    skip();
    const size_t start = at_;
    if (at_ < text_.size() && text_[at_] == '-') ++at_;
    if (text_.substr(at_).starts_with("0x")) {
      at_ += 2;
      while (at_ < text_.size() && std::isxdigit(static_cast<unsigned char>(text_[at_]))) ++at_;
      return text_.substr(start, at_ - start);
    }
    while (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) ++at_;
    if (at_ > start && at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '+')) ++at_;
      while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    }
    return text_.substr(start, at_ - start);
  }

  // Between quotes, escapes as they stand.
  std::string_view quoted() {
    expect("\"");
    const size_t start = at_;
    while (true) {
      at_ = std::min(text_.find_first_of("\"\\", at_), text_.size());
      if (at_ >= text_.size()) {
        fail_at(ErrorKind::Syntax, start, "a string without its end");
        return {};
      }
      if (text_[at_] == '"') break;
      at_ = std::min(at_ + 2, text_.size());
    }
    return text_.substr(start, at_++ - start);
  }
  std::string string();  // escapes resolved

  // Past a balanced <…>, (…), […] or {…}; strings and "->" count as one sign.
  std::string_view balanced();

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }
  static bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '$' || c == '.'; }

 private:
  std::string_view text_;
  size_t at_ = 0;
  std::optional<Error> error_;
  int64_t line_ = 1;
  size_t line_start_ = 0, counted_ = 0;
};

}  // namespace hilo::mlir
