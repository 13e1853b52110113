// A log of several failures holds several out-of-memory messages, and each one of them often twice:
// as a logger writes it, and as the exception that ends the program. A status with another first
// figure is another message; what an allocator writes before its status belongs to that.
#include "report/message_sentences.h"

namespace hilo {
namespace {

bool is_status(std::string_view line) {
  for (const std::string_view word : {"RESOURCE_EXHAUSTED", "Resource exhausted: "})
    if (line.contains(word)) return true;
  return line.contains("Ran out of memory in memory space ");
}

bool is_attempt(std::string_view line) {
  return line.contains("Allocator (") && line.contains(") ran out of memory trying to allocate ");
}

// The first word with a digit behind the status, there or in the lines that follow.
std::string first_figure(std::span<const MessageText::Line> lines) {
  constexpr size_t max_lines = 4;
  for (const MessageText::Line& line : lines.first(std::min(lines.size(), max_lines))) {
    std::string_view text = line.text;
    if (&line == &lines.front())
      for (const std::string_view word : {"RESOURCE_EXHAUSTED", "Resource exhausted: "})
        if (const size_t at = text.find(word); at != std::string_view::npos)
          text.remove_prefix(at + word.size());
    const size_t digit = text.find_first_of("0123456789");
    if (digit == std::string_view::npos) continue;
    text.remove_prefix(digit);
    return std::string(text.substr(0, text.find_first_of(" ,;)")));
  }
  return "";
}

// Numbers of the lines, from 1, at which messages after the first one begin.
std::vector<int64_t> beginnings(const DumpText& dump) {
  const MessageText text(dump);
  const std::span<const MessageText::Line> lines = text.lines();
  std::vector<int64_t> out;
  std::string figure;
  bool has_status = false;
  int64_t attempt = 0;  // the first one since the last status
  for (size_t i = 0; i < lines.size(); ++i) {
    if (is_attempt(lines[i].text) && attempt == 0) attempt = lines[i].number;
    if (!is_status(lines[i].text)) continue;
    const std::string now = first_figure(lines.subspan(i));
    const bool is_other = has_status && !now.empty() && now != figure;
    if (is_other) out.push_back(attempt > 0 ? attempt : lines[i].number);
    if (!has_status || is_other) figure = now;
    has_status = true;
    attempt = 0;
  }
  return out;
}

// From one line on, and from where it begins in the text.
struct Beginning {
  int64_t line = 1;
  size_t offset = 0;
};
std::vector<Beginning> located(std::string_view text, const std::vector<int64_t>& lines) {
  std::vector<Beginning> out;
  Beginning at;
  for (const int64_t line : lines) {
    for (; at.line < line && at.offset < text.size(); ++at.line)
      at.offset = std::min(text.find('\n', at.offset), text.size() - 1) + 1;
    out.push_back(at);
  }
  return out;
}

}  // namespace

std::vector<DumpText> split_messages(const DumpText& dump) {
  std::vector<DumpText> out;
  Beginning start;
  std::vector<Beginning> starts = located(dump.text, beginnings(dump));
  starts.push_back({0, dump.text.size()});
  for (const Beginning& next : starts) {
    const std::string_view part = dump.text.substr(start.offset, next.offset - start.offset);
    const bool is_last = next.offset == dump.text.size();
    if (!has_message(part) && !(is_last && out.empty())) {
      if (is_last) out.back().text = dump.text.substr(out.back().text.data() - dump.text.data());
      continue;
    }
    out.push_back({dump.file, part, start.line});
    start = next;
  }
  return out;
}

}  // namespace hilo
