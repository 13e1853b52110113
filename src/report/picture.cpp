#include "report/picture.h"

#include <algorithm>
#include <unordered_map>

namespace hilo {

int64_t add_bytes(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

int64_t round_up_bytes(int64_t bytes, int64_t alignment) {
  if (alignment <= 1) return bytes;
  const int64_t rest = bytes % alignment;
  return rest == 0 ? bytes : add_bytes(bytes, alignment - rest);
}

std::string human_bytes(int64_t bytes) {
  if (bytes < 1024) return fmt::format("{}B", bytes);
  if (bytes >= uncountable_bytes) return "more than 1 EiB";
  static constexpr std::string_view units = "KMGTPE";
  size_t unit = 0;
  while (bytes >= 1024 * 1024 && unit + 1 < units.size()) bytes /= 1024, ++unit;
  return fmt::format("{:.{}f}{}iB", static_cast<double>(bytes) / 1024, unit == 0 ? 1 : 2,
                     units[unit]);
}

std::string text_of_index(const Dims& index) {
  std::string out = "{";
  for (size_t i = 0; i < index.size(); ++i) {
    if (i > 0) out += ',';
    out += std::to_string(index[i]);
  }
  return out + '}';
}

int64_t MemoryMessage::part(std::string_view name) const {
  for (const Part& one : parts)
    if (one.name == name) return one.bytes;
  return -1;
}

std::string MemoryPicture::name_of(const PictureValue& value) const {
  const std::string& name = instruction_of(value).name;
  return value.defined.has_index ? name + text_of_index(value.defined.index) : name;
}

std::string source_text(const PictureInstruction& instruction) {
  if (instruction.source_file.empty()) return "";
  return fmt::format("{}:{}", instruction.source_file, instruction.source_line);
}

std::string MemoryPicture::source_of(const PictureValue& value) const {
  return source_text(instruction_of(value));
}

std::string label_of(const MemoryPicture& picture, const PictureValue& value) {
  return fmt::format("<{} {}{} @{}>", value.number, picture.name_of(value),
                     value.is_phi ? " (phi)" : "", value.space);
}

// Of two values in one place: the one that is alive, of those the larger one.
static bool stands_before(const PictureValue& a, const PictureValue& b, int64_t moment) {
  const bool alive_a = a.start <= moment && moment <= a.end;
  const bool alive_b = b.start <= moment && moment <= b.end;
  return std::pair(alive_a, a.bytes) > std::pair(alive_b, b.bytes);
}

static bool lie_over_each_other(const PictureValue& a, const PictureValue& b) {
  return a.offset == b.offset ||
         (a.offset < add_bytes(b.offset, b.bytes) && b.offset < add_bytes(a.offset, a.bytes));
}

std::vector<size_t> values_at(const MemoryPicture& picture, int64_t moment, int64_t space) {
  std::unordered_map<size_t, std::vector<size_t>> of_buffer;
  for (size_t i = 0; i < picture.values.size(); ++i) {
    const PictureValue& value = picture.values[i];
    if (value.space != space || value.allocation == PictureValue::no_allocation) continue;
    const PictureAllocation& allocation = picture.allocations[value.allocation];
    const bool alive = value.start <= moment && moment <= value.end;
    if (!allocation.is_thread_local && (allocation.is_always_there() || alive))
      of_buffer[value.buffer].push_back(i);
  }
  std::vector<size_t> out;
  for (auto& [buffer, values] : of_buffer) {
    std::stable_sort(values.begin(), values.end(), [&](size_t a, size_t b) {
      return stands_before(picture.values[a], picture.values[b], moment);
    });
    std::vector<size_t> shown;
    for (const size_t v : values)
      if (std::none_of(shown.begin(), shown.end(), [&](size_t other) {
            return lie_over_each_other(picture.values[v], picture.values[other]);
          }))
        shown.push_back(v);
    out.insert(out.end(), shown.begin(), shown.end());
  }
  sort_by_size(picture, out);
  return out;
}

void sort_by_size(const MemoryPicture& picture, std::vector<size_t>& values) {
  std::sort(values.begin(), values.end(), [&](size_t a, size_t b) {
    const PictureValue &x = picture.values[a], &y = picture.values[b];
    if (x.bytes != y.bytes) return x.bytes > y.bytes;
    return std::pair(picture.name_of(x), a) < std::pair(picture.name_of(y), b);
  });
}

}  // namespace hilo
