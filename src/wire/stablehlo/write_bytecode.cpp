// Sections of the file, and its ops. Format: "MLIR Bytecode Format", version 6.
#include "wire/stablehlo/bytecode_writer.h"

#include <algorithm>

namespace hilo::mlir {
namespace {

enum Section : uint8_t {
  Strings,
  Dialects,
  Entries,
  EntryOffsets,
  Operations,
  ResourceBytes,
  ResourceOffsets,
  DialectVersions,
  Properties,
};
enum Mask : uint8_t {
  HasAttributes = 1,
  HasResults = 2,
  HasOperands = 4,
  HasRegions = 16,
  HasProperties = 64,
};
constexpr uint64_t bytecode_version = 6;

}  // namespace

uint64_t EntryTable::number(Dialect dialect, std::string bytes) {
  auto& numbers = numbers_[static_cast<size_t>(dialect)];
  const auto [found, is_new] = numbers.emplace(std::move(bytes), entries_.size());
  if (is_new) entries_.push_back({dialect, &found->first});
  return found->second;
}

void EntryTable::append_sizes(ByteWriter& out) const {
  for (size_t i = 0; i < entries_.size();) {
    size_t end = i;
    while (end < entries_.size() && entries_[end].dialect == entries_[i].dialect) ++end;
    out.varint(static_cast<uint64_t>(entries_[i].dialect));
    out.varint(end - i);
    for (; i < end; ++i) out.flagged(entries_[i].bytes->size(), true);
  }
}

void EntryTable::append_data(ByteWriter& out) const {
  for (const Entry& entry : entries_) out.text(*entry.bytes);
}

uint64_t BytecodeWriter::string(std::string_view text) {
  const auto [found, is_new] = string_numbers_.emplace(text, strings_.size());
  if (is_new) strings_.emplace_back(text);
  return found->second;
}

uint64_t BytecodeWriter::op_name(Dialect dialect, const std::string& name) {
  const std::string key = std::string(dialect_names[static_cast<size_t>(dialect)]) + "." + name;
  const auto [found, is_new] = name_numbers_.emplace(key, names_.size());
  if (is_new) names_.push_back({dialect, string(name)});
  return found->second;
}

Result<void> BytecodeWriter::write_region(ByteWriter& out, const Region& region,
                                          std::string_view parent) {
  uint64_t defined = 0;
  for (const BlockId id : region.blocks) {
    const Block& block = program_[id];
    defined += block.arguments.size();
    for (const OpId op : block.operations) defined += program_[op].results.size();
  }
  out.varint(region.blocks.size());
  if (region.blocks.empty()) return {};
  out.varint(defined);
  // Numbers of a region follow all those of the regions around it, and are free behind it.
  uint64_t next = next_value_;
  next_value_ += defined;
  for (const BlockId id : region.blocks) {
    const Block& block = program_[id];
    out.flagged(block.operations.size(), !block.arguments.empty());
    if (!block.arguments.empty()) {
      out.varint(block.arguments.size());
      for (const ValueId argument : block.arguments) {
        values_[argument] = next++;
        const AttributeId at = program_[argument].location;
        out.flagged(type(program_[argument].type), static_cast<bool>(at));
        if (at) out.varint(location(at));
      }
      out.byte(0);  // uses are in the usual order
    }
    for (const OpId op : block.operations) {
      for (const ValueId result : program_[op].results) values_[result] = next++;
      HILO_DO(write_operation(out, op, parent));
    }
  }
  next_value_ -= defined;
  return {};
}

Result<void> BytecodeWriter::write_regions(ByteWriter& out, const Operation& operation,
                                           bool is_isolated) {
  out.flagged(operation.regions.size(), is_isolated);
  ByteWriter inside;
  const uint64_t around = next_value_;
  if (is_isolated) next_value_ = 0;
  for (const RegionId region : operation.regions)
    HILO_DO(write_region(is_isolated ? inside : out, program_[region], operation.name));
  next_value_ = around;
  if (is_isolated) out.section(Operations, inside.bytes());
  return {};
}

// All attributes that the op's version has, by their numbers in the table of attributes.
Result<uint64_t> BytecodeWriter::properties(const Operation& operation, const VhloOp& op,
                                            int version) {
  ByteWriter out;
  for (const VhloAttribute& spec : op.all()) {
    if (!spec.is_in(version)) continue;
    AttributeId id = find_field(operation.attributes, spec.name);
    check(static_cast<bool>(id), "an attribute is missing: complete() was not called");
    HILO_TRY(const uint64_t number, attribute(id, spec.form));
    out.varint(number);
  }
  const auto [found, is_new] = property_numbers_.emplace(out.bytes(), properties_.size());
  if (is_new) properties_.push_back(out.bytes());
  return found->second;
}

Result<uint64_t> BytecodeWriter::discardable(const Operation& operation, const VhloOp& op) {
  std::vector<std::pair<uint64_t, uint64_t>> fields;
  for (const auto& [name, value] : operation.attributes) {
    const auto all = op.all();
    if (std::ranges::find(all, name, &VhloAttribute::name) != all.end()) continue;
    HILO_TRY(const uint64_t number, attribute(value, Form::Any));
    fields.emplace_back(builtin_string(name), number);
  }
  if (fields.empty()) return 0;
  return builtin_dictionary(fields) + 1;
}

Result<void> BytecodeWriter::write_operation(ByteWriter& out, OpId id, std::string_view parent) {
  (void)parent;
  const Operation& operation = program_[id];
  const bool is_return = operation.name == "func.return" || operation.name == "stablehlo.return";
  const VhloOp* op = is_return ? find_vhlo_op("return") : find_stablehlo_op(operation.name);
  if (!op) return fail(ErrorKind::Unsupported, "VHLO has no op {}", operation.name);
  const int version = version_at(*op, release_);
  HILO_TRY(const uint64_t dictionary, discardable(operation, *op));
  const bool has_properties =
      std::ranges::any_of(op->all(), [&](const auto& spec) { return spec.is_in(version); });
  uint64_t property = 0;
  if (has_properties) {
    HILO_TRY(property, properties(operation, *op, version));
  }
  out.varint(op_name(Dialect::Vhlo, fmt::format("{}_v{}", op->name, version)));
  out.byte(static_cast<uint8_t>(
      (dictionary ? HasAttributes : 0) | (operation.results.empty() ? 0 : HasResults) |
      (operation.operands.empty() ? 0 : HasOperands) |
      (operation.regions.empty() ? 0 : HasRegions) | (has_properties ? HasProperties : 0)));
  out.varint(location(operation.location));
  if (dictionary) out.varint(dictionary - 1);
  if (has_properties) out.varint(property);
  if (!operation.results.empty()) {
    out.varint(operation.results.size());
    for (const ValueId result : operation.results) out.varint(type(program_[result].type));
  }
  if (!operation.operands.empty()) {
    out.varint(operation.operands.size());
    for (const ValueId operand : operation.operands) out.varint(values_.at(operand));
  }
  if (!operation.regions.empty())
    HILO_DO(write_regions(out, operation, operation.name == "func.func"));
  return {};
}

// The module is MLIR's own op: its name and visibility are optional properties.
Result<void> BytecodeWriter::write_module(ByteWriter& out) {
  const Operation& operation = program_[program_.module];
  std::vector<std::pair<uint64_t, uint64_t>> fields;
  ByteWriter own;
  const Attribute* name = program_.find(operation, "sym_name");
  if (name && !name->text.empty()) own.flagged(builtin_string(name->text), true);
  else own.varint(0);
  own.varint(0);
  for (const auto& [key, value] : operation.attributes)
    if (key != "sym_name") fields.emplace_back(builtin_string(key), builtin_attribute(value));
  properties_.push_back(own.bytes());
  out.varint(op_name(Dialect::Builtin, "module"));
  out.byte((fields.empty() ? 0 : HasAttributes) | HasProperties | HasRegions);
  out.varint(location(operation.location));
  if (!fields.empty()) out.varint(builtin_dictionary(fields));
  out.varint(properties_.size() - 1);
  return write_regions(out, operation, true);
}

Result<std::string> BytecodeWriter::run() {
  ByteWriter operations;
  operations.varint(uint64_t{1} << 1);
  HILO_DO(write_module(operations));
  ByteWriter dialects;
  dialects.varint(std::size(dialect_names));
  for (const std::string_view name : dialect_names) dialects.flagged(string(name), false);
  dialects.varint(names_.size());
  for (size_t i = 0; i < names_.size();) {
    size_t end = i;
    while (end < names_.size() && names_[end].dialect == names_[i].dialect) ++end;
    dialects.varint(static_cast<uint64_t>(names_[i].dialect));
    dialects.varint(end - i);
    for (; i < end; ++i) dialects.flagged(names_[i].name, true);
  }
  ByteWriter data, sizes;
  attributes_.append_data(data);
  types_.append_data(data);
  sizes.varint(attributes_.size());
  sizes.varint(types_.size());
  attributes_.append_sizes(sizes);
  types_.append_sizes(sizes);
  ByteWriter strings;
  strings.varint(strings_.size());
  for (size_t i = strings_.size(); i-- > 0;) strings.varint(strings_[i].size() + 1);
  for (const std::string& text : strings_) {
    strings.text(text);
    strings.byte(0);
  }
  ByteWriter all_properties;
  all_properties.varint(properties_.size());
  for (const std::string& one : properties_) all_properties.blob(one);
  ByteWriter out;
  out.text("ML\xefR");
  out.varint(bytecode_version);
  out.text(fmt::format("StableHLO_v{}", to_string(release_)));
  out.byte(0);
  out.section(Dialects, dialects.bytes());
  out.section(EntryOffsets, sizes.bytes());
  out.section(Entries, data.bytes());
  out.section(Operations, operations.bytes());
  out.section(Strings, strings.bytes());
  out.section(Properties, all_properties.bytes());
  return out.take();
}

Result<std::string> write_bytecode(const Program& program, Release release) {
  return BytecodeWriter(program, release).run();
}

}  // namespace hilo::mlir
