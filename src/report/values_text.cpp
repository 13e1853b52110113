// XLA's "Used values" and, for dumps of before 2026, the whole file with all three parts.
#include <algorithm>

#include "report/picture.h"

namespace hilo {
namespace {

std::vector<size_t> placed_values(const MemoryPicture& picture) {
  std::vector<size_t> out;
  for (size_t i = 0; i < picture.values.size(); ++i)
    if (picture.values[i].allocation != PictureValue::no_allocation) out.push_back(i);
  std::stable_sort(out.begin(), out.end(), [&](size_t a, size_t b) {
    return picture.values[a].number < picture.values[b].number;
  });
  return out;
}

std::string position_text(const MemoryPicture& picture, const PicturePosition& place) {
  std::string out = "  " + picture.instructions[place.instruction].name;
  if (place.operand >= 0) out += fmt::format(", operand {}", place.operand);
  if (place.has_index) out += ' ' + text_of_index(place.index);
  return out + '\n';
}

void append_value(std::string& out, const MemoryPicture& picture, const PictureValue& value,
                  DumpForm form) {
  out += label_of(picture, value) + "\n positions:\n";
  for (const PicturePosition& place : value.positions) out += position_text(picture, place);
  out += " uses:\n";
  for (const PicturePosition& place : value.uses) out += position_text(picture, place);
  if (value.uses.empty() && form == DumpForm::Today) out += "  (none)\n";
  out += " from instruction: " + picture.instruction_of(value).text;
  if (form == DumpForm::Today) out += '\n';
}

int64_t bytes_of_all(const MemoryPicture& picture) {
  int64_t out = 0;
  for (const PictureAllocation& allocation : picture.allocations)
    out = add_bytes(out, allocation.bytes);
  return out;
}

// Without stack traces and running sums, and the values at the peak in the order of their numbers.
std::string older_live_range_text(const MemoryPicture& picture) {
  std::string out =
      fmt::format("HloLiveRange (max {}):\n  InstructionSequence:\n", picture.sequence.size());
  for (size_t i = 0; i < picture.sequence.size(); ++i)
    out += fmt::format("    {}:{}\n", i, picture.instructions[picture.sequence[i]].name);
  out += "  BufferLiveRange:\n";
  const std::vector<size_t> values = placed_values(picture);
  for (const size_t i : values) {
    const PictureValue& value = picture.values[i];
    if (value.has_range())
      out += fmt::format("    {}{}:{}-{}\n", picture.instruction_of(value).name,
                         text_of_index(value.defined.index), value.start, value.end);
  }
  const auto& peak = picture.unpadded_peak;
  out += fmt::format("  Live ranges at {} (peak):\n", peak.moment);
  for (const size_t i : values)
    if (std::find(peak.values.begin(), peak.values.end(), i) != peak.values.end())
      out += fmt::format("    {}: {} bytes\n", picture.name_of(picture.values[i]),
                         picture.values[i].unpadded_bytes);
  return out;
}

}  // namespace

std::string values_text(const MemoryPicture& picture, DumpForm form) {
  const int64_t bytes = bytes_of_all(picture);
  std::string out =
      fmt::format("\nTotal bytes used: {} ({})\n\nUsed values:\n", bytes, human_bytes(bytes));
  for (const size_t i : placed_values(picture)) append_value(out, picture, picture.values[i], form);
  return out;
}

std::string older_dump_text(const MemoryPicture& picture) {
  std::string out = buffer_assignment_text(picture) + values_text(picture, DumpForm::Older);
  if (!picture.sequence.empty()) out += "\n\n" + older_live_range_text(picture);
  return out;
}

}  // namespace hilo
