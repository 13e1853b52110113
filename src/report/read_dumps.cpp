#include <algorithm>

#include "report/dump_reading.h"
#include "report/message_sentences.h"

namespace hilo {
namespace {

bool is_label(std::string_view line) {
  return line.size() > 1 && line[0] == '<' && line[1] >= '0' && line[1] <= '9';
}

void read_total(DumpLines& lines, DumpContents& contents) {
  DumpCursor cursor{lines.line()};
  cursor.eat("Total bytes used: ");
  if (const auto bytes = cursor.number())
    contents.total = DumpContents::Stated{*bytes, lines.place()};
  else contents.fault(lines.error("expected \"Total bytes used: NUMBER\""));
  lines.advance();
}

// A usage report beside an assignment has only totals to compare.
void compare_usage(DumpLines& lines, DumpContents& contents) {
  DumpContents usage;
  read_memory_usage(lines, usage);
  std::unordered_map<int64_t, int64_t> sums;
  for (const PictureAllocation& allocation : contents.picture.allocations)
    sums[allocation.space] = add_bytes(sums[allocation.space], allocation.bytes);
  for (Error& fault : usage.picture.faults) contents.fault(std::move(fault));
  for (const auto& [space, stated] : usage.totals)
    if (sums[space] != stated.bytes)
      contents.fault({ErrorKind::Format,
                      fmt::format("the usage report states {} bytes for color {}, the buffer "
                                  "assignment has {}",
                                  stated.bytes, space, sums[space]),
                      stated.place});
}

bool has_section(const DumpContents& contents, DumpKind kind) {
  return std::find(contents.kinds.begin(), contents.kinds.end(), kind) != contents.kinds.end();
}

void complain_of_second(DumpKind kind, const DumpLines& lines, DumpContents& contents) {
  contents.fault(
      lines.error(fmt::format("a second {} stands here; the first one counts", text_of(kind))));
}

void read_known_section(DumpKind kind, DumpLines& lines, DumpContents& contents) {
  contents.kinds.push_back(kind);
  if (kind == DumpKind::BufferAssignment) read_buffer_assignment(lines, contents);
  else if (kind == DumpKind::Values) read_used_values(lines, contents);
  else if (kind == DumpKind::LiveRange) read_live_range(lines, contents);
  else read_memory_usage(lines, contents);
}

// What dumps say, but usage reports, of which only the beginnings are kept: whether they tell the
// allocations or only repeat them is known when all else is read.
struct DumpSections {
  DumpContents contents;
  std::vector<DumpLines> usages;

  void read(const DumpText& dump);
  void read_usages();

