#include "report/message_text.h"

#include <algorithm>

namespace hilo {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string_view trimmed(std::string_view text) {
  const size_t from = text.find_first_not_of(" \t"), to = text.find_last_not_of(" \t");
  return from == std::string_view::npos ? "" : text.substr(from, to - from + 1);
}

// Escape sequences of terminals, and the marks of text in bold.
std::string without_colours(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\033' && i + 1 < text.size() && text[i + 1] == '[') {
      while (i < text.size() && !is_letter(text[i])) ++i;
    } else if (text.substr(i).starts_with("**")) {
      ++i;
    } else if (static_cast<unsigned char>(text[i]) >= 32 || text[i] == '\t') {
      out += text[i];
    }
  }
  return out;
}

// "(worker pid=489, ip=10.0.0.1) text", "[3] text"
std::string_view without_worker(std::string_view text) {
  const std::string_view start = trimmed(text);
  const size_t open = start.find('('), end = start.find(") ");
  if (open != std::string_view::npos && open < 24 && end != std::string_view::npos &&
      start.substr(open, end - open).contains("pid="))
    return start.substr(end + 2);
  return text;
}

// Of an entry that was written behind another one. A number before it belongs to it.
constexpr std::string_view entries[] = {"Total hbm usage >=",
                                        "Output size ",
                                        "Program hbm requirement",
                                        "Program vmem requirement",
                                        "Program smem requirement",
                                        "Program sflag requirement",
                                        "Largest program allocations in ",
                                        ". Size: ",
                                        "Operator: ",
                                        "Shape: ",
                                        "Unpadded size: ",
                                        "Extra memory due to padding: ",
                                        "XLA label: ",
                                        "XLA Label: ",
                                        "Allocation type: ",
                                        "Tag: ",
                                        "=========="};

// Where the next entry after the beginning begins; npos: there is none.
size_t next_entry(std::string_view text) {
  size_t out = std::string_view::npos;
  for (const std::string_view entry : entries) {
    size_t at = text.find(entry, 1);
    if (entry == ". Size: " && at != std::string_view::npos)
      while (at > 0 && (is_digit(text[at - 1]) || text[at - 1] == '\\')) --at;
    if (at != 0) out = std::min(out, at);
  }
  return out;
}

}  // namespace

MessageText::MessageText(const DumpText& dump) : file_(dump.file) {
  for (DumpLines lines(dump); !lines.done(); lines.advance()) {
    const std::string clean = without_colours(lines.line());
    std::string_view rest = clean;
    const int64_t number = lines.place().line;
    // Ends of lines as a string of a program writes them.
    for (size_t at = 0; (at = rest.find("\\n")) != std::string_view::npos;) {
      add(rest.substr(0, at), number);
      rest.remove_prefix(at + 2);
    }
    add(rest, number);
  }
}

void MessageText::add(std::string_view text, int64_t number) {
  text = without_worker(text);
  const bool is_indented = text.starts_with(' ') || text.starts_with('\t');
  std::string_view rest = trimmed(text);
  do {
    const size_t end = next_entry(rest);
    const std::string_view line = trimmed(rest.substr(0, end));
    lines_.push_back({std::string(line), number, is_indented});
    if (!flat_.empty() && !line.empty()) flat_ += ' ';
    starts_.emplace_back(flat_.size(), number);
    for (const char c : line)
      if (c != ' ' && c != '\t') flat_ += c;
      else if (!flat_.empty() && flat_.back() != ' ') flat_ += ' ';
    rest = end == std::string_view::npos ? "" : trimmed(rest.substr(end));
  } while (!rest.empty());
}

Error MessageText::error(int64_t number, std::string message) const {
  Place place;
  place.file = file_, place.line = number, place.column = 1;
  return {ErrorKind::Format, std::move(message), place};
}

Place MessageText::where(size_t offset) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end(),
                                      std::pair(offset, std::numeric_limits<int64_t>::max()));
  return error(after == starts_.begin() ? 1 : std::prev(after)->second, "").place;
}

Error MessageText::error_at(size_t offset, std::string message) const {
  return {ErrorKind::Format, std::move(message), where(offset)};
}

namespace {

size_t length_of_number(std::string_view text) {
  return std::min(text.find_first_not_of("0123456789"), text.size());
}

// "1.5G", "12.00 GiB", "12 bytes", "12"
size_t length_of_size(std::string_view text) {
  size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  while (end > 0 && text[end - 1] == '.') --end;
  if (end == 0) return 0;
  size_t unit = end + (end < text.size() && text[end] == ' ' ? 1 : 0);
  if (text.substr(unit).starts_with("bytes")) return unit + 5;
  if (unit < text.size() && std::string_view("KMGTPB").contains(text[unit])) {
    size_t letters = unit + 1;
    while (letters < text.size() && (text[letters] == 'i' || text[letters] == 'B')) ++letters;
    if (letters == text.size() || !is_letter(text[letters])) return letters;
  }
  return end;
}

size_t length_of_word(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && !std::string_view(" ,;)]'\"\t").contains(text[end])) ++end;
  while (end > 0 && (text[end - 1] == '.' || text[end - 1] == ':')) --end;
  return end;
}

size_t length_of_text(std::string_view text, std::string_view next) {
  constexpr size_t most = 4000;
  const size_t end = next.empty() ? text.size() : text.substr(0, most).find(next);
  return end == std::string_view::npos ? 0 : end;
}

}  // namespace

std::optional<std::vector<std::string>> match_sentence(std::string_view text,
                                                       std::string_view pattern) {
  std::vector<std::string> out;
  while (!pattern.empty()) {
    const size_t hole = pattern.find('{');
    if (!text.starts_with(pattern.substr(0, hole))) return std::nullopt;
    if (hole == std::string_view::npos) break;
    text.remove_prefix(hole);
    const char kind = pattern[hole + 1];
    pattern.remove_prefix(hole + 3);
    const size_t length = kind == 'b'   ? length_of_size(text)
                          : kind == 'n' ? length_of_number(text)
                          : kind == 'w'
                              ? length_of_word(text)
                              : length_of_text(text, pattern.substr(0, pattern.find('{')));
    if (length == 0) return std::nullopt;
    out.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return out;
}

std::optional<FoundSentence> find_sentence(std::string_view text, std::string_view pattern,
                                           size_t from) {
  const std::string_view start = pattern.substr(0, pattern.find('{'));
  for (size_t at = from; (at = text.find(start, at)) != std::string_view::npos; ++at)
    if (auto words = match_sentence(text.substr(at), pattern))
      return FoundSentence{at, std::move(*words)};
  return std::nullopt;
}

}  // namespace hilo
