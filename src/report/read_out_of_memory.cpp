// What the compilers and runtimes say when memory runs out: sentences, totals, rounded, and the
// largest buffers. TPU: "Largest program allocations in hbm:", GPU: "Peak buffers:". A log may hold
// them several times; the first list of a memory space counts.
#include <set>

#include "report/message_sentences.h"

namespace hilo {
namespace {

class BufferLists {
 public:
  BufferLists(const MessageText& text, DumpContents& contents)
      : text_(text), contents_(contents), space_(contents.picture.message->space) {}

  void read() {
    for (const MessageText::Line& line : text_.lines()) read_line(line);
    end_buffer();
  }

 private:
  void read_line(const MessageText::Line& line) {
    line_ = &line;
    DumpCursor cursor{line.text};
    if (cursor.eat("Largest program allocations in ")) return begin_list(cursor.rest);
    if (cursor.eat("Peak buffers:")) return begin_list("hbm");
    if (read_numbered(cursor)) return;
    if (buffer_) return read_field(line.text);
    for (const auto& [text, mark] : stated_parts)
      if (cursor.eat(text)) return add_part(cursor.rest, mark, text);
  }

  void begin_list(std::string_view name) {
    end_buffer();
    space_ = space_of_name(name.substr(0, name.find_first_of(": ")), contents_);
    is_repeated_ = !lists_.insert(space_).second;
  }

  // "1. Size: 32.00G" or "Buffer 1:", which the line "Size: 3.40GiB" follows.
  bool read_numbered(DumpCursor cursor) {
    const bool named = cursor.eat("Buffer ");
    const auto number = cursor.number();
    if (!number) return false;
    cursor.eat("\\");
    if (named ? cursor.rest != ":" : !cursor.eat(". Size: ")) return false;
    end_buffer();
    buffer_.emplace();
    buffer_->space = space_;
    instruction_ = {};
    instruction_.name = fmt::format("buffer {}", *number);
    if (!named) read_size(cursor.rest);
    return true;
  }

  void read_size(std::string_view text) {
    if (const auto bytes = read_human_bytes(text)) buffer_->bytes = *bytes;
    else
      contents_.fault(text_.error(line_->number, fmt::format("expected a size, found {}", text)));
  }

  void read_field(std::string_view line) {
    DumpCursor cursor{line};
    if (line.starts_with("====")) return end_buffer();
    if (cursor.eat("Size: ")) return read_size(cursor.rest);
    if (cursor.eat("Unpadded size: "))
      buffer_->unpadded_bytes = read_human_bytes(cursor.rest).value_or(-1);
    else if (cursor.eat("Extra memory due to padding: ")) padding_ = cursor.rest;
    else if (cursor.eat("Shape: ")) buffer_->shape = cursor.rest;
    else if (cursor.eat("Allocation type: ") || cursor.eat("Tag: ")) buffer_->kind = cursor.rest;
    else if (cursor.eat("Entry Parameter Subshape: ")) {
      buffer_->shape = cursor.rest;
      instruction_.op = "parameter";
    } else if (cursor.eat("Operator: ")) {
      describe_operator(cursor.rest);
    } else if (cursor.eat("XLA label: ") || cursor.eat("XLA Label: ")) {
      read_label_line(cursor.rest);
    }
  }

  void describe_operator(std::string_view text) {
    PictureInstruction described;
    describe_instruction(described, fmt::format("x = x x(), metadata={{{}}}", text));
    instruction_.op_name = described.op_name;
    instruction_.source_file = described.source_file;
    instruction_.source_line = described.source_line;
  }

