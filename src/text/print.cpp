// Modules and computations, in the order of the file.
#include "text/print.h"

namespace hilo {

PrintStyle PrintStyle::xla2026() { return {}; }

PrintStyle PrintStyle::xla2024() {
  PrintStyle style;
  style.operand_shape = true;
  return style;
}

PrintStyle PrintStyle::compact() {
  PrintStyle style;
  style.percent = style.program_shape = style.metadata = style.index_comments = false;
  return style;
}

void Printer::parameter_list(const Computation& computation) {
  text("(").list(computation.parameters, ", ", [&](InstructionId id) {
    text((*module_)[id].name).text(": ");
    append_text(out_, module_->shape(id), false);
  });
  text(")");
  if (!computation.root) return;
  text(" -> ");
  append_text(out_, module_->shape(computation.root), false);
}

void Printer::computation(ComputationId id) {
  const Computation& computation = (*module_)[id];
  if (id == module_->entry) text("ENTRY ");
  name(computation.name).text(" ");
  if (style_.program_shape) {
    parameter_list(computation);
    text(" ");
  }
  text("{\n");
  size_t count = 0;
  for (InstructionId member : computation.instructions) {
    const Instruction& instruction = (*module_)[member];
    if (instruction.removed) continue;
    ++count;
    text(member == computation.root ? "  ROOT " : "  ");
    this->instruction(instruction);
    text("\n");
  }
  text("}");
  if (computation.execution_thread != "main")
    text(", execution_thread=").quoted(computation.execution_thread);
  if (style_.name_after_brace && count > 5) text(" // ").text(computation.name);
  text("\n\n");
}

std::string print(const Module& module, const PrintStyle& style) {
  std::string out;
  out.reserve(module.source.size() + module.source.size() / 8);
  Printer printer(&module, style, out);
  printer.find_sugar();
  printer.header();
  printer.stack_frames();
  for (uint32_t i = 0; i < module.computations.size(); ++i)
    if (!printer.is_hidden({i})) printer.computation({i});
  return out;
}

std::string print(const Module& module, InstructionId instruction, const PrintStyle& style) {
  std::string out;
  Printer(&module, style, out).instruction(module[instruction]);
  return out;
}

}  // namespace hilo
