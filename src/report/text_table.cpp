#include <algorithm>

#include "report/report_parts.h"

namespace hilo {
namespace {

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

std::string counted(size_t count, std::string_view noun, std::string_view several) {
  if (count == 1) return fmt::format("1 {}", noun);
  return several.empty() ? fmt::format("{} {}s", count, noun)
                         : fmt::format("{} {}", count, several);
}

std::string fixed(double number, int digits) {
  constexpr double countable = 0x1p53;
  return std::abs(number) <= countable ? fmt::format("{:.{}f}", number, digits)
                                       : fmt::format("{:.3e}", number);
}

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

std::string wrapped(std::string_view text, size_t indent, size_t width) {
  std::string out;
  size_t column = indent;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const size_t word = columns_of(text.substr(0, end));
    if (!out.empty() && column + 1 + word > width) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!out.empty()) {
      out += ' ', ++column;
    }
    out += text.substr(0, end);
    column += word;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string plain_text(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = '?';
  return out;
}

// A column of which nothing is known is left out.
std::vector<size_t> TextTable::known_columns() const {
  std::vector<size_t> out;
  for (size_t c = 0; c < columns_.size(); ++c)
    if (rows_.empty() || std::any_of(rows_.begin(), rows_.end(), [&](const auto& row) {
          return !row[c].empty() && row[c] != "?";
        }))
      out.push_back(c);
  return out;
}

// Texts give way until all columns fit: the last ones first, and none much before the others.
std::vector<size_t> TextTable::widths(const std::vector<size_t>& shown, size_t room) const {
  std::vector<size_t> out;
  size_t sum = 2 * shown.size() - 2;
  for (const size_t c : shown) {
    out.push_back(columns_of(columns_[c].heading));
    for (const auto& row : rows_) out.back() = std::max(out.back(), columns_of(row[c]));
    sum += out.back();
  }
  for (const size_t narrowest : {32, 24, 16, 12})
    for (size_t i = shown.size(); i-- > 0 && sum > room;) {
      if (columns_[shown[i]].side != Side::Left || out[i] <= narrowest) continue;
      const size_t less = std::min(out[i] - narrowest, sum - room);
      out[i] -= less, sum -= less;
    }
  return out;
}

std::string TextTable::text(size_t indent, size_t width) const {
  const std::vector<size_t> shown = known_columns();
  const std::vector<size_t> widths = this->widths(shown, width > indent ? width - indent : 0);
  const auto line = [&](const auto& cell_of) {
    std::string out(indent, ' ');
    for (size_t i = 0; i < shown.size(); ++i) {
      const std::string plain = plain_text(cell_of(shown[i]));
      const std::string cell =
          columns_of(plain) > widths[i] ? cut_text(plain, widths[i] - 1) : plain;
      const std::string space(widths[i] - columns_of(cell), ' ');
      if (i > 0) out += "  ";
      out += columns_[shown[i]].side == Side::Right ? space + cell : cell + space;
    }
    out.resize(out.find_last_not_of(' ') + 1);
    return cut_text(out, width) + '\n';
  };
  std::string out = line([&](size_t c) { return columns_[c].heading; });
  for (const auto& row : rows_) out += line([&](size_t c) { return row[c]; });
  return out;
}

}  // namespace hilo
