#include <algorithm>
#include <map>

#include "report/report_parts.h"

namespace hilo {
namespace {

using Side = TextTable::Side;

struct Sum {
  double flops = 0, bytes = 0;
  int64_t count = 0;
  bool known = true;
};

std::string human_number(double number) {
  static constexpr std::string_view units[] = {"", "K", "M", "G", "T", "P", "E"};
  size_t unit = 0;
  while (number >= 1000 && unit + 1 < std::size(units)) number /= 1000, ++unit;
  return fmt::format("{:.{}f}{}", number, unit == 0 ? 0 : 2, units[unit]);
}

std::string table_of(const std::map<std::string, Sum>& sums, const std::string& heading,
                     const ReportStyle& style) {
  std::vector<std::pair<std::string, Sum>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.bytes, a.second.flops) > std::pair(b.second.bytes, b.second.flops);
  });
  TextTable table({{"flops", Side::Right},
                   {"bytes", Side::Right},
                   {"flops/byte", Side::Right},
                   {"count", Side::Right},
                   {heading}});
  const size_t rows = std::min(sorted.size(), static_cast<size_t>(std::max(style.rows, 0)));
  for (size_t i = 0; i < rows; ++i) {
    const Sum& sum = sorted[i].second;
    if (sum.flops == 0 && sum.bytes == 0) break;
    table.add({(sum.known ? "" : ">=") + human_number(sum.flops), human_number(sum.bytes),
               sum.bytes > 0 ? fmt::format("{:.2f}", sum.flops / sum.bytes) : "-",
               std::to_string(sum.count), sorted[i].first});
  }
  return table.empty() ? "" : table.text(2, static_cast<size_t>(style.width));
}

}  // namespace

std::string cost_tables(const MemoryPicture& picture, const ReportStyle& style) {
  std::map<std::string, Sum> by_op, by_source;
  for (const size_t i : picture.sequence) {
    const PictureInstruction& instruction = picture.instructions[i];
    if (!instruction.has_cost) continue;
    const Cost& cost = instruction.cost;
    const std::string source = short_source(instruction);
    for (Sum* sum : {&by_op[instruction.op], &by_source[source.empty() ? "(unknown)" : source]}) {
      sum->flops += cost.flops * cost.runs;
      sum->bytes += (cost.bytes_read + cost.bytes_written) * cost.runs;
      sum->known = sum->known && cost.flops_known && cost.runs_known;
      ++sum->count;
    }
  }
  std::string out = table_of(by_op, "op", style);
  if (const std::string lines = table_of(by_source, "source line", style); !lines.empty())
    out += "\n" + lines;
  return out;
}

}  // namespace hilo
