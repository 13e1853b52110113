// A memory usage report: exact totals of spaces; allocations and what lies in them as rounded
// sizes, without names and times.
#include "report/dump_reading.h"

namespace hilo {
namespace {

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

class MemoryUsage {
 public:
  MemoryUsage(DumpLines& lines, DumpContents& contents) : lines_(lines), contents_(contents) {}

  void read() {
    for (; !lines_.done(); lines_.advance()) {
      const std::string_view line = lines_.line();
      if (line.starts_with("Memory Space: ")) begin_space(line);
      else if (line.starts_with("Total bytes: ")) read_total(line.substr(13));
      else if (line.starts_with("  cumulative_size;")) begin_allocation();
      else if (line.starts_with("  ---")) continue;
      else if (line.starts_with("  The rest ")) hides_rest_ = true;
      else if (line.starts_with("  ")) read_row(line);
      else if (!line.empty()) break;
    }
    end_space();
  }

 private:
  void begin_space(std::string_view line) {
    end_space();
    const size_t at = line.rfind("(color=");
    DumpCursor cursor{at == std::string_view::npos ? "" : line.substr(at + 7)};
    space_ = cursor.number();
    place_ = lines_.place();
    if (!space_ || !cursor.eat(")"))
      contents_.fault(lines_.error("expected \"Memory Space: NAME (color=NUMBER)\""));
    hides_rest_ = false;
    sum_ = rounding_ = tables_ = 0;
  }

  void read_total(std::string_view text) {
    DumpCursor cursor{text};
    const auto bytes = cursor.number();
    if (!bytes || *bytes > max_bytes)
      return contents_.fault(lines_.error("expected \"Total bytes: NUMBER\""));
    if (!space_) return;
    if (!contents_.totals.emplace(*space_, DumpContents::Stated{*bytes, lines_.place()}).second)
      contents_.fault(lines_.error(fmt::format("color {} has a second total", *space_)));
  }

  void begin_allocation() {
    end_allocation();
    PictureAllocation& allocation = contents_.picture.allocations.emplace_back();
    allocation.number = static_cast<int64_t>(contents_.picture.allocations.size()) - 1;
    allocation.space = space_.value_or(0);
    contents_.allocation_locations.push_back(lines_.place());
    in_allocation_ = true;
    ++tables_;
  }

  // "    96.0KiB(100%);    96.0KiB;            0;                1; s8[256,384]"
  void read_row(std::string_view line) {
    DumpCursor cursor{line};
    const auto cumulative = cursor.until("(");
    const auto share = cursor.until(";"), size = cursor.until(";"), offset = cursor.until(";");
    const auto count = cursor.until(";");
    std::optional<int64_t> bytes, place;
    if (count) {
      bytes = read_human_bytes(trimmed(*size));
      place = DumpCursor{trimmed(*offset)}.number();
    }
    if (!cumulative || !share || !bytes || !place || *place > max_bytes || !in_allocation_)
      return contents_.fault(
          lines_.error("expected \"CUMULATIVE(SHARE%); SIZE; OFFSET; VALUES; SHAPES\""));
    PictureValue value;
    value.defined.instruction = contents_.instruction(fmt::format("line {}", lines_.place().line));
    value.shape = trimmed(cursor.rest);
    value.bytes = *bytes;
    value.offset = *place;
    value.allocation = contents_.picture.allocations.size() - 1;
    PictureAllocation& allocation = contents_.picture.allocations.back();
    value.space = allocation.space;
    allocation.values.push_back(contents_.picture.values.size());
    allocation_rounding_ = std::max(allocation_rounding_, rounding_of(trimmed(*size)));
    contents_.picture.values.push_back(std::move(value));
  }

  void end_allocation() {
    if (!in_allocation_) return;
    in_allocation_ = false;
    PictureAllocation& allocation = contents_.picture.allocations.back();
    for (const size_t i : allocation.values) {
      const PictureValue& value = contents_.picture.values[i];
      allocation.bytes = std::max(allocation.bytes, value.offset + value.bytes);
    }
    sum_ = add_bytes(sum_, allocation.bytes);
    rounding_ = add_bytes(rounding_, allocation_rounding_);
    allocation_rounding_ = 0;
  }

  // The sizes are rounded, so their sum may be off by as much as they are.
  void end_space() {
    end_allocation();
    if (!space_) return;
    const auto total = contents_.totals.find(*space_);
    if (total == contents_.totals.end())
      contents_.fault({ErrorKind::Format, "this space has no \"Total bytes\"", place_});
    else if (!hides_rest_ && tables_ <= max_tables &&
             std::abs(total->second.bytes - sum_) > rounding_)
      contents_.fault({ErrorKind::Format,
                       fmt::format("the allocations add up to about {}, not to {} bytes: some are "
                                   "missing, or the file was cut",
                                   human_bytes(sum_), total->second.bytes),
                       total->second.place});
    space_.reset();
  }

  DumpLines& lines_;
  DumpContents& contents_;
  std::optional<int64_t> space_;
  Place place_;
  bool in_allocation_ = false, hides_rest_ = false;
  static constexpr int64_t max_tables = 50;  // of a space; XLA leaves out small ones after that
  int64_t sum_ = 0, rounding_ = 0, allocation_rounding_ = 0, tables_ = 0;
};

}  // namespace

void read_memory_usage(DumpLines& lines, DumpContents& contents) {
  MemoryUsage(lines, contents).read();
}

}  // namespace hilo
