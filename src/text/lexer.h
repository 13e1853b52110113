// Tokens of HLO text, read one by one from where `at` stands. White space and comments before a
// token are skipped by the function that reads it. A function that fails says so once through
// fail(), and everything after it fails too.
#pragma once

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <array>
#include <bit>
#include <optional>

#include "ir/ir.h"

namespace hilo {

enum CharClass : uint8_t { GapChar = 1, WordChar = 2, DigitChar = 4 };
inline constexpr std::array<uint8_t, 256> char_classes = [] {
  std::array<uint8_t, 256> out{};
  for (char c : {' ', '\t', '\n', '\r', '\v', '\f', '/'})
    out[static_cast<unsigned char>(c)] = GapChar;
  for (int c = 'a'; c <= 'z'; ++c) out[c] = out[c - 'a' + 'A'] = WordChar;
  for (int c = '0'; c <= '9'; ++c) out[c] = WordChar | DigitChar;
  for (char c : {'_', '.', '-'}) out[static_cast<unsigned char>(c)] = WordChar;
  return out;
}();
inline bool is_class(char c, uint8_t classes) {
  return char_classes[static_cast<unsigned char>(c)] & classes;
}
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

#ifdef __SSE2__
// 255 where a byte of `text` is between first and last.
inline __m128i bytes_between(__m128i text, char first, char last) {
  const __m128i above = _mm_sub_epi8(text, _mm_set1_epi8(first));
  return _mm_cmpeq_epi8(_mm_min_epu8(above, _mm_set1_epi8(static_cast<char>(last - first))), above);
}
// A bit for each of the 16 characters: whether it is a WordChar.
inline unsigned word_chars(__m128i text) {
  const __m128i letters = bytes_between(_mm_or_si128(text, _mm_set1_epi8(0x20)), 'a', 'z');
  const __m128i others = _mm_andnot_si128(_mm_cmpeq_epi8(text, _mm_set1_epi8('/')),
                                          bytes_between(text, '-', '9'));  // - . / 0 ... 9
  const __m128i low_lines = _mm_cmpeq_epi8(text, _mm_set1_epi8('_'));
  return static_cast<unsigned>(
      _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(letters, others), low_lines)));
}
#endif
// The first character from p on that is no WordChar; *end is none.
inline const char* word_end(const char* p, [[maybe_unused]] const char* end) {
#ifdef __SSE2__
  for (; end - p >= 16; p += 16)
    if (const unsigned found =
            word_chars(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))) ^ 0xffff)
      return p + std::countr_zero(found);
#endif
  while (is_class(*p, WordChar)) ++p;
  return p;
}
// The first character from p on that is one of `stops`, which must include 0.
template <char... stops>
inline const char* first_of(const char* p, [[maybe_unused]] const char* end) {
#ifdef __SSE2__
  for (; end - p >= 16; p += 16) {
    const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    __m128i any = _mm_setzero_si128();
    ((any = _mm_or_si128(any, _mm_cmpeq_epi8(text, _mm_set1_epi8(stops)))), ...);
    if (const int found = _mm_movemask_epi8(any)) return p + std::countr_zero(unsigned(found));
  }
#endif
  while (((*p != stops) && ...)) ++p;
  return p;
}

class Lexer {
 public:
  // text.data()[text.size()] must be 0. Unescaped strings go to `strings`.
  Lexer(std::string_view text, StringArena& strings)
      : at(text.data()), begin(text.data()), end(text.data() + text.size()), strings_(&strings) {}
  virtual ~Lexer() = default;

  const char* at;
  const char* begin;
  const char* end;
  // Why and where reading failed.
  struct Failure {
    ErrorKind kind;
    std::string message;
    const char* at;
  };
  std::optional<Failure> failure;

  void skip() {
    if (!is_class(*at, GapChar)) return;
    if (*at == ' ' && !is_class(at[1], GapChar)) ++at;
    else skip_gap();
  }
  bool at_end() { return skip(), at == end; }
  bool peek(char c) { return skip(), *at == c; }
  bool accept(char c) {
    skip();
    if (*at != c) return false;
    ++at;
    return true;
  }
  // `where` completes "expected 'c' ...".
  bool expect(char c, std::string_view where) {
    return accept(c) || (c == 0 ? false : fail_expected(c, where));
  }
  bool accept(std::string_view token);      // punctuation of several characters
  bool accept_word(std::string_view word);  // a whole word
  bool peek_word(std::string_view word);
  // Letters, digits, '_', '.', '-', not including the '-' of "->"; empty when there is none.
  std::string_view word() {
    skip();
    return word_here();
  }
  std::string_view word_here() {
    const char* start = at;
    const char* stop = word_end(start, end);
    if (*stop == '>' && stop > start && stop[-1] == '-') --stop;
    at = stop;
    return {start, static_cast<size_t>(stop - start)};
  }
  // [%]word
  bool name(std::string_view& out, std::string_view what) {
    skip();
    const char* start = at;
    if (*at == '%') ++at;
    out = word_here();
    if (!out.empty()) return true;
    at = start;
    return fail_expected(what);
  }
  bool integer(int64_t& out);
  bool non_negative(int64_t& out);
  bool number(double& out);
  bool string(std::string_view& out);  // "..." or '...', unescaped
  // The text of a bracketed group with all that is nested in it, brackets included.
  bool balanced(std::string_view& out);

  bool fail(ErrorKind kind, std::string message) { return fail_at(at, kind, std::move(message)); }
  bool fail_at(const char* where, ErrorKind kind, std::string message);
  bool fail_expected(char c, std::string_view where);
  bool fail_expected(std::string_view what);  // "expected WHAT, found ..."
  // What has a meaning and is hardly meant: the parser of modules warns and goes on, a text alone
  // is refused.
  virtual bool doubt(const char* where, std::string message) {
    return fail_at(where, ErrorKind::Syntax, std::move(message));
  }
  // The token at `at`, quoted, for messages.
  std::string found();
  Place location_of(const char* position) const;  // line and column
  StringArena& strings() { return *strings_; }

 private:
  void skip_gap();
  bool unescape(std::string_view raw, std::string_view& out);

  StringArena* strings_;
  // Lines are counted on from the last place that was asked for.
  mutable const char* counted_to_ = begin;
  mutable int64_t lines_counted_ = 0;
};

}  // namespace hilo