  // "%copy.4 = f32[8] copy(...)", "copy.4 = copy(...)", a text about it, or the op alone.
  void read_label_line(std::string_view text) {
    const size_t end = text.find(" = ");
    if (end == std::string_view::npos) {
      const bool is_op = text.find(' ') == std::string_view::npos;
      (is_op ? instruction_.op : instruction_.text) = text;
      return;
    }
    PictureInstruction described;
    describe_instruction(described, text);
    instruction_.op = described.op;
    instruction_.text = described.text;
    if (instruction_.op.empty()) {
      const std::string_view call = text.substr(end + 3);
      if (const size_t open = call.find('('); open != std::string_view::npos)
        instruction_.op = call.substr(0, open);
    }
    if (instruction_.op_name.empty()) instruction_.op_name = described.op_name;
    instruction_.name = text.substr(0, end);
    if (instruction_.name.starts_with('%')) instruction_.name.erase(0, 1);
  }

  // The unpadded size is of the array; what an instruction takes beside it is no padding.
  void end_buffer() {
    if (buffer_ && !is_repeated_) {
      MemoryPicture& picture = contents_.picture;
      buffer_->defined.instruction = picture.instructions.size();
      contents_.instruction_of_name.emplace(instruction_.name, picture.instructions.size());
      picture.instructions.push_back(std::move(instruction_));
      take_padding();
      picture.values.push_back(std::move(*buffer_));
    }
    buffer_.reset();
    padding_.clear();
  }

  void take_padding() {
    const auto padding = read_human_bytes(padding_.substr(0, padding_.find(' ')));
    if (padding && buffer_->unpadded_bytes >= 0)
      buffer_->array_bytes = add_bytes(buffer_->unpadded_bytes, *padding);
    else if (buffer_->unpadded_bytes >= 0) buffer_->array_bytes = buffer_->unpadded_bytes;
  }

  // Allocations without values stand for the totals that the message states.
  void add_part(std::string_view text, bool PictureAllocation::* mark, std::string_view what) {
    if (!stated_.insert(what).second) return;
    const size_t start = text.find_first_not_of(' ');
    const std::string_view size = start == std::string_view::npos ? "" : text.substr(start);
    const auto bytes = read_human_bytes(size);
    if (!bytes)
      return contents_.fault(
          text_.error(line_->number, fmt::format("expected a size after {}", what)));
    PictureAllocation allocation;
    allocation.number = static_cast<int64_t>(contents_.picture.allocations.size());
    allocation.bytes = *bytes;
    MemoryMessage& message = *contents_.picture.message;
    allocation.space = message.space;
    if (!what.starts_with("HLO"))
      message.parts.push_back({std::string(what.substr(0, what.find(" allocation"))), *bytes});
    if (mark) allocation.*mark = true;
    else allocation.parameter = 0;
    contents_.picture.allocations.push_back(std::move(allocation));
    Place place;
    place.line = line_->number;
    contents_.allocation_locations.push_back(place);
  }

  static constexpr std::pair<std::string_view, bool PictureAllocation::*> stated_parts[] = {
      {"parameter allocation:", nullptr},
      {"constant allocation:", &PictureAllocation::is_constant},
      {"maybe_live_out allocation:", &PictureAllocation::is_live_out},
      {"preallocated temp allocation:", &PictureAllocation::is_temp},
      {"HLO temp ", &PictureAllocation::is_temp},
  };

  const MessageText& text_;
  DumpContents& contents_;
  int64_t space_ = 0;
  bool is_repeated_ = false;
  std::set<int64_t> lists_;
  std::set<std::string_view> stated_;
  const MessageText::Line* line_ = nullptr;
  std::optional<PictureValue> buffer_;
  PictureInstruction instruction_;
  std::string padding_;
};

// An instruction that a sentence names stands for what it asks of memory.
void add_scoped_value(DumpContents& contents) {
  MemoryPicture& picture = contents.picture;
  const MemoryMessage& message = *picture.message;
  if (!picture.values.empty() || message.scoped < 0 || picture.instructions.empty()) return;
  PictureValue& value = picture.values.emplace_back();
  value.kind = "scoped";
  value.bytes = message.scoped;
  value.space = message.space;
}

}  // namespace

void read_out_of_memory(const DumpText& dump, DumpContents& contents) {
  const MessageText text(dump);
  read_sentences(text, contents);
  BufferLists(text, contents).read();
  add_scoped_value(contents);
}

}  // namespace hilo
