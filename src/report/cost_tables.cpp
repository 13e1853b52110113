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

// Peak rates of the chip, a second; 0: not known.
struct Roof {
  double flops = 0, bytes = 0;
  bool is_known() const { return flops > 0 && bytes > 0; }
};
Roof roof_of(const MemoryPicture& picture) {
  const Machine* machine = find_machine(picture.machine);
  if (machine == nullptr) return {};
  return {std::max(machine->flops_f32, machine->flops_bf16),
          memory_space(*machine, 0).bytes_per_second};
}

// The time that the roofline allows, and which of its sides that is (Williams, Waterman and
// Patterson, "Roofline", 2009).
std::vector<std::string> roofline_cells(const Roof& roof, const Sum& sum) {
  const double compute = sum.flops / roof.flops, memory = sum.bytes / roof.bytes;
  return {human_seconds(std::max(compute, memory)), compute > memory ? "compute" : "memory"};
}

std::string table_of(const std::map<std::string, Sum>& sums, const std::string& heading,
                     const Roof& roof, const ReportStyle& style) {
  std::vector<std::pair<std::string, Sum>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.bytes, a.second.flops) > std::pair(b.second.bytes, b.second.flops);
  });
  std::vector<TextTable::Column> columns = {{"flops", Side::Right},
                                            {"bytes", Side::Right},
                                            {"flops/byte", Side::Right},
                                            {"count", Side::Right}};
  if (roof.is_known()) {
    columns.push_back({"at best", Side::Right});
    columns.push_back({"limit"});
  }
  columns.push_back({heading});
  TextTable table(std::move(columns));
  const size_t rows = std::min(sorted.size(), static_cast<size_t>(std::max(style.rows, 0)));
  for (size_t i = 0; i < rows; ++i) {
    const Sum& sum = sorted[i].second;
    if (sum.flops == 0 && sum.bytes == 0) break;
    std::vector<std::string> cells = {
        (sum.known ? "" : ">=") + human_number(sum.flops), human_number(sum.bytes),
        sum.bytes > 0 ? fixed(sum.flops / sum.bytes, 2) : "-", std::to_string(sum.count)};
    if (roof.is_known()) std::ranges::move(roofline_cells(roof, sum), std::back_inserter(cells));
    cells.push_back(sorted[i].first);
    table.add(std::move(cells));
  }
  return table.empty() ? "" : table.text(2, static_cast<size_t>(style.width));
}

Links links_of(const MemoryPicture& picture) {
  const Machine* machine = find_machine(picture.machine);
  return machine ? machine->links : Links();
}

// Peak of all links of a device together, one way.
double link_rate_of(const MemoryPicture& picture) {
  const Links links = links_of(picture);
  return static_cast<double>(links.count) * links.bytes_per_second;
}

std::string links_line(const MemoryPicture& picture) {
  const Links links = links_of(picture);
  if (!links.are_known()) return "";
  return fmt::format(
      "  link bytes: what the device that sends most sends; at best: over {} of {} with "
      "{}B/s each way, all at once\n",
      counted(static_cast<size_t>(links.count), "link"), picture.machine,
      human_number(links.bytes_per_second));
}

}  // namespace

std::string human_number(double number) {
  static constexpr std::string_view units[] = {"", "K", "M", "G", "T", "P", "E"};
  size_t unit = 0;
  while (number >= 1000 && unit + 1 < std::size(units)) number /= 1000, ++unit;
  return fixed(number, unit == 0 ? 0 : 2) + std::string(units[unit]);
}

std::string human_seconds(double seconds) {
  if (seconds >= 1) return fixed(seconds, 2) + " s";
  if (seconds >= 1e-3) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} us", seconds * 1e6);
}

std::string collective_table(const MemoryPicture& picture, const ReportStyle& style) {
  const double rate = link_rate_of(picture);
  TextTable table({{"link bytes", Side::Right},
                   {"devices", Side::Right},
                   {"runs", Side::Right},
                   {"at best", Side::Right},
                   {"exposed", Side::Right},
                   {"op"},
                   {"instruction"},
                   {"source"},
                   {"op_name"}});
  const size_t rows =
      std::min(picture.collectives.size(), static_cast<size_t>(std::max(style.rows, 0)));
  double rest = 0;
  for (size_t i = 0; i < picture.collectives.size(); ++i) {
    const PictureCollective& one = picture.collectives[i];
    const double bytes = one.link_bytes * one.runs;
    if (i >= rows) rest += bytes;
    else
      table.add({human_number(bytes), std::to_string(one.devices),
                 (one.runs_known ? "" : ">=") + fixed(one.runs, 0),
                 rate > 0 ? human_seconds(bytes / rate) : "",
                 one.seconds < 0 ? "?" : human_seconds(one.exposed_seconds * one.runs),
                 one.instruction.op, one.instruction.name, short_source(one.instruction),
                 one.instruction.op_name});
  }
  if (table.empty()) return "";
  std::string out = table.text(2, static_cast<size_t>(style.width));
  if (rows < picture.collectives.size())
    out += fmt::format("  … and {} more with {}B together\n", picture.collectives.size() - rows,
                       human_number(rest));
  return out + links_line(picture);
}

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
  const Roof roof = roof_of(picture);
  std::string out = table_of(by_op, "op", roof, style);
  const bool names_sources = by_source.size() > by_source.count("(unknown)");
  if (const std::string lines = table_of(by_source, "source line", roof, style);
      names_sources && !lines.empty())
    out += "\n" + lines;
  if (roof.is_known() && !out.empty())
    out += fmt::format(
        "\n  at best: {}flop/s, {}B/s of main memory ({}); what lies in faster memory "
        "takes less\n",
        human_number(roof.flops), human_number(roof.bytes), picture.machine);
  return out;
}

}  // namespace hilo
