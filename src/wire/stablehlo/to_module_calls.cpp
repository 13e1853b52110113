// Calls of functions: call, and composites, which are the op that they are named after or a call of
// what they stand for.
#include "wire/stablehlo/handlers.h"

namespace hilo::mlir {

Result<void> convert_call(Step& step) {
  HILO_TRY(const std::string callee, step.text("callee"));
  HILO_TRY(const Converter::Function function, step.converter.function(callee, step.operands));
  if (function.results != step.result_count())
    return step.misfit("@{} gives {} results, not {}", callee, function.results,
                       step.result_count());
  CallAttributes attributes;
  attributes.to_apply = function.computation;
  HILO_TRY(const InstructionId value, step.add(Op::Call, step.operands, std::move(attributes)));
  return step.give(value);
}

Result<bool> convert_as(Step& step, std::string_view name, const Attribute* attributes) {
  const Row* row = find_row(name);
  if (row && row->operands < 0) return false;  // these have regions
  if (!row || (row->operands >= 0 && step.count() != static_cast<size_t>(row->operands)) ||
      (row->results >= 0 && step.result_count() != static_cast<size_t>(row->results)))
    return false;
  for (size_t i = 0; i < step.count(); ++i)
    if (!step.shape(i).is_array()) return false;
  std::set<std::string, std::less<>> asked;
  Step as{step.converter, step.scope,    step.operation, *row,
          step.origin,    step.operands, attributes,     &asked};
  HILO_DO(row->handler(as));
  if (attributes)
    for (const auto& field : attributes->fields)
      if (!asked.contains(field.first))
        step.warn("'{}' has no setting '{}': dropped", name, field.first);
  return true;
}

// Frontend attributes as XLA gives them to such a call.
static Result<void> describe_composite(Step& step, const std::string& name, InstructionId call) {
  FrontendAttributes& to = step.module().mutable_extra(call).frontend_attributes;
  std::string attributes = "{}";
  if (const Attribute* given = step.find("composite_attributes")) {
    if (auto text = text_of_attribute(step.program(), *given)) attributes = *text;
  }
  HILO_TRY(const int64_t version, step.integer("version", 0));
  to["composite.attributes"] = {attributes, true};
  to["composite.name"] = {name, false};
  to["composite.version"] = {std::to_string(version), false};
  return {};
}

Result<void> convert_composite(Step& step) {
  HILO_TRY(const std::string name, step.text("name"));
  const Attribute* attributes = step.find("composite_attributes");
  if (name.starts_with("chlo.")) {
    HILO_TRY(const bool is_done, convert_as(step, name, attributes));
    if (is_done) return {};
  }
  HILO_TRY(const std::string callee, step.text("decomposition"));
  HILO_TRY(const Converter::Function function, step.converter.function(callee, step.operands));
  if (function.results != step.result_count())
    return step.misfit("@{} gives {} results, not {}", callee, function.results,
                       step.result_count());
  CallAttributes call;
  call.to_apply = function.computation;
  call.is_composite = true;
  HILO_TRY(const InstructionId value, step.add(Op::Call, step.operands, std::move(call)));
  HILO_DO(describe_composite(step, name, value));
  return step.give(value);
}

}  // namespace hilo::mlir
