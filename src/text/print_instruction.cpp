// One instruction: `%name = shape op(operands), attributes`, the attributes in the order of their
// struct's field list, then those that any instruction may have.
#include <algorithm>

#include "text/print.h"

namespace hilo {
namespace {

constexpr int64_t max_shown_elements = 10;

bool is_large(const Literal& literal) {
  return literal.shape().is_tuple() || literal.count() > max_shown_elements;
}

// What XLA leaves out besides defaults.
template <class T>
bool says_nothing(const T&) {
  return false;
}
bool says_nothing(const Precisions& value) {
  return std::all_of(value.begin(), value.end(),
                     [](Precision precision) { return precision == Precision::Default; });
}

template <class A>
void append_fields(Printer& printer, const A& values) {
  [[maybe_unused]] static const A defaults;
  const auto append = [&](const auto& field) {
    const auto& value = values.*field.member;
    if (field.presence == Presence::Optional)
      if (value == defaults.*field.member || says_nothing(value)) return;
    printer.text(", ").text(field.name).text("=");
    printer.value(value);
  };
  std::apply([&](const auto&... field) { (append(field), ...); }, A::fields());
}

// Their text stands between the parentheses.
void append_fields(Printer&, const ParameterAttributes&) {}
void append_fields(Printer&, const ConstantAttributes&) {}

}  // namespace

void Printer::operands(const Instruction& instruction) {
  if (instruction.op == Op::Parameter)
    return void(integer(module_->attributes<ParameterAttributes>(instruction).number));
  if (instruction.op == Op::Constant) {
    const LiteralRef& value = module_->attributes<ConstantAttributes>(instruction).literal;
    if (!value.literal) return;
    if (value.elided || (!style_.large_constants && is_large(*value.literal))) text("{...}");
    else literal(*value.literal);
    return;
  }
  const auto operands = module_->operands(instruction);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i > 0) text(", ");
    index_comment(i);
    const Instruction& operand = (*module_)[operands[i]];
    if (style_.operand_shape) shape(operand.shape).text(" ");
    name(operand.name);
  }
}

void Printer::attributes(const Instruction& instruction) {
  if (!instruction.attributes) return;
  if (const Instruction* hidden = sugared(instruction)) {
    if (instruction.op != Op::AsyncStart) return;
    async_attributes(instruction, true);
    return attributes(*hidden);
  }
  visit_attributes_type(instruction.op, [&]<class A>(std::type_identity<A>) {
    if constexpr (std::is_same_v<A, AsyncAttributes>) async_attributes(instruction, false);
    else append_fields(*this, module_->attributes<A>(instruction));
  });
}

// What async-update and async-done have from their start is not said again.
void Printer::async_attributes(const Instruction& instruction, bool sugar) {
  AsyncAttributes shown = module_->attributes<AsyncAttributes>(instruction);
  const auto operands = module_->operands(instruction);
  if (instruction.op != Op::AsyncStart && !operands.empty()) {
    const Instruction& start = (*module_)[operands[0]];
    if (info(start.op).attributes == info(Op::AsyncStart).attributes) {
      const auto& from = module_->attributes<AsyncAttributes>(start);
      if (shown.calls == from.calls && shown.async_execution_thread == from.async_execution_thread)
        shown.calls = {}, shown.async_execution_thread.clear();
    }
  }
  if (sugar) shown.calls = {};
  append_fields(*this, shown);
}

void Printer::instruction(const Instruction& instruction) {
  name(instruction.name).text(" = ").shape(instruction.shape).text(" ");
  if (const Instruction* hidden = sugared(instruction)) {
    const std::string_view async = text_of(instruction.op);  // async-start and the like
    text(text_of(hidden->op)).text(async.substr(async.find('-')));
  } else {
    text(text_of(instruction.op));
  }
  text("(");
  operands(instruction);
  text(")");
  attributes(instruction);
  common_attributes(instruction);
}

void Printer::common_attributes(const Instruction& instruction) {
  const Extra& extra = module_->extra(instruction);
  if (!extra.parameter_replication.empty()) {
    text(", parameter_replication={");
    list(extra.parameter_replication, ",", [&](bool flag) { value(flag); }).text("}");
  }
  if (extra.sharding) {
    text(", sharding=");
    sharding(*extra.sharding);
  }
  if (!extra.frontend_attributes.empty()) {
    text(", frontend_attributes=");
    frontend_attributes(extra.frontend_attributes);
  }
  if (!extra.control_predecessors.empty()) {
    text(", control-predecessors={");
    list(extra.control_predecessors, ", ", [&](InstructionId id) { name((*module_)[id].name); });
    text("}");
  }
  if (!extra.statistics.empty()) text(", statistics=").text(extra.statistics);
  if (!extra.result_accuracy.empty()) text(", result_accuracy=").text(extra.result_accuracy);
  late_attributes(instruction, extra);
}

void Printer::late_attributes(const Instruction& instruction, const Extra& extra) {
  if (!extra.origin.empty()) text(", origin=").text(extra.origin);
  if (style_.metadata) metadata(module_->metadata_of(instruction));
  if (style_.backend_config && !extra.backend_config.empty()) {
    text(", backend_config=");
    if (extra.backend_config_is_json) text(extra.backend_config);
    else quoted(extra.backend_config);
  }
  for (const auto& [name, value] : extra.unknown) text(", ").text(name).text("=").text(value);
}

void Printer::metadata(const Metadata& metadata) {
  if (metadata == Metadata()) return;
  text(", metadata={");
  bool first = true;
  const auto key = [&](std::string_view name) {
    if (!first) text(" ");
    first = false;
    text(name);
  };
  const auto string = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) key(name), quoted(value);
  };
  const auto number = [&](std::string_view name, int64_t value) {
    if (value != 0) key(name), integer(value);
  };
  string("op_type=", metadata.op_type);
  string("op_name=", metadata.op_name);
  string("source_file=", metadata.source_file);
  number("source_line=", metadata.source_line);
  number("source_end_line=", metadata.source_end_line);
  number("source_column=", metadata.source_column);
  number("source_end_column=", metadata.source_end_column);
  if (!metadata.profile_type.empty()) key("profile_type="), text(metadata.profile_type);
  string("deduplicated_name=", metadata.deduplicated_name);
  string("scheduling_name=", metadata.scheduling_name);
  number("stack_frame_id=", metadata.stack_frame_id);
  string("metadata_payload=", metadata.metadata_payload);
  if (!metadata.unknown.empty()) key(metadata.unknown);
  text("}");
}

}  // namespace hilo
