#include "text/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace hilo {

void Lexer::skip_gap() {
  for (;;) {
    const char* p = at;
    while (is_class(*p, GapChar) && *p != '/') ++p;
    at = p;
    if (*p != '/') return;
    if (at[1] == '/') {
      const void* newline = std::memchr(at, '\n', end - at);
      at = newline ? static_cast<const char*>(newline) : end;
    } else if (at[1] == '*') {
      const size_t close = std::string_view(at + 2, end - at - 2).find("*/");
      if (close == std::string_view::npos) {
        fail(ErrorKind::Syntax, "this comment is not closed: expected '*/'");
        at = end;
        return;
      }
      at += close + 4;
    } else {
      return;
    }
  }
}

bool Lexer::accept(std::string_view token) {
  skip();
  if (static_cast<size_t>(end - at) < token.size() ||
      std::memcmp(at, token.data(), token.size()) != 0)
    return false;
  at += token.size();
  return true;
}

bool Lexer::peek_word(std::string_view word) {
  skip();
  return static_cast<size_t>(end - at) >= word.size() &&
         std::memcmp(at, word.data(), word.size()) == 0 && !is_class(at[word.size()], WordChar);
}

bool Lexer::accept_word(std::string_view word) {
  if (!peek_word(word)) return false;
  at += word.size();
  return true;
}

bool Lexer::integer(int64_t& out) {
  skip();
  if (is_digit(*at)) {  // short ones, which nearly all are
    const char* p = at;
    uint64_t value = 0;
    while (is_digit(*p) && p < at + 18) value = value * 10 + static_cast<uint64_t>(*p++ - '0');
    if (!is_digit(*p)) return at = p, out = static_cast<int64_t>(value), true;
  }
  const auto [stop, error] = std::from_chars(at, end, out);
  if (error == std::errc::result_out_of_range)
    return fail(ErrorKind::Limit, fmt::format("the number {} does not fit in 64 bits", found()));
  if (error != std::errc()) return fail_expected("an integer");
  at = stop;
  return true;
}

bool Lexer::non_negative(int64_t& out) {
  const char* start = (skip(), at);
  if (!integer(out)) return false;
  return out >= 0 || fail_at(start, ErrorKind::Syntax,
                             fmt::format("expected a count of 0 or more, found {}", out));
}

bool Lexer::number(double& out) {
  skip();
  const auto [stop, error] = std::from_chars(at, end, out);
  if (error == std::errc::result_out_of_range)
    return fail(ErrorKind::Limit, fmt::format("the number {} does not fit in a double", found()));
  if (error != std::errc()) return fail_expected("a number");
  at = stop;
  return true;
}

bool Lexer::string(std::string_view& out) {
  skip();
  const char quote = *at;
  if (quote != '"' && quote != '\'') return fail_expected("a quoted string");
  const char* start = at + 1;
  bool escaped = false;
  for (const char* from = start;;) {
    const char* close = static_cast<const char*>(std::memchr(from, quote, end - from));
    if (!close) return fail(ErrorKind::Syntax, "this string is not closed: expected a quote");
    size_t backslashes = 0;
    while (close - backslashes > start && close[-1 - static_cast<ptrdiff_t>(backslashes)] == '\\')
      ++backslashes;
    from = close + 1;
    if (backslashes % 2 != 0) {
      escaped = true;
      continue;
    }
    out = {start, static_cast<size_t>(close - start)};
    at = from;
    break;
  }
  if (!escaped && !std::memchr(out.data(), '\\', out.size())) return true;
  return unescape(out, out);
}

namespace {

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// The character that an escape sequence without its backslash stands for; advances `i` past it.
int escaped_char(std::string_view raw, size_t& i) {
  constexpr std::string_view letters = "ntrabfv\\'\"?", values = "\n\t\r\a\b\f\v\\'\"?";
  const char c = raw[i++];
  if (const size_t known = letters.find(c); known != std::string_view::npos) return values[known];
  int value = 0;
  if (c == 'x' || c == 'X') {
    const size_t start = i;
    while (i < raw.size() && i < start + 2 && hex_digit(raw[i]) >= 0)
      value = value * 16 + hex_digit(raw[i++]);
    return i > start ? value : -1;
  }
  if (c < '0' || c > '7') return -1;
  const size_t limit = --i + 3;
  while (i < raw.size() && i < limit && raw[i] >= '0' && raw[i] <= '7')
    value = value * 8 + (raw[i++] - '0');
  return value < 256 ? value : -1;
}

}  // namespace

