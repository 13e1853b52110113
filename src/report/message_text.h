// Private to report: the text of a log, as compilers and runtimes wrote it.
#pragma once

#include "report/dump_reading.h"

namespace hilo {

// What loggers, shells and mails added is taken away: prefixes of lines, colours, quotes, escaped
// ends of lines; what was written on one line is put on several where a new entry begins.
class MessageText {
 public:
  explicit MessageText(const DumpText& dump);

  struct Line {
    std::string text;  // without spaces around it
    int64_t number = 0;
    bool is_indented = false;
  };
  const std::vector<Line>& lines() const { return lines_; }
  // All of it on one line.
  const std::string& flat() const { return flat_; }
  Error error(int64_t number, std::string message) const;
  Error error_at(size_t offset, std::string message) const;  // in flat()
  Place where(size_t offset) const;

 private:
  void add(std::string_view text, int64_t number);
  std::string file_;
  std::vector<Line> lines_;
  std::string flat_;
  std::vector<std::pair<size_t, int64_t>> starts_;  // in flat_, of lines
};

// Matches a sentence at the front of a text. In the pattern {b} stands for a size ("1.5G", "12
// bytes"), {n} for a number, {w} for a word, {t} for any text before what follows.
std::optional<std::vector<std::string>> match_sentence(std::string_view text,
                                                       std::string_view pattern);
// The first place of the text, from `from` on, where it matches.
struct FoundSentence {
  size_t offset = 0;
  std::vector<std::string> words;
};
std::optional<FoundSentence> find_sentence(std::string_view text, std::string_view pattern,
                                           size_t from = 0);

}  // namespace hilo
