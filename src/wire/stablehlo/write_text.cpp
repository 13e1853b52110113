// MLIR text: the module, functions, and ops, most in the generic form. Locations are aliases behind
// the module, as MLIR prints them.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "wire/stablehlo/text_writer.h"
#include "wire/stablehlo/vhlo_ops.h"

namespace hilo::mlir {
namespace {

class TextWriter {
 public:
  explicit TextWriter(const Program& program) : program_(program) {}
  Result<std::string> run();

 private:
  Result<void> function(const Operation& operation);
  Result<void> operation(const Operation& operation);
  Result<bool> pretty(const Operation& operation);
  Result<void> generic(const Operation& operation);
  Result<void> region(const Region& region);
  void name(ValueId value, size_t results, size_t index);
  void define(const Operation& operation);
  std::string used(std::span<const ValueId> values) const;
  std::string types(std::span<const ValueId> values) const;
  std::string signature(const Operation& operation) const {
    return fmt::format("({}) -> ({})", types(operation.operands), types(operation.results));
  }
  std::string location(AttributeId id);  // " loc(#loc3)" or ""
  std::string location_text(AttributeId id);
  void line(std::string_view text) { out_.append(indent_, ' ').append(text); }

  const Program& program_;
  std::string out_, locations_;
  size_t indent_ = 0;
  std::unordered_map<ValueId, std::string> names_;
  std::unordered_set<std::string> taken_;  // of the function
  std::unordered_map<AttributeId, std::string> aliases_;
};

// "#loc3" or "unknown"; what it holds stands before it.
std::string TextWriter::location_text(AttributeId id) {
  if (!id || program_[id].text == "loc.unknown") return "unknown";
  const auto known = aliases_.find(id);
  if (known != aliases_.end()) return known->second;
  const Attribute& from = program_[id];
  const auto field = [&](std::string_view name) { return find_field(from.fields, name); };
  std::string text;
  if (from.text == "loc.name") {
    const std::string child = location_text(field("child"));
    text = quoted_text(program_[field("name")].text);
    if (child != "unknown") text += fmt::format("({})", child);
  } else if (from.text == "loc.callsite") {
    const std::string callee = location_text(field("callee"));
    text = fmt::format("callsite({} at {})", callee, location_text(field("caller")));
  } else {
    const auto number = [&](std::string_view name) { return program_[field(name)].integer; };
    text = fmt::format("{}:{}:{}", quoted_text(program_[field("file")].text), number("line"),
                       number("column"));
    if (number("end_line") != number("line"))
      text += fmt::format(" to {}:{}", number("end_line"), number("end_column"));
    else if (number("end_column") != number("column"))
      text += fmt::format(" to :{}", number("end_column"));
  }
  const std::string alias = fmt::format("#loc{}", aliases_.size() + 1);
  locations_ += fmt::format("{} = loc({})\n", alias, text);
  aliases_.emplace(id, alias);
  return alias;
}

std::string TextWriter::location(AttributeId id) {
  const std::string text = location_text(id);
  return text == "unknown" ? "" : fmt::format(" loc({})", text);
}

void TextWriter::name(ValueId value, size_t results, size_t index) {
  const std::string& wanted = program_[value].name;
  if (index > 0) return;
  const std::string base = wanted.empty() ? "value" : wanted;
  std::string out = base;
  for (int i = 0; !taken_.insert(out).second; ++i) out = fmt::format("{}_{}", base, i);
  names_[value] = "%" + out + (results > 1 ? "#0" : "");
}

void TextWriter::define(const Operation& operation) {
  const auto& results = operation.results;
  if (results.empty()) return line("");
  name(results[0], results.size(), 0);
  std::string first = names_[results[0]];
  if (results.size() == 1) return line(first + " = ");
  first.resize(first.size() - 2);
  for (size_t i = 1; i < results.size(); ++i) names_[results[i]] = fmt::format("{}#{}", first, i);
  line(fmt::format("{}:{} = ", first, results.size()));
}

std::string TextWriter::used(std::span<const ValueId> values) const {
  std::string out;
  for (const ValueId value : values) out += (out.empty() ? "" : ", ") + names_.at(value);
  return out;
}

std::string TextWriter::types(std::span<const ValueId> values) const {
  std::string out;
  for (const ValueId value : values)
    out += (out.empty() ? "" : ", ") + type_text(program_, program_[value].type);
  return out;
}

// The forms of their own: returns, constants, calls, elementwise ops of one type.
Result<bool> TextWriter::pretty(const Operation& operation) {
  const Fields more = discardable_fields(operation);
  std::string dictionary;
  if (!more.empty()) {
    HILO_TRY(dictionary, dictionary_text(program_, more));
    dictionary += " ";
  }
  const std::string used_values = used(operation.operands);
  if (operation.name == "func.return" || operation.name == "stablehlo.return") {
    line(operation.name == "func.return" ? "return" : operation.name);
    if (!operation.operands.empty())
      out_ += fmt::format(" {} : {}", used_values, types(operation.operands));
    return true;
  }
  if (operation.name == "stablehlo.constant" && more.empty()) {
    define(operation);
    out_ += "stablehlo.constant " + dense_text(program_, *program_.find(operation, "value"));
    return true;
  }
  if (operation.name == "func.call") {
    define(operation);
    out_ += fmt::format("call {}({}) {}: {}", symbol_text(program_.find(operation, "callee")->text),
                        used_values, dictionary, signature(operation));
    return true;
  }
  if (!is_elementwise(operation.name) || operation.results.size() != 1) return false;
  const TypeId type = program_[operation.results[0]].type;
  for (const ValueId operand : operation.operands)
    if (program_[operand].type != type) return false;
  HILO_TRY(const std::string properties, properties_text(program_, operation));
  if (!properties.empty()) return false;
  define(operation);
  out_ += fmt::format("{} {} {}: {}", operation.name, used_values, dictionary,
                      type_text(program_, type));
  return true;
}

Result<void> TextWriter::region(const Region& region) {
  out_ += "{\n";
  for (const BlockId id : region.blocks) {
    const Block& block = program_[id];
    if (!block.arguments.empty()) {
      std::string arguments;
      for (const ValueId argument : block.arguments) {
        name(argument, 1, 0);
        arguments += fmt::format("{}{}: {}{}", arguments.empty() ? "" : ", ", names_[argument],
                                 type_text(program_, program_[argument].type),
                                 location(program_[argument].location));
      }
      line(fmt::format("^bb0({}):\n", arguments));
    }
    indent_ += 2;
    for (const OpId op : block.operations) HILO_DO(operation(program_[op]));
    indent_ -= 2;
  }
  line("}");
  return {};
}

Result<void> TextWriter::generic(const Operation& operation) {
  HILO_TRY(const std::string properties, properties_text(program_, operation));
  const std::string used_values = used(operation.operands);
  define(operation);
  out_ += fmt::format("\"{}\"({})", operation.name, used_values);
  if (!properties.empty()) out_ += fmt::format(" <{{{}}}>", properties);
  if (!operation.regions.empty()) out_ += " (";
  for (size_t i = 0; i < operation.regions.size(); ++i) {
    if (i > 0) out_ += ", ";
    HILO_DO(region(program_[operation.regions[i]]));
  }
  if (!operation.regions.empty()) out_ += ")";
  const Fields more = discardable_fields(operation);
  if (!more.empty()) {
    HILO_TRY(const std::string dictionary, dictionary_text(program_, more));
    out_ += " " + dictionary;
  }
  out_ += " : " + signature(operation);
  return {};
}

Result<void> TextWriter::operation(const Operation& operation) {
  HILO_TRY(const bool is_done, pretty(operation));
  if (!is_done) HILO_DO(generic(operation));
  out_ += location(operation.location) + "\n";
  return {};
}

Result<void> TextWriter::function(const Operation& operation) {
  const Block& block = program_[program_[operation.regions[0]].blocks[0]];
  const Type& type = program_[program_.find(operation, "function_type")->type];
  taken_.clear();
  const auto attributes = [&](std::string_view list, size_t i) -> Result<std::string> {
    const Attribute* all = program_.find(operation, list);
    if (!all || i >= all->items.size() || program_[all->items[i]].fields.empty())
      return std::string();
    HILO_TRY(const std::string text, dictionary_text(program_, program_[all->items[i]].fields));
    return " " + text;
  };
  std::string arguments, results;
  for (size_t i = 0; i < block.arguments.size(); ++i) {
    const ValueId argument = block.arguments[i];
    name(argument, 1, 0);
    HILO_TRY(const std::string more, attributes("arg_attrs", i));
    arguments += fmt::format("{}{}: {}{}{}", i > 0 ? ", " : "", names_[argument],
                             type_text(program_, program_[argument].type), more,
                             location(program_[argument].location));
  }
  for (size_t i = type.inputs; i < type.types.size(); ++i) {
    HILO_TRY(const std::string more, attributes("res_attrs", i - type.inputs));
    results += fmt::format("{}{}{}", results.empty() ? "" : ", ",
                           type_text(program_, type.types[i]), more);
  }
  line(fmt::format("func.func {} {}({}) -> ({}) {{\n",
                   program_.find(operation, "sym_visibility")->text,
                   symbol_text(program_.find(operation, "sym_name")->text), arguments, results));
  indent_ += 2;
  for (const OpId op : block.operations) HILO_DO(this->operation(program_[op]));
  indent_ -= 2;
  line("}\n");
  return {};
}

Result<std::string> TextWriter::run() {
  const Operation& top = program_[program_.module];
  Fields attributes = top.attributes;
  std::erase_if(attributes, [](const auto& field) { return field.first == "sym_name"; });
  HILO_TRY(const std::string dictionary, dictionary_text(program_, attributes));
  const Attribute* name = program_.find(top, "sym_name");
  out_ = "module ";
  if (name && !name->text.empty()) out_ += symbol_text(name->text) + " ";
  out_ += fmt::format("attributes {} {{\n", dictionary);
  indent_ = 2;
  const Block& block = program_[program_[top.regions[0]].blocks[0]];
  for (const OpId op : block.operations) HILO_DO(function(program_[op]));
  return out_ + "}\n" + locations_;
}

}  // namespace

Result<std::string> write_text(const Program& program) { return TextWriter(program).run(); }

}  // namespace hilo::mlir