bool Lexer::unescape(std::string_view raw, std::string_view& out) {
  std::string text;
  text.reserve(raw.size());
  for (size_t i = 0; i < raw.size();) {
    if (raw[i] != '\\') {
      text += raw[i++];
      continue;
    }
    const char* where = raw.data() + i++;
    const int c = i < raw.size() ? escaped_char(raw, i) : -1;
    if (c < 0) return fail_at(where, ErrorKind::Syntax, "unknown escape in a string");
    text += static_cast<char>(c);
  }
  out = strings_->copy(text);
  return true;
}

namespace {

// What each character means to Lexer::balanced: the closing bracket of an opening one, itself for
// a closing one, a quote or the 0 at the end, and 1 for the rest.
constexpr std::array<char, 256> bracket_roles = [] {
  std::array<char, 256> out;
  out.fill(1);
  out['{'] = '}', out['('] = ')', out['['] = ']';
  for (char c : {'}', ')', ']', '"', '\0'}) out[static_cast<unsigned char>(c)] = c;
  return out;
}();
constexpr size_t deepest_brackets = 8192;

// The closing quote of the string that opens at p, or the end.
const char* string_end(const char* p, const char* end) {
  for (++p; p < end && *p != '"'; ++p)
    if (*p == '\\') ++p;
  return std::min(p, end);
}

}  // namespace

bool Lexer::balanced(std::string_view& out) {
  skip();
  const char* start = at;
  if (*at != '{' && *at != '(' && *at != '[') return fail_expected("'{'");
  char closers[deepest_brackets];
  size_t depth = 0;
  for (const char* p = at;; ++p) {
    const char role = bracket_roles[static_cast<unsigned char>(*p)];
    if (role == 1) continue;
    if (role == '"') {
      if ((p = string_end(p, end)) == end) break;
    } else if (role == 0) {
      if (p == end) break;
    } else if (role != *p) {
      if (depth == deepest_brackets)
        return fail_at(p, ErrorKind::Limit,
                       fmt::format("brackets nested more than {} deep", deepest_brackets));
      closers[depth++] = role;
    } else if (role != closers[--depth]) {
      return fail_at(p, ErrorKind::Syntax,
                     fmt::format("expected '{}', found '{}'", closers[depth], role));
    } else if (depth == 0) {
      at = p + 1;
      out = {start, static_cast<size_t>(at - start)};
      return true;
    }
  }
  return fail_at(start, ErrorKind::Syntax, fmt::format("this '{}' is not closed", *start));
}

bool Lexer::fail_at(const char* where, ErrorKind kind, std::string message) {
  if (!failure) failure = Failure{kind, std::move(message), where};
  return false;
}

bool Lexer::fail_expected(char c, std::string_view where) {
  return fail_expected(fmt::format("'{}' {}", c, where));
}

bool Lexer::fail_expected(std::string_view what) {
  skip();
  return fail(ErrorKind::Syntax, fmt::format("expected {}, found {}", what, found()));
}

std::string Lexer::found() {
  skip();
  if (at == end) return "the end of the text";
  size_t size = 1;
  if (is_class(*at, WordChar) || *at == '%')
    while (size < 40 && is_class(at[size], WordChar)) ++size;
  std::string out = "'";
  for (char c : std::string_view(at, size)) {
    if (c >= ' ' && c < 0x7f) out += c;
    else out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return out + "'";
}

Place Lexer::location_of(const char* position) const {
  Place place;
  const std::string_view before(begin, position - begin);
  if (position < counted_to_) counted_to_ = begin, lines_counted_ = 0;
  lines_counted_ += std::count(counted_to_, position, '\n');
  counted_to_ = position;
  place.line = 1 + lines_counted_;
  place.column = static_cast<int64_t>(before.size() - (before.rfind('\n') + 1)) + 1;
  return place;
}

}  // namespace hilo
