// What the compilers and runtimes say when memory runs out: totals, rounded, and the largest
// buffers. TPU: "Ran out of memory in memory space hbm. Used 41.74G of 16.00G hbm." with "Largest
// program allocations"; elsewhere "BufferAssignment OOM Debugging." with "Peak buffers".
#include "report/dump_reading.h"

namespace hilo {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t from = text.find_first_not_of(" \t"), to = text.find_last_not_of(" \t");
  return from == std::string_view::npos ? "" : text.substr(from, to - from + 1);
}

class OutOfMemory {
 public:
  OutOfMemory(DumpLines& lines, DumpContents& contents) : lines_(lines), contents_(contents) {}

  void read() {
    for (; !lines_.done(); lines_.advance()) read_line(trimmed(lines_.line()));
    end_buffer();
  }

 private:
  void read_line(std::string_view line) {
    DumpCursor cursor{line};
    if (cursor.until("Ran out of memory in memory space ")) return read_used(cursor);
    cursor.rest = line;
    if (read_numbered(cursor)) return;
    if (buffer_) return read_field(line);
    for (const auto& [text, mark] : stated_parts)
      if (cursor.eat(text)) return add_part(trimmed(cursor.rest), mark, text);
  }

  // "hbm. Used 41.74G of 16.00G hbm. Exceeded ..."
  void read_used(DumpCursor cursor) {
    const auto name = cursor.until(". Used "), used = cursor.until(" of "),
               limit = cursor.until(" ");
    const auto bytes = used ? read_human_bytes(*used) : std::nullopt;
    const auto limit_bytes = limit ? read_human_bytes(*limit) : std::nullopt;
    if (!name || !bytes || !limit_bytes)
      return contents_.fault(lines_.error("expected \"SPACE. Used SIZE of SIZE SPACE.\""));
    space_ = *name == "vmem" ? 1 : *name == "smem" ? 4 : 0;
    contents_.totals.insert_or_assign(space_, DumpContents::Stated{*bytes, lines_.place()});
    contents_.limit = DumpContents::Stated{*limit_bytes, lines_.place()};
  }

  // "1. Size: 32.00G" or "Buffer 1:", which the line "Size: 3.40GiB" follows.
  bool read_numbered(DumpCursor cursor) {
    const bool named = cursor.eat("Buffer ");
    const auto number = cursor.number();
    if (!number) return false;
    if (named ? cursor.rest != ":" : !cursor.eat(". Size: ")) return false;
    end_buffer();
    buffer_.emplace();
    buffer_->space = space_;
    buffer_->defined.instruction = contents_.picture.instructions.size();
    contents_.picture.instructions.emplace_back().name = fmt::format("buffer {}", *number);
    if (!named) read_size(cursor.rest);
    return true;
  }

  void read_size(std::string_view text) {
    if (const auto bytes = read_human_bytes(text)) buffer_->bytes = *bytes;
    else contents_.fault(lines_.error(fmt::format("expected a size, found {}", text)));
  }

  void read_field(std::string_view line) {
    PictureInstruction& instruction = contents_.picture.instructions[buffer_->defined.instruction];
    DumpCursor cursor{line};
    if (line.starts_with("====")) return end_buffer();
    if (cursor.eat("Size: ")) return read_size(cursor.rest);
    if (cursor.eat("Unpadded size: "))
      buffer_->unpadded_bytes = read_human_bytes(cursor.rest).value_or(-1);
    else if (cursor.eat("Shape: ")) buffer_->shape = cursor.rest;
    else if (cursor.eat("Entry Parameter Subshape: ")) {
      buffer_->shape = cursor.rest;
      instruction.op = "parameter";
    } else if (cursor.eat("Operator: ")) {
      PictureInstruction described;
      describe_instruction(described, fmt::format("x = x x(), metadata={{{}}}", cursor.rest));
      instruction.op_name = described.op_name;
      instruction.source_file = described.source_file;
      instruction.source_line = described.source_line;
    } else if (cursor.eat("XLA label: ") || cursor.eat("XLA Label: ")) {
      read_label_line(cursor.rest, instruction);
    }
  }

  // "%copy.4 = f32[8] copy(...)", or the op alone.
  void read_label_line(std::string_view text, PictureInstruction& instruction) {
    const size_t end = text.find(" = ");
    if (end == std::string_view::npos) {
      instruction.op = text;
      return;
    }
    PictureInstruction described;
    describe_instruction(described, text);
    instruction.op = described.op;
    instruction.text = described.text;
    std::string_view name = text.substr(0, end);
    if (name.starts_with('%')) name.remove_prefix(1);
    instruction.name = name;
  }

  void end_buffer() {
    if (!buffer_) return;
    contents_.picture.values.push_back(std::move(*buffer_));
    buffer_.reset();
  }

  // Allocations without values stand for the totals that the message states.
  void add_part(std::string_view text, bool PictureAllocation::* mark, std::string_view what) {
    const auto bytes = read_human_bytes(text);
    if (!bytes) return contents_.fault(lines_.error(fmt::format("expected a size after {}", what)));
    PictureAllocation allocation;
    allocation.number = static_cast<int64_t>(contents_.picture.allocations.size());
    allocation.bytes = *bytes;
    allocation.space = space_;
    if (mark) allocation.*mark = true;
    else allocation.parameter = 0;
    contents_.picture.allocations.push_back(std::move(allocation));
    contents_.allocation_places.push_back(lines_.place());
  }

  static constexpr std::pair<std::string_view, bool PictureAllocation::*> stated_parts[] = {
      {"parameter allocation:", nullptr},
      {"constant allocation:", &PictureAllocation::is_constant},
      {"maybe_live_out allocation:", &PictureAllocation::is_live_out},
      {"preallocated temp allocation:", &PictureAllocation::is_temp},
      {"HLO temp ", &PictureAllocation::is_temp},
  };

  DumpLines& lines_;
  DumpContents& contents_;
  int64_t space_ = 0;
  std::optional<PictureValue> buffer_;
};

}  // namespace

void read_out_of_memory(DumpLines& lines, DumpContents& contents) {
  OutOfMemory(lines, contents).read();
}

}  // namespace hilo
