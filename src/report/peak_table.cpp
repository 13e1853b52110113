#include <algorithm>

#include "report/report_parts.h"
#include "report/roles.h"

namespace hilo {
namespace {

using Side = TextTable::Side;

std::string live_text(const PictureAllocation* allocation, const PictureValue& value) {
  if (allocation && allocation->is_always_there()) return "always";
  return value.has_range() ? fmt::format("{}..{}", value.start, value.end) : "";
}

// "15.50GiB 32.0x"
std::string padding_text(const PictureValue& value) {
  if (value.unpadded_bytes < 0 || value.bytes == 0) return "";
  const int64_t padded = value.array_bytes >= 0 ? value.array_bytes : value.bytes;
  const int64_t lost = padded - value.unpadded_bytes;
  if (lost <= 0) return "-";
  const double factor = static_cast<double>(padded) / static_cast<double>(value.unpadded_bytes);
  return value.unpadded_bytes > 0 && factor >= 1.05
             ? fmt::format("{} {:.1f}x", human_bytes(lost), factor)
             : human_bytes(lost);
}

// What the table shows: what is in use at the peak, or all values where no peak is known.
std::vector<size_t> shown_values(const MemoryPicture& picture, const PictureSpace& space) {
  if (space.peak_moment >= 0 && !picture.is_partial)
    return values_at(picture, space.peak_moment, space.space);
  std::vector<size_t> out;
  for (size_t i = 0; i < picture.values.size(); ++i) {
    const PictureValue& value = picture.values[i];
    if (value.space == space.space && (value.allocation == PictureValue::no_allocation ||
                                       !picture.allocations[value.allocation].is_thread_local))
      out.push_back(i);
  }
  sort_by_size(picture, out);
  return out;
}

}  // namespace

std::string short_source(const PictureInstruction& instruction) {
  if (instruction.source_file.empty()) return "";
  const size_t slash = instruction.source_file.find_last_of('/');
  return fmt::format("{}:{}",
                     instruction.source_file.substr(slash == std::string::npos ? 0 : slash + 1),
                     instruction.source_line);
}

std::string peak_table(const MemoryPicture& picture, const PictureSpace& space,
                       const ReportStyle& style) {
  return value_table(picture, shown_values(picture, space), style);
}

std::string value_table(const MemoryPicture& picture, const std::vector<size_t>& values,
                        const ReportStyle& style) {
  TextTable table({{"size", Side::Right},
                   {"padding", Side::Right},
                   {"live", Side::Right},
                   {"value"},
                   {"op"},
                   {"kind"},
                   {"shape"},
                   {"source"},
                   {"op_name"}});
  const size_t rows = std::min(values.size(), static_cast<size_t>(std::max(style.rows, 0)));
  for (size_t i = 0; i < rows; ++i) {
    const PictureValue& value = picture.values[values[i]];
    const auto writer = writer_in_body(picture, value);
    const PictureInstruction& instruction =
        writer ? picture.instructions[*writer] : picture.instruction_of(value);
    const PictureAllocation* allocation = value.allocation == PictureValue::no_allocation
                                              ? nullptr
                                              : &picture.allocations[value.allocation];
    const bool sized = allocation || value.bytes > 0;
    table.add({human_bytes(sized ? value.bytes : value.unpadded_bytes), padding_text(value),
               live_text(allocation, value), cut_text(shown_name(picture, value), 64),
               instruction.op, value.kind, cut_text(value.shape, 64), short_source(instruction),
               instruction.op_name});
  }
  std::string out = table.text(2, static_cast<size_t>(style.width));
  int64_t rest = 0;
  for (size_t i = rows; i < values.size(); ++i)
    rest = add_bytes(rest, picture.values[values[i]].bytes);
  if (rows < values.size())
    out += fmt::format("  … and {} more of {} together\n", values.size() - rows, human_bytes(rest));
  return out;
}

}  // namespace hilo
