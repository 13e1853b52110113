// What a module, or the HLO text of one instruction says about it. Its operands and computations
// are not at hand, so it is no module that the parser of `text` would read.
#include "report/dump_reading.h"

namespace hilo {
namespace {

// The end of a shape at the front of the text: of its parentheses, or of its array.
size_t end_of_shape(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c == ' ' && depth == 0) return i;
  }
  return text.size();
}

// The string after NAME=, without quotes and escapes; empty when there is none.
std::string string_field(std::string_view text, std::string_view name) {
  const size_t at = text.find(fmt::format("{}=\"", name));
  if (at == std::string_view::npos) return "";
  std::string out;
  for (size_t i = at + name.size() + 2; i < text.size() && text[i] != '"'; ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    out += text[i];
  }
  return out;
}

// File and line of a stack frame. Ids count from 1; the tables of a stranger may miss any.
std::pair<std::string, int64_t> source_of_frame(const StackFrameTables& tables, int64_t frame) {
  const auto at = [](const auto& table, int64_t id) {
    return id >= 1 && id <= static_cast<int64_t>(table.size()) ? &table[static_cast<size_t>(id) - 1]
                                                               : nullptr;
  };
  const auto* known = at(tables.frames, frame);
  const auto* location = known ? at(tables.locations, known->file_location_id) : nullptr;
  const auto* file = location ? at(tables.file_names, location->file_name_id) : nullptr;
  return file ? std::pair(*file, location->line) : std::pair(std::string(), int64_t{0});
}

}  // namespace

void describe_instruction(PictureInstruction& instruction, std::string_view text) {
  instruction.text = text;
  DumpCursor cursor{text};
  if (!cursor.until(" = ")) return;
  const size_t shape = end_of_shape(cursor.rest);
  cursor.rest.remove_prefix(shape);
  if (!cursor.eat(" ")) return;
  if (const auto op = cursor.until("("); op && op->find(' ') == std::string_view::npos)
    instruction.op = *op;
  const size_t metadata = cursor.rest.find("metadata={");
  if (metadata == std::string_view::npos) return;
  const std::string_view fields = cursor.rest.substr(metadata);
  instruction.op_name = string_field(fields, "op_name");
  instruction.source_file = string_field(fields, "source_file");
  if (const size_t line = fields.find("source_line="); line != std::string_view::npos)
    instruction.source_line = DumpCursor{fields.substr(line + 12)}.number().value_or(0);
}

void describe_instruction(PictureInstruction& instruction, const Module& module, InstructionId id) {
  const Instruction& from = module[id];
  const Metadata& metadata = module.metadata_of(from);
  instruction.op = text_of(from.op);
  instruction.op_name = metadata.op_name;
  instruction.computation = module[from.computation].name;
  instruction.source_file = metadata.source_file;
  instruction.source_line = metadata.source_line;
  if (instruction.source_file.empty() && metadata.stack_frame_id > 0)
    std::tie(instruction.source_file, instruction.source_line) =
        source_of_frame(module.header.stack_frames, metadata.stack_frame_id);
}

}  // namespace hilo
