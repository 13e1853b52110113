#include "report/dump_reading.h"

namespace hilo {
namespace {

class LiveRangeSection {
 public:
  LiveRangeSection(DumpLines& lines, DumpContents& contents) : lines_(lines), contents_(contents) {}

  void read() {
    DumpCursor header{lines_.line()};
    header.eat("HloLiveRange (max ");
    const auto last = header.number();
    if (!last || !header.eat("):"))
      contents_.fault(lines_.error("expected \"HloLiveRange (max NUMBER):\""));
    const Place place = lines_.place();
    for (lines_.advance(); !lines_.done() && lines_.line().starts_with("  "); lines_.advance())
      read_line(lines_.line());
    const auto count = static_cast<int64_t>(contents_.picture.sequence.size());
    if (last && *last != count)
      contents_.fault({ErrorKind::Format,
                       fmt::format("the schedule has {} instructions, \"max {}\" says otherwise: "
                                   "some are missing, or the file was cut",
                                   count, *last),
                       place});
  }

 private:
  enum class Part { None, Sequence, Ranges, Peak, StackTrace };

  void read_line(std::string_view line) {
    if (line == "  InstructionSequence:") part_ = Part::Sequence;
    else if (line == "  BufferLiveRange:") part_ = Part::Ranges;
    else if (line.starts_with("  Stack trace breakdown")) part_ = Part::StackTrace;
    else if (line.starts_with("  Live ranges at ")) begin_peak(line.substr(17));
    else if (part_ == Part::Sequence) read_moment(DumpCursor{line});
    else if (part_ == Part::Ranges) read_range(line);
    else if (part_ == Part::Peak) read_peak_value(line);
    else if (part_ != Part::StackTrace) contents_.fault(lines_.error("not understood"));
  }

  void read_moment(DumpCursor cursor) {
    auto& sequence = contents_.picture.sequence;
    std::optional<int64_t> moment;
    if (cursor.eat("    ")) moment = cursor.number();
    if (!moment || !cursor.eat(":") || cursor.rest.empty())
      return contents_.fault(lines_.error("expected \"MOMENT:INSTRUCTION\""));
    if (const auto expected = static_cast<int64_t>(sequence.size()); *moment != expected) {
      contents_.fault(lines_.error(
          fmt::format("expected the instruction of step {}, found that of {}: the schedule {}",
                      expected, *moment, *moment > expected ? "misses one" : "goes back")));
      constexpr int64_t max_missing = 1000;
      if (*moment < expected || *moment > expected + max_missing) return;
    }
    while (static_cast<int64_t>(sequence.size()) < *moment)
      schedule(fmt::format("(missing at {})", sequence.size()));
    schedule(std::string(cursor.rest));
  }

  void schedule(const std::string& name) {
    auto& sequence = contents_.picture.sequence;
    const size_t id = contents_.instruction(name);
    PictureInstruction& instruction = contents_.picture.instructions[id];
    if (instruction.moment >= 0)
      contents_.fault(lines_.error(fmt::format("{} is scheduled a second time", name)));
    else instruction.moment = static_cast<int64_t>(sequence.size());
    sequence.push_back(id);
  }

  // "    name{index}:start-end"
  void read_range(std::string_view line) {
    const size_t colon = line.rfind(':');
    std::optional<DumpName> name;
    if (line.starts_with("    ") && colon != std::string_view::npos)
      name = read_dump_name(line.substr(4, colon - 4));
    DumpCursor cursor{colon == std::string_view::npos ? "" : line.substr(colon + 1)};
    const auto start = cursor.number();
    const bool dash = cursor.eat("-");
    const auto end = cursor.number();
    if (!name || !start || !dash || !end || !cursor.rest.empty())
      return contents_.fault(lines_.error("expected \"VALUE{INDEX}:START-END\""));
    contents_.ranges.push_back({std::move(*name), {*start, *end}, lines_.place()});
  }

  void begin_peak(std::string_view text) {
    part_ = Part::Peak;
    DumpCursor cursor{text};
    const auto moment = cursor.number();
    if (!moment) return contents_.fault(lines_.error("expected \"Live ranges at STEP (peak):\""));
    contents_.peak = DumpContents::Peak{*moment, lines_.place(), {}};
  }

  // "    name{index}: BYTES bytes (cumulative: BYTES bytes)"
  void read_peak_value(std::string_view line) {
    const size_t colon = line.find(": ");
    std::optional<DumpName> name;
    if (line.starts_with("    ") && colon != std::string_view::npos)
      name = read_dump_name(line.substr(4, colon - 4));
    DumpCursor cursor{colon == std::string_view::npos ? "" : line.substr(colon + 2)};
    const auto bytes = cursor.number();
    if (!name || !bytes || *bytes > max_bytes || !cursor.eat(" bytes"))
      return contents_.fault(lines_.error("expected \"VALUE: BYTES bytes\""));
    if (contents_.peak) contents_.peak->values.emplace_back(std::move(*name), *bytes);
  }

  DumpLines& lines_;
  DumpContents& contents_;
  Part part_ = Part::None;
};

}  // namespace

void read_live_range(DumpLines& lines, DumpContents& contents) {
  LiveRangeSection(lines, contents).read();
}

}  // namespace hilo
