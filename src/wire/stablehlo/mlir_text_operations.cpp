// Ops, values and regions of MLIR's text; the generic form.
#include <algorithm>

#include "wire/stablehlo/mlir_text_reader.h"

namespace hilo::mlir {

// %a, %b:2 = ; nothing where the op has no results or none that is named.
std::vector<TextReader::Definition> TextReader::definitions() {
  std::vector<Definition> out;
  if (!in_.peek('%')) return out;
  do {
    Definition definition{.offset = in_.offset()};
    definition.name = in_.name('%');
    if (in_.accept(':')) {
      const int64_t count = in_.integer();
      if (count < 1) in_.fail("{} results", count);
      definition.count = static_cast<size_t>(count);
    }
    out.push_back(definition);
  } while (in_.accept(','));
  in_.expect("=");
  return out;
}

ValueId TextReader::use() {
  in_.skip();
  const size_t offset = in_.offset();
  const std::string_view name = in_.name('%');
  size_t index = 0;
  if (!in_.failed() && in_.accept('#')) index = static_cast<size_t>(in_.integer());
  if (in_.failed()) return {};
  const auto found = values_.find(name);
  if (found == values_.end()) {
    in_.fail_at(ErrorKind::Name, offset,
                fmt::format("'%{}' is used before it is defined, or outside of its region", name));
    return {};
  }
  if (index >= found->second.count) {
    in_.fail_at(
        ErrorKind::Name, offset,
        fmt::format("'%{}' has {} results, not a number {}", name, found->second.count, index));
    return {};
  }
  return {found->second.first.value + static_cast<uint32_t>(index)};
}

std::vector<ValueId> TextReader::uses() {
  std::vector<ValueId> out;
  do {
    out.push_back(use());
  } while (in_.accept(','));
  return out;
}

ValueId TextReader::define(std::string_view name, TypeId type, size_t offset) {
  const ValueId id{static_cast<uint32_t>(builder_.program.values.size())};
  builder_.program.values.push_back({.type = type, .name = std::string(name)});
  if (!values_.try_emplace(name, Names{id, 1}).second)
    in_.fail_at(ErrorKind::Name, offset, fmt::format("'%{}' is defined twice", name));
  else defined_.push_back(name);
  return id;
}

std::string TextReader::full_name(std::string_view word, std::string_view parent) const {
  if (word == "module") return "builtin.module";
  if (word == "arith.constant" || word == "sdy.constant") return "stablehlo.constant";
  if (word == "func" || word == "call") return fmt::format("func.{}", word);
  if (word == "return") return parent == "func.func" ? "func.return" : "stablehlo.return";
  return std::string(word);
}

OpId TextReader::operation(std::string_view parent) {
  std::string name;
  const OpId id = operation_of(parent, name);
  if (in_.failed() && in_.error().place.op.empty()) in_.error().place.op = name;
  return id;
}

OpId TextReader::operation_of(std::string_view parent, std::string& name) {
  const Nesting nesting(*this, max_regions);
  Operation op;
  in_.skip();
  op.position = in_.position(in_.offset());
  const std::vector<Definition> names = definitions();
  const bool is_generic = in_.peek('"');
  const std::string word = is_generic ? in_.string() : std::string(in_.word());
  if (word.empty()) in_.fail("expected an op, found {}", in_.found());
  if (in_.failed()) return {};
  op.name = name = is_generic ? word : full_name(word, parent);
  Signature types;
  if (is_generic) {
    generic(op);
    types = signature();
    if (!in_.failed() && !types.is_function)
      in_.fail("expected the types of '{}' as (…) -> …", name);
  } else {
    pretty(op, types);
    spread(op, types);
  }
  op.location = optional_location();
  complete_attributes(op);
  if (in_.failed()) return {};
  finish(op, names, types);
  const OpId id{static_cast<uint32_t>(builder_.program.operations.size())};
  builder_.program.operations.push_back(std::move(op));
  return id;
}

// (%a, %b) <{properties}> ({regions}) {attributes}, then the types.
void TextReader::generic(Operation& op) {
  in_.expect("(");
  if (!in_.peek(')')) op.operands = uses();
  in_.expect(")");
  if (in_.peek('[')) in_.fail("an op that jumps to other blocks");
  if (in_.accept('<')) {
    add_attributes(op, dictionary());
    in_.expect(">");
  }
  if (in_.accept('(')) {
    do {
      const RegionId inner = region(op.name);
      op.regions.push_back(inner);
    } while (in_.accept(','));
    in_.expect(")");
  }
  if (in_.peek('{')) add_attributes(op, dictionary());
}

// Behind ':': (types) -> types, or types alone.
TextReader::Signature TextReader::signature() {
  Signature out;
  if (!in_.accept(':')) {
    in_.fail("expected ':' and types, found {}", in_.found());
    return out;
  }
  const bool is_group = in_.peek('(');
  if (is_group) out.types = type_group();
  else out.types = type_list();
  out.is_function = in_.accept("->");
  if (out.is_function) out.results = type_group();
  return out;
}

void TextReader::add_attributes(Operation& op, Fields fields) {
  op.attributes.insert(op.attributes.end(), std::make_move_iterator(fields.begin()),
                       std::make_move_iterator(fields.end()));
}

// Operands have their types, results get theirs and their names.
void TextReader::finish(Operation& op, const std::vector<Definition>& names,
                        const Signature& types) {
  Program& program = builder_.program;
  if (types.is_function) {
    if (types.types.size() != op.operands.size())
      return in_.fail_at(
          ErrorKind::Syntax, static_cast<size_t>(op.position.offset),
          fmt::format("{} operands with {} types", op.operands.size(), types.types.size()));
    for (size_t i = 0; i < op.operands.size(); ++i)
      if (program[op.operands[i]].type != types.types[i])
        return in_.fail_at(ErrorKind::Shape, static_cast<size_t>(op.position.offset),
                           fmt::format("operand {} has another type than the op says", i));
  }
  const size_t first = program.values.size();
  for (const TypeId result : types.results) {
    op.results.push_back({static_cast<uint32_t>(program.values.size())});
    program.values.push_back({.type = result});
  }
  size_t next = first;
  for (const Definition& definition : names) {
    if (definition.count > program.values.size() - next)
      return in_.fail_at(ErrorKind::Syntax, definition.offset,
                         fmt::format("names for more than {} results", types.results.size()));
    const Names of_name{{static_cast<uint32_t>(next)}, definition.count};
    if (!values_.try_emplace(definition.name, of_name).second)
      return in_.fail_at(ErrorKind::Name, definition.offset,
                         fmt::format("'%{}' is defined twice", definition.name));
    defined_.push_back(definition.name);
    for (size_t i = 0; i < definition.count; ++i, ++next)
      program.values[next].name = definition.count == 1 ? std::string(definition.name)
                                                        : fmt::format("{}#{}", definition.name, i);
  }
  if (!names.empty() && next != program.values.size())
    in_.fail_at(ErrorKind::Syntax, names[0].offset,
                fmt::format("{} names for {} results", next - first, types.results.size()));
}

void TextReader::complete_attributes(Operation& op) {
  if (in_.failed()) return;
  const VhloOp* known = find_stablehlo_op(op.name);
  if (known) ungroup(builder_, *known, op.attributes);
  else sort_fields(op.attributes);
  std::string fault;
  for (size_t i = 1; i < op.attributes.size(); ++i)
    if (op.attributes[i].first == op.attributes[i - 1].first)
      fault = fmt::format("a second attribute '{}'", op.attributes[i].first);
  if (fault.empty() && known) fault = complete(builder_, *known, op.attributes);
  if (!fault.empty())
    in_.fail_at(ErrorKind::Syntax, static_cast<size_t>(op.position.offset), std::move(fault));
}

// {^bb0(%a: t): ops}; arguments may come from the op's own form. What a function defines, and what
// it sees, ends with it.
RegionId TextReader::region(std::string_view parent, std::vector<Argument> arguments) {
  const RegionId id{static_cast<uint32_t>(builder_.program.regions.size())};
  builder_.program.regions.emplace_back();
  in_.expect("{");
  const bool is_isolated = parent == "func.func" || parent == "builtin.module";
  std::unordered_map<std::string_view, Names> around;
  if (is_isolated) around.swap(values_);
  const size_t defined = defined_.size();
  if (!in_.peek('}') || !arguments.empty()) block(id, parent, arguments);
  if (in_.peek('^')) in_.fail("a second block: control flow between blocks is not read");
  in_.expect("}");
  if (is_isolated) values_.swap(around);
  else
    for (size_t i = defined; i < defined_.size(); ++i) values_.erase(defined_[i]);
  defined_.resize(defined);
  return id;
}

void TextReader::block(RegionId into, std::string_view parent, std::vector<Argument>& given) {
  Program& program = builder_.program;
  const BlockId id{static_cast<uint32_t>(program.blocks.size())};
  program.blocks.emplace_back();
  program.regions[into.value].blocks.push_back(id);
  if (given.empty() && in_.peek('^')) {
    in_.name('^');
    if (in_.peek('(')) given = arguments();
    in_.expect(":");
  }
  for (const Argument& argument : given) {
    const ValueId value = define(argument.name, argument.type, argument.offset);
    program.values[value.value].location = argument.location;
    program.blocks[id.value].arguments.push_back(value);
  }
  while (!in_.failed() && !in_.peek('}') && !in_.peek('^'))
    if (const OpId op = operation(parent)) program.blocks[id.value].operations.push_back(op);
}

// %a: type {attributes} loc(…)
TextReader::Argument TextReader::argument() {
  Argument out;
  in_.skip();
  out.offset = in_.offset();
  out.name = in_.name('%');
  in_.expect(":");
  out.type = type();
  if (in_.peek('{')) out.attributes = dictionary();
  out.location = optional_location();
  return out;
}

std::vector<TextReader::Argument> TextReader::arguments() {
  std::vector<Argument> out;
  in_.expect("(");
  if (!in_.peek(')')) do
      out.push_back(argument());
    while (in_.accept(','));
  in_.expect(")");
  return out;
}

}  // namespace hilo::mlir