 private:
  void read(DumpKind kind, DumpLines& lines);
  void read_message(const DumpText& dump);
};

void DumpSections::read(DumpKind kind, DumpLines& lines) {
  DumpContents ignored;
  if (kind == DumpKind::MemoryUsage) {
    usages.push_back(lines);
    return read_memory_usage(lines, ignored);
  }
  if (kind == DumpKind::Values || !has_section(contents, kind))
    return read_known_section(kind, lines, contents);
  complain_of_second(kind, lines, contents);
  read_known_section(kind, lines, ignored);
}

void DumpSections::read_usages() {
  for (DumpLines& lines : usages)
    if (has_section(contents, DumpKind::BufferAssignment)) compare_usage(lines, contents);
    else if (has_section(contents, DumpKind::MemoryUsage))
      complain_of_second(DumpKind::MemoryUsage, lines, contents);
    else read_known_section(DumpKind::MemoryUsage, lines, contents);
}

void DumpSections::read_message(const DumpText& dump) {
  contents.kinds.push_back(DumpKind::OutOfMemory);
  read_out_of_memory(dump, contents);
}

void DumpSections::read(const DumpText& dump) {
  gather_from_file_name(dump.file, contents.evidence);
  DumpLines lines(dump);
  if (dump_kind(dump.text) == DumpKind::OutOfMemory) return read_message(dump);
  bool complained = false;
  while (!lines.done()) {
    const auto section = section_of(lines.line());
    if (section) {
      read(*section, lines);
      complained = false;
    } else if (lines.line().starts_with("Total bytes used: ")) {
      read_total(lines, contents);
    } else {
      if (!lines.line().empty() && !complained) {
        contents.fault(lines.error("from here on nothing is understood, up to the next heading"));
        complained = true;
      }
      lines.advance();
    }
  }
}

}  // namespace

// Whether a message has any figure.
static bool says_something(const std::optional<MemoryMessage>& message) {
  if (!message) return false;
  return !message->allocator.empty() || message->needed >= 0 || message->asked >= 0 ||
         message->scoped >= 0 || message->in_use >= 0;
}

std::string_view text_of(DumpKind kind) {
  static constexpr std::string_view texts[] = {"buffer assignment", "value list", "live range",
                                               "memory usage report", "out-of-memory message"};
  return texts[static_cast<size_t>(kind)];
}

std::optional<DumpKind> section_of(std::string_view line) {
  if (line == "BufferAssignment:") return DumpKind::BufferAssignment;
  if (line == "Used values:" || is_label(line)) return DumpKind::Values;
  if (line.starts_with("HloLiveRange (max")) return DumpKind::LiveRange;
  if (line.starts_with("Memory Space: ")) return DumpKind::MemoryUsage;
  return std::nullopt;
}

std::optional<DumpKind> dump_kind(std::string_view text) {
  DumpLines lines({"", text});
  while (!lines.done() && lines.line().find_first_not_of(" \t") == std::string_view::npos)
    lines.advance();
  if (const auto section = section_of(lines.line())) return section;
  if (lines.line().starts_with("Total bytes used: ")) return DumpKind::Values;
  if (lines.line().starts_with("HloModule")) return std::nullopt;
  if (has_message(text)) return DumpKind::OutOfMemory;
  return std::nullopt;
}

namespace {

// Of one module's dumps, and of one message.
Result<MemoryPicture> read_picture(std::span<const DumpText> dumps, const DumpOptions& options) {
  DumpSections sections;
  DumpContents& contents = sections.contents;
  std::string names;
  for (const DumpText& dump : dumps) {
    sections.read(dump);
    names += (names.empty() ? "" : ", ") + dump.file;
    if (dump.first_line > 1) names += fmt::format(":{}", dump.first_line);
  }
  sections.read_usages();
  MemoryPicture& picture = contents.picture;
  if (picture.values.empty() && picture.allocations.empty() && contents.ranges.empty() &&
      contents.totals.empty() && !says_something(picture.message)) {
    if (!picture.faults.empty()) return std::unexpected(picture.faults.front());
    return fail(ErrorKind::Format, "{}: holds no allocation, no value and no live range", names);
  }
  picture.read_from = fmt::format("{}: {}", text_of(contents.kinds.front()), names);
  join_dumps(contents, options);
  return std::move(picture);
}

// What is left out of the messages behind the first one, or cannot be read, is a note.
void read_further(std::span<const DumpText> messages, const DumpOptions& options,
                  MemoryPicture& picture) {
  constexpr size_t max_messages = 20;
  const size_t count = std::min(messages.size(), max_messages);
  for (const DumpText& message : messages.first(count))
    if (auto one = read_picture({&message, 1}, options)) picture.further.push_back(std::move(*one));
    else picture.notes.push_back(to_string(one.error()));
  if (count < messages.size())
    picture.notes.push_back(counted(messages.size() - count, "further message") + " not read");
}

}  // namespace

Result<MemoryPicture> read_dumps(std::span<const DumpText> dumps, const DumpOptions& options) {
  std::vector<DumpText> sorted, messages;
  for (const DumpText& dump : dumps) {
    if (dump_kind(dump.text) != DumpKind::OutOfMemory) {
      sorted.push_back(dump);
      continue;
    }
    for (const DumpText& message : split_messages(dump)) messages.push_back(message);
  }
  // Assignments stand before what names values, and the first message behind both.
  std::ranges::stable_sort(sorted, {}, [](const DumpText& dump) { return dump_kind(dump.text); });
  size_t read = std::min<size_t>(1, messages.size());
  if (read > 0) sorted.push_back(messages.front());
  auto picture = read_picture(sorted, options);
  for (size_t next = 1; !picture && next < messages.size(); ++next) {
    sorted.back() = messages[next];
    picture = read_picture(sorted, options);
    read = next + 1;
  }
  if (picture) read_further(std::span(messages).subspan(read), options, *picture);
  return picture;
}

}  // namespace hilo
