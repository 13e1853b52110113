// The first screen of an out-of-memory message: what ran out, by how much, and what takes it.
#include <algorithm>

#include "report/report_parts.h"

namespace hilo {
namespace {

using Source = MemoryMessage::Source;

std::string space_name(const MemoryPicture& picture) {
  for (const PictureSpace& space : picture.spaces)
    if (space.space == picture.message->space) return space.name;
  return "memory";
}

std::string_view subject(Source source) {
  static constexpr std::string_view texts[] = {"the TPU compiler", "the TPU runtime",
                                               "the GPU's runtime", "the host's runtime"};
  return texts[static_cast<size_t>(source)];
}

std::string excess(int64_t needed, int64_t limit) {
  return needed > limit ? fmt::format(", {} too much", human_bytes(needed - limit)) : "";
}

// "the program needs 63.80GiB of 30.75GiB, 33.05GiB too much"
std::string what_is_needed(const MemoryMessage& message) {
  if (message.scoped >= 0 && message.scoped_limit >= 0)
    return fmt::format("{} needs {} of scoped memory, the limit is {}{}",
                       message.task.empty() ? "an instruction" : message.task,
                       human_bytes(message.scoped), human_bytes(message.scoped_limit),
                       excess(message.scoped, message.scoped_limit));
  if (message.needed >= 0 && message.limit >= 0)
    return fmt::format("the program needs {} of {}{}", human_bytes(message.needed),
                       human_bytes(message.limit), excess(message.needed, message.limit));
  if (message.asked >= 0 && message.source == Source::TpuCompiler && message.limit >= 0)
    return fmt::format("one allocation of {} is more than all of it, {}",
                       human_bytes(message.asked), human_bytes(message.limit));
  return "";
}

std::string what_was_asked(const MemoryMessage& message) {
  if (message.asked < 0 || message.source == Source::TpuCompiler) return "";
  std::string out = fmt::format("{} asked for", human_bytes(message.asked));
  if (message.free >= 0) out += fmt::format(", {} free", human_bytes(message.free));
  if (message.in_use >= 0) out += fmt::format(", {} in use", human_bytes(message.in_use));
  if (message.in_use >= 0 && message.limit >= 0)
    out += fmt::format(" of {}", human_bytes(message.limit));
  if (message.largest_free > 0)
    out += fmt::format(", the largest free block {}", human_bytes(message.largest_free));
  return out;
}

std::string parts_table(const MemoryMessage& message, const ReportStyle& style) {
  TextTable table({{"size", TextTable::Side::Right}, {"what the message counts"}});
  for (const MemoryMessage::Part& part : message.parts)
    if (part.bytes > 0)
      table.add({human_bytes(part.bytes), (part.is_of_program ? "  " : "") + part.name});
  std::vector<MemoryMessage::Chunks> chunks = message.chunks;
  std::stable_sort(chunks.begin(), chunks.end(), [](const auto& a, const auto& b) {
    return static_cast<double>(a.bytes) * static_cast<double>(a.count) >
           static_cast<double>(b.bytes) * static_cast<double>(b.count);
  });
  chunks.resize(std::min(chunks.size(), static_cast<size_t>(std::max(style.rows, 0))));
  for (const MemoryMessage::Chunks& one : chunks) {
    int64_t bytes = 0;
    if (__builtin_mul_overflow(one.bytes, one.count, &bytes)) bytes = INT64_MAX;
    table.add({human_bytes(bytes),
               fmt::format("in use: {} of {}", counted(static_cast<size_t>(one.count), "block"),
                           human_bytes(one.bytes))});
  }
  return table.empty() ? "" : "\n" + table.text(2, static_cast<size_t>(style.width));
}

}  // namespace

std::string message_chapter(const MemoryPicture& picture, const ReportStyle& style) {
  const MemoryMessage& message = *picture.message;
  std::string out(subject(message.source));
  out[0] = 'T';
  out += fmt::format(" ran out of {}", space_name(picture));
  if (!message.allocator.empty()) out += fmt::format(" (allocator {})", message.allocator);
  if (!message.task.empty() && message.scoped < 0) out += " while " + message.task;
  std::string figures = what_is_needed(message);
  if (const std::string asked = what_was_asked(message); !asked.empty())
    figures += (figures.empty() ? "" : "; ") + asked;
  out = plain_text(out + (figures.empty() ? "" : ": " + figures)) + ".\n";
  if (message.remat_reached >= 0)
    out += fmt::format(
        "XLA computes values again already to save memory: down to {}, its goal was "
        "{}.\n",
        human_bytes(message.remat_reached), human_bytes(message.remat_goal));
  return out + parts_table(message, style);
}

}  // namespace hilo
