// Private to report: the parts of the report for people.
#pragma once

#include "report/picture.h"

namespace hilo {

// Rows of cells below a heading, columns as wide as their widest cell; numbers to the right.
class TextTable {
 public:
  enum class Side : uint8_t { Left, Right };
  struct Column {
    std::string heading;
    Side side = Side::Left;
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  // Each line begins with `indent` spaces. Where the columns are wider than `width`, texts are cut
  // with "…", the widest first; columns that hold nothing but "?" are left out.
  std::string text(size_t indent, size_t width) const;

 private:
  std::vector<size_t> known_columns() const;
  std::vector<size_t> widths(const std::vector<size_t>& shown, size_t room) const;
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Columns that a text of UTF-8 takes on a terminal, and the text cut to so many.
size_t columns_of(std::string_view text);
std::string cut_text(std::string_view text, size_t columns);
// Control bytes of a stranger's text as '?'; a terminal must not obey them.
std::string plain_text(std::string_view text);

// The text broken between words into rows of `width` columns, all but the first indented.
std::string wrapped(std::string_view text, size_t indent, size_t width);

// Bytes in use over the schedule as bars, `width` columns wide; empty without a schedule.
std::string usage_chart(const MemoryPicture& picture, const PictureSpace& space, size_t width);
// What is in use at the peak of a space; of partial pictures, the largest values.
std::string peak_table(const MemoryPicture& picture, const PictureSpace& space,
                       const ReportStyle& style);
std::string value_table(const MemoryPicture& picture, const std::vector<size_t>& values,
                        const ReportStyle& style);
// Flops, bytes and their ratio by op and by source line.
std::string cost_tables(const MemoryPicture& picture, const ReportStyle& style);
std::string human_number(double number);    // "1.20M"
std::string human_seconds(double seconds);  // "1.20 ms"
// What devices exchange, by instruction.
std::string collective_table(const MemoryPicture& picture, const ReportStyle& style);
// What an out-of-memory message says, in place of the table of memories.
std::string message_chapter(const MemoryPicture& picture, const ReportStyle& style);
// Whether it fits, and if not, why and what would be enough.
std::string limit_chapter(const MemoryPicture& picture);
std::string advice_list(const MemoryPicture& picture, const ReportStyle& style);
// "file.py:12", the folders before the file left out.
std::string short_source(const PictureInstruction& instruction);

}  // namespace hilo
