#include "report/dump_reading.h"

#include <charconv>
#include <cmath>

namespace hilo {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "2020-05-04 09:05:40.721: E 1578 xla_util.cc:76] text", "> text": the text.
std::string_view without_prefix(std::string_view line) {
  while (line.starts_with("> ")) line.remove_prefix(2);
  if (line.empty() || !(is_digit(line[0]) || (line.size() > 1 && is_digit(line[1])))) return line;
  const size_t mark = line.find("] ");
  if (mark == std::string_view::npos || mark > 150) return line;
  const std::string_view before = line.substr(0, mark);
  const size_t colon = before.rfind(':');
  const bool from_logger = colon != std::string_view::npos && colon > 3 &&
                           before.substr(0, colon).find(".cc") != std::string_view::npos;
  return from_logger ? line.substr(mark + 2) : line;
}

}  // namespace

DumpLines::DumpLines(const DumpText& dump)
    : rest_(dump.text), file_(dump.file), number_(dump.first_line - 1) {
  advance();
}

void DumpLines::advance() {
  done_ = rest_.empty();
  if (done_) return line_ = {}, void();
  const size_t end = rest_.find('\n');
  line_ = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  if (line_.ends_with('\r')) line_.remove_suffix(1);
  line_ = without_prefix(line_);
  ++number_;
}

Place DumpLines::place() const {
  Place out;
  out.file = file_;
  out.line = number_;
  out.column = 1;
  return out;
}

Error DumpLines::error(std::string message) const {
  return {ErrorKind::Format, std::move(message), place()};
}

bool DumpCursor::eat(std::string_view text) {
  if (!rest.starts_with(text)) return false;
  rest.remove_prefix(text.size());
  return true;
}

std::optional<int64_t> DumpCursor::number() {
  int64_t out = 0;
  if (rest.empty() || !is_digit(rest[0])) return std::nullopt;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), out);
  if (error != std::errc()) return std::nullopt;
  rest.remove_prefix(static_cast<size_t>(end - rest.data()));
  return out;
}

std::optional<std::string_view> DumpCursor::until(std::string_view end) {
  const size_t at = rest.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view out = rest.substr(0, at);
  rest.remove_prefix(at + end.size());
  return out;
}

std::optional<Dims> DumpCursor::index() {
  Dims out;
  if (!eat("{")) return std::nullopt;
  while (!eat("}")) {
    if (!out.empty() && !eat(",")) return std::nullopt;
    eat(" ");
    const auto element = number();
    if (!element) return std::nullopt;
    out.push_back(*element);
  }
  return out;
}

std::optional<DumpName> read_dump_name(std::string_view text) {
  DumpName out;
  const size_t brace = text.find('{');
  out.instruction = text.substr(0, brace);
  if (out.instruction.empty()) return std::nullopt;
  if (brace == std::string_view::npos) return out;
  DumpCursor cursor{text.substr(brace)};
  auto index = cursor.index();
  if (!index || !cursor.rest.empty()) return std::nullopt;
  out.has_index = true;
  out.index = std::move(*index);
  return out;
}

std::optional<DumpLabel> read_label(DumpCursor& cursor) {
  DumpLabel out;
  if (!cursor.eat("<")) return std::nullopt;
  const auto number = cursor.number();
  if (!number || !cursor.eat(" ")) return std::nullopt;
  out.number = *number;
  auto text = cursor.until(">");
  if (!text) return std::nullopt;
  if (const size_t at = text->find(" @"); at != std::string_view::npos) {
    DumpCursor color{text->substr(at + 2)};
    const auto space = color.number();
    if (!space || !color.rest.empty()) return std::nullopt;
    out.space = *space;
    *text = text->substr(0, at);
  }
  if (text->ends_with(" (phi)")) {
    out.is_phi = true;
    text->remove_suffix(6);
  }
  auto name = read_dump_name(*text);
  if (!name) return std::nullopt;
  out.name = std::move(*name);
  return out;
}

// A number, then B, K, M, G, T or P with or without "iB" after it.
static std::optional<std::pair<double, double>> number_and_unit(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !(number >= 0) || number > 1e15) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  static constexpr std::string_view units = "BKMGTP";
  const size_t unit = text.empty() ? 0 : units.find(text[0]);
  if (unit == std::string_view::npos) return std::nullopt;
  return std::pair(number, std::ldexp(1.0, static_cast<int>(10 * unit)));
}

std::optional<int64_t> read_human_bytes(std::string_view text) {
  const auto parts = number_and_unit(text);
  if (!parts) return std::nullopt;
  const double bytes = parts->first * parts->second;
  if (bytes > static_cast<double>(max_bytes)) return std::nullopt;
  return std::llround(bytes);
}

int64_t rounding_of(std::string_view human) {
  const auto parts = number_and_unit(human);
  if (!parts) return 0;
  const size_t point = human.find('.');
  if (point == std::string_view::npos) return parts->second > 1 ? std::llround(parts->second) : 0;
  size_t digits = 0;
  while (point + 1 + digits < human.size() && is_digit(human[point + 1 + digits])) ++digits;
  return std::llround(parts->second / std::pow(10.0, static_cast<double>(digits))) + 1;
}

size_t DumpContents::instruction(const std::string& name) {
  const auto [place, is_new] = instruction_of_name.emplace(name, picture.instructions.size());
  if (is_new) picture.instructions.emplace_back().name = name;
  return place->second;
}

void DumpContents::fault(Error error) {
  constexpr size_t most = 100;
  if (picture.faults.size() < most) picture.faults.push_back(std::move(error));
}

}  // namespace hilo
