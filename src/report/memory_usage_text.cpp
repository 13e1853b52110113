// XLA's memory usage report of 2026: for each space its allocations by size, and in each what lies
// where.
#include <algorithm>
#include <map>

#include "report/picture.h"
#include "text/text.h"

namespace hilo {
namespace {

// What lies at one offset of an allocation, at one time or another.
struct Row {
  int64_t bytes = 0, offset = 0, last_value = 0;
  std::vector<std::string> shapes;  // without layouts
};

std::string without_layout(const std::string& shape) {
  const auto parsed = parse_shape(shape);
  return parsed ? to_string_without_layout(*parsed) : shape;
}

std::vector<Row> rows_of(const MemoryPicture& picture, const PictureAllocation& allocation) {
  std::map<int64_t, Row> by_offset;
  for (const size_t i : allocation.values) {
    const PictureValue& value = picture.values[i];
    Row& row = by_offset[value.offset];
    row.offset = value.offset;
    row.bytes = std::max(row.bytes, value.bytes);
    row.last_value = std::max(row.last_value, value.number);
    row.shapes.push_back(without_layout(value.shape));
  }
  std::vector<Row> out;
  for (auto& [offset, row] : by_offset) out.push_back(std::move(row));
  std::stable_sort(out.begin(), out.end(), [](const Row& a, const Row& b) {
    return std::pair(b.bytes, a.last_value) < std::pair(a.bytes, b.last_value);
  });
  return out;
}

// "u32[], 2×f32[8]": by how often, then by text.
std::string text_of_shapes(std::vector<std::string> shapes) {
  std::map<std::string, int64_t> counts;
  for (std::string& shape : shapes) ++counts[std::move(shape)];
  std::vector<std::pair<int64_t, std::string>> sorted;
  for (const auto& [shape, count] : counts) sorted.emplace_back(count, shape);
  std::sort(sorted.begin(), sorted.end());
  std::string out;
  for (const auto& [count, shape] : sorted) {
    if (!out.empty()) out += ", ";
    out += count == 1 ? shape : fmt::format("{}×{}", count, shape);
  }
  return out;
}

// Of many rows or allocations XLA leaves out the last ones.
constexpr double rest_share = 0.05;
bool may_stop(size_t shown, int64_t all, int64_t cumulative) {
  const double rest = static_cast<double>(all) - static_cast<double>(cumulative);
  return shown > 50 && rest < rest_share * static_cast<double>(all);
}

void append_table(std::string& out, const std::vector<Row>& rows) {
  out += "  cumulative_size;       size;       offset; used_by_n_values; shapes_list\n";
  out += "  ------------------------------------------------------------\n";
  int64_t all = 0, cumulative = 0;
  for (const Row& row : rows) all = add_bytes(all, row.bytes);
  size_t shown = 0, hidden = 0;
  for (const Row& row : rows) {
    if (may_stop(shown, all, cumulative)) break;
    ++shown;
    cumulative = add_bytes(cumulative, row.bytes);
    const double share =
        all == 0 ? 0 : 100 * static_cast<double>(cumulative) / static_cast<double>(all);
    out += fmt::format("  {:>9}({:3.0f}%); {:>10}; {:12}; {:16}; {}\n", human_bytes(cumulative),
                       share, human_bytes(row.bytes), row.offset, row.shapes.size(),
                       text_of_shapes(row.shapes));
  }
  for (size_t i = shown; i < rows.size(); ++i) hidden += rows[i].shapes.size();
  if (hidden > 0)
    out +=
        fmt::format("  The rest {} values are less than {:.0f}% of the total size and not shown.\n",
                    hidden, 100 * rest_share);
}

std::string_view xla_name(int64_t space) {
  static constexpr std::string_view names[] = {"default", "vmem", "smem", "hbm", "host", "cmem"};
  return space >= 0 && space < 6 ? names[space] : "";
}

}  // namespace

std::string memory_usage_text(const MemoryPicture& picture) {
  std::string out;
  for (const PictureSpace& space : picture.spaces) {
    std::vector<const PictureAllocation*> allocations;
    int64_t all = 0;
    for (const PictureAllocation& allocation : picture.allocations)
      if (allocation.space == space.space) {
        allocations.push_back(&allocation);
        all = add_bytes(all, allocation.bytes);
      }
    if (allocations.empty()) continue;
    std::stable_sort(allocations.begin(), allocations.end(),
                     [](const auto* a, const auto* b) { return a->bytes > b->bytes; });
    std::string name(xla_name(space.space));
    if (name.empty()) name = fmt::format("color_{}", space.space);
    out += fmt::format("Memory Space: {} (color={})\nTotal bytes: {} ({})\n", name, space.space,
                       all, human_bytes(all));
    int64_t cumulative = 0;
    for (size_t i = 0; i < allocations.size() && !may_stop(i, all, cumulative); ++i) {
      cumulative = add_bytes(cumulative, allocations[i]->bytes);
      append_table(out, rows_of(picture, *allocations[i]));
      out += '\n';
    }
    out += '\n';
  }
  return out;
}

}  // namespace hilo
