#include <algorithm>

#include "report/report_parts.h"

namespace hilo {
namespace {

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

size_t columns_of(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

std::string cut_text(std::string_view text, size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  size_t end = 0;
  for (size_t seen = 0; end < text.size(); ++end)
    if (!continues_character(text[end]) && ++seen == columns) break;
  return std::string(text.substr(0, end)) + "…";
}

std::string plain_text(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = '?';
  return out;
}

std::string TextTable::text(size_t indent, size_t width) const {
  std::vector<size_t> widths;
  for (size_t c = 0; c < columns_.size(); ++c) {
    widths.push_back(columns_of(columns_[c].heading));
    for (const auto& row : rows_) widths[c] = std::max(widths[c], columns_of(row[c]));
  }
  const auto line = [&](const auto& cell_of) {
    std::string out(indent, ' ');
    for (size_t c = 0; c < columns_.size(); ++c) {
      const std::string cell = plain_text(cell_of(c));
      const std::string space(widths[c] - columns_of(cell), ' ');
      if (c > 0) out += "  ";
      out += columns_[c].side == Side::Right ? space + cell : cell + space;
    }
    out.resize(out.find_last_not_of(' ') + 1);
    return cut_text(out, width) + '\n';
  };
  std::string out = line([&](size_t c) { return columns_[c].heading; });
  for (const auto& row : rows_) out += line([&](size_t c) { return row[c]; });
  return out;
}

}  // namespace hilo
