#include <algorithm>

#include "report/report_parts.h"

namespace hilo {
namespace {

constexpr size_t rows = 8;
constexpr size_t label_width = 10;

// The largest of the moments that share a column.
std::vector<int64_t> columns_from(const std::vector<int64_t>& in_use, size_t width) {
  const size_t count = std::min(width, in_use.size());
  std::vector<int64_t> out(count, 0);
  for (size_t i = 0; i < in_use.size(); ++i) {
    int64_t& column = out[i * count / in_use.size()];
    column = std::max(column, in_use[i]);
  }
  return out;
}

}  // namespace

std::string usage_chart(const MemoryPicture&, const PictureSpace& space, size_t width) {
  static constexpr std::string_view eighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (space.peak_bytes <= 0 || width < label_width + 10) return "";
  const std::vector<int64_t> columns = columns_from(space.in_use, width - label_width - 2);
  std::string out;
  for (size_t row = rows; row-- > 0;) {
    const bool is_top = row + 1 == rows;
    out += fmt::format("{:>{}} │", is_top ? human_bytes(space.peak_bytes) : "", label_width);
    std::string line;
    for (const int64_t bytes : columns) {
      const double filled = static_cast<double>(bytes) / static_cast<double>(space.peak_bytes) *
                                static_cast<double>(8 * rows) -
                            static_cast<double>(8 * row);
      const double part = bytes > 0 ? std::clamp(filled, row == 0 ? 1.0 : 0.0, 8.0) : 0.0;
      line += eighths[static_cast<size_t>(part)];
    }
    line.resize(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  const std::string last = std::to_string(space.in_use.size() - 1);
  const size_t gap = columns.size() > last.size() + 1 ? columns.size() - last.size() - 1 : 1;
  std::string axis;
  for (size_t i = 0; i < columns.size(); ++i) axis += "─";
  out += fmt::format("{:>{}} └{}\n{:>{}}  0{}{}\n", "0", label_width, axis, "step", label_width,
                     std::string(gap, ' '), last);
  return out;
}

}  // namespace hilo
