// Ops, regions and values of bytecode.
#include <algorithm>
#include <array>

#include "wire/stablehlo/bytecode_reader.h"
#include "wire/stablehlo/vhlo_ops.h"

namespace hilo::mlir {
namespace {

enum Mask : uint8_t {
  HasAttributes = 1,
  HasResults = 2,
  HasOperands = 4,
  HasSuccessors = 8,
  HasRegions = 16,
  HasUseListOrders = 32,
  HasProperties = 64,
};
constexpr int max_depth = 200;

struct OtherOp {
  std::string_view name;
  std::array<std::string_view, 9> properties = {};
};
constexpr OtherOp other_ops[] = {
#define BYTECODE_OP(name, ...) {name, {__VA_ARGS__}},
#include "wire/stablehlo/bytecode_ops.def"
#undef BYTECODE_OP
};
static_assert(std::ranges::is_sorted(other_ops, {}, &OtherOp::name));

const OtherOp* find_other_op(std::string_view name) {
  const auto* found = std::ranges::lower_bound(other_ops, name, {}, &OtherOp::name);
  return found != std::end(other_ops) && found->name == name ? found : nullptr;
}

// What a table entry of the file's names stands for.
struct KnownName {
  std::string name;
  VersionedOp vhlo;
  const OtherOp* other = nullptr;
  const VhloOp* stablehlo = nullptr;  // of an op of StableHLO itself, which groups attributes
  bool is_return = false;
};

// Values of one region and those around it: a region's numbers start behind all those that the
// region around it will define.
struct Scope {
  uint64_t base = 0, declared = 0;
  std::vector<ValueId> values;
};

}  // namespace

class OperationReader {
 public:
  explicit OperationReader(BytecodeReader& reader)
      : reader_(reader), builder_(reader.builder_), program_(reader.builder_.program) {}
  void read();

 private:
  struct Frame {
    std::string_view parent;  // the op that holds the region
    std::vector<Scope>& scopes;
    int depth;
  };

  void resolve_names();
  OpId read_operation(ByteCursor& in, Frame frame);
  OpId read_operation(ByteCursor& in, Frame frame, std::string& name);
  void copy_dictionary(const Attribute& dictionary, Operation& op);
  void read_results(ByteCursor& in, Operation& op, Scope& scope);
  void read_properties(ByteCursor& in, const KnownName& known, Operation& op);
  void read_property_list(ByteCursor& in, const KnownName& known, Fields& attributes);
  void read_regions(ByteCursor& in, OpId op, Frame frame);
  RegionId read_region(ByteCursor& in, Frame frame);
  BlockId read_block(ByteCursor& in, Frame frame);
  ValueId value(ByteCursor& in, const std::vector<Scope>& scopes);
  void define(ByteCursor& in, Scope& scope, ValueId id);
  void skip_use_list_orders(ByteCursor& in, size_t values);
  bool is_dropped_cast(Operation& op, Scope& scope);
  ValueId new_value(ByteCursor& in);

  BytecodeReader& reader_;
  Builder& builder_;
  Program& program_;
  std::vector<KnownName> names_;
};

void OperationReader::resolve_names() {
  for (const BytecodeOpName& entry : reader_.file_.op_names) {
    const std::string_view owner = reader_.dialect(entry.dialect);
    if (!reader_.afford(entry.name.size() + owner.size() + sizeof(KnownName), 0)) return;
    KnownName known{.name = fmt::format("{}.{}", owner, entry.name)};
    if (owner == "vhlo") known.vhlo = find_versioned_op(entry.name);
    if (known.vhlo.op) {
      known.name = stablehlo_name(*known.vhlo.op);
      known.is_return = known.vhlo.op->name == "return";
    }
    if (!known.vhlo.op) {
      known.other = find_other_op(known.name);
      known.stablehlo = find_stablehlo_op(known.name);
    }
    names_.push_back(std::move(known));
  }
}

// The section is one block without a header, which holds the module.
void OperationReader::read() {
  resolve_names();
  const BytecodeEntry& section = reader_.file_.operations;
  ByteCursor in(section.bytes, section.offset, reader_.fault_);
  const uint64_t head = in.varint();
  if (head >> 1 != 1) in.fail("{} ops at the top, expected one module", head >> 1);
  std::vector<Scope> scopes(1);
  if (in.failed()) return;
  program_.module = read_operation(in, {"", scopes, 0});
  if (!in.failed() && program_[program_.module].name != "builtin.module")
    in.fail("'{}' at the top, expected a module", program_[program_.module].name);
}

ValueId OperationReader::value(ByteCursor& in, const std::vector<Scope>& scopes) {
  const uint64_t number = in.varint();
  if (in.failed()) return {};
  for (size_t i = scopes.size(); i-- > 0;) {
    if (number < scopes[i].base) continue;
    const uint64_t index = number - scopes[i].base;
    if (index < scopes[i].values.size()) return scopes[i].values[index];
    break;
  }
  in.fail("value {} is used before it is defined", number);
  return {};
}

void OperationReader::define(ByteCursor& in, Scope& scope, ValueId id) {
  if (scope.values.size() >= scope.declared)
    return in.fail("more values than the {} that the region declares", scope.declared);
  scope.values.push_back(id);
}

ValueId OperationReader::new_value(ByteCursor& in) {
  const TypeId type = reader_.type(in);
  program_.values.push_back({.type = type});
  return {static_cast<uint32_t>(program_.values.size() - 1)};
}

OpId OperationReader::read_operation(ByteCursor& in, Frame frame) {
  std::string name;
  const OpId id = read_operation(in, frame, name);
  if (reader_.fault_ && reader_.fault_.error->place.op.empty())
    reader_.fault_.error->place.op = name;
  return id;
}

OpId OperationReader::read_operation(ByteCursor& in, Frame frame, std::string& name) {
  Operation op;
  op.position.offset = in.offset();
  const size_t index = in.index(names_.size(), "name of an op");
  const uint8_t mask = in.byte();
  if (in.failed()) return {};
  const KnownName& known = names_[index];
  op.name = known.is_return && frame.parent == "func.func" ? "func.return" : known.name;
  name = op.name;
  op.location = reader_.attribute(in);
  if (mask & HasAttributes) {
    const AttributeId dictionary = reader_.attribute(in);
    if (in.failed()) return {};
    if (program_[dictionary].kind != AttributeKind::Dictionary)
      in.fail("attributes of no dictionary");
    copy_dictionary(program_[dictionary], op);
  }
  if (mask & HasProperties) read_properties(in, known, op);
  Scope& scope = frame.scopes.back();
  if (mask & HasResults) read_results(in, op, scope);
  if (mask & HasOperands) {
    const size_t count = in.count("operands");
    // A value is no operand of the op that makes it.
    for (size_t i = 0; i < count && !in.failed(); ++i)
      op.operands.push_back(value(in, frame.scopes));
  }
  if (mask & HasSuccessors) in.fail("an op that jumps to other blocks");
  for (const ValueId result : op.results)
    if (!in.failed()) define(in, scope, result);
  if (mask & HasUseListOrders) skip_use_list_orders(in, op.results.size());
  if (in.failed()) return {};
  if (is_dropped_cast(op, scope)) return {};
  if (known.stablehlo) ungroup(builder_, *known.stablehlo, op.attributes);
  if (const VhloOp* newest = known.stablehlo ? known.stablehlo : known.vhlo.op) {
    const std::string fault = complete(builder_, *newest, op.attributes);
    if (!fault.empty()) return in.fail("{}", fault), OpId{};
  }
  const OpId id{static_cast<uint32_t>(program_.operations.size())};
  program_.operations.push_back(std::move(op));
  if (mask & HasRegions) read_regions(in, id, frame);
  return id;
}

// Ops share dictionaries, so that a small file can ask for many copies of a large one.
void OperationReader::copy_dictionary(const Attribute& dictionary, Operation& op) {
  size_t bytes = 0;
  for (const auto& field : dictionary.fields) bytes += sizeof(field) + field.first.size();
  if (reader_.afford(bytes, op.position.offset)) op.attributes = dictionary.fields;
}

void OperationReader::read_results(ByteCursor& in, Operation& op, Scope& scope) {
  const size_t count = in.count("results");
  if (scope.values.size() + count > scope.declared)
    return in.fail("{} results, more values than the region declares", count);
  for (size_t i = 0; i < count && !in.failed(); ++i) op.results.push_back(new_value(in));
}

// Casts between the dialects of one program change nothing where the types are equal.
bool OperationReader::is_dropped_cast(Operation& op, Scope& scope) {
  if (op.name != "builtin.unrealized_conversion_cast") return false;
  if (op.operands.size() != op.results.size()) return false;
  for (size_t i = 0; i < op.operands.size(); ++i)
    if (program_[op.operands[i]].type != program_[op.results[i]].type) return false;
  std::ranges::copy(op.operands, scope.values.end() - static_cast<int64_t>(op.results.size()));
  return true;
}

void OperationReader::read_properties(ByteCursor& in, const KnownName& known, Operation& op) {
  const size_t index = in.index(reader_.file_.properties.size(), "properties");
  if (in.failed()) return;
  const BytecodeEntry& entry = reader_.file_.properties[index];
  ByteCursor properties(entry.bytes, entry.offset, reader_.fault_);
  if (!known.vhlo.op && !known.other) return;  // kept without them
  read_property_list(properties, known, op.attributes);
  if (!in.failed() && properties.left() > 0)
    properties.fail("{} bytes behind the properties of {}", properties.left(), known.name);
  sort_fields(op.attributes);
}

void OperationReader::read_property_list(ByteCursor& in, const KnownName& known,
                                         Fields& attributes) {
  if (known.vhlo.op) {
    for (const VhloAttribute& spec : known.vhlo.op->all())
      if (spec.is_in(known.vhlo.version)) attributes.emplace_back(spec.name, reader_.attribute(in));
    return;
  }
  for (std::string_view name : known.other->properties) {
    if (name.empty()) return;
    const bool is_optional = name.ends_with('?');
    if (is_optional) name.remove_suffix(1);
    const AttributeId id = is_optional ? reader_.optional_attribute(in) : reader_.attribute(in);
    if (id) attributes.emplace_back(name, id);
  }
}

void OperationReader::read_regions(ByteCursor& in, OpId op, Frame frame) {
  const uint64_t head = in.varint(), count = head >> 1;
  const bool is_isolated = head & 1;
  if (frame.depth >= max_depth)
    return reader_.fault_.set(ErrorKind::Limit, in.offset(), "regions nest deeper than {}",
                              max_depth);
  ByteCursor inner = in;
  const bool has_section =
      is_isolated && reader_.file_.version >= BytecodeFile::has_isolated_sections;
  if (has_section) {
    uint8_t id = 0;
    const BytecodeEntry section = next_section(in, id);
    constexpr uint8_t operations = 4;
    if (id != operations) in.fail("section {} for the regions of an op", id);
    inner = ByteCursor(section.bytes, section.offset, reader_.fault_);
  }
  ByteCursor& from = has_section ? inner : in;
  const std::string parent = program_[op].name;
  for (uint64_t i = 0; i < count && !in.failed(); ++i) {
    std::vector<Scope> own;
    const Frame within{parent, is_isolated ? own : frame.scopes, frame.depth + 1};
    const RegionId region = read_region(from, within);
    program_.operations[op.value].regions.push_back(region);
  }
}

RegionId OperationReader::read_region(ByteCursor& in, Frame frame) {
  const RegionId id{static_cast<uint32_t>(program_.regions.size())};
  program_.regions.emplace_back();
  const size_t blocks = in.count("blocks");
  if (blocks == 0) return id;
  const uint64_t values = in.varint();
  uint64_t base = 0;
  if (!frame.scopes.empty()) base = frame.scopes.back().base + frame.scopes.back().declared;
  // Each value takes a byte at least, so that the sums stay small.
  if (values > in.left()) in.fail("{} values in {} bytes", values, in.left());
  frame.scopes.push_back({.base = base, .declared = values});
  for (size_t i = 0; i < blocks && !in.failed(); ++i) {
    const BlockId block = read_block(in, frame);
    program_.regions[id.value].blocks.push_back(block);
  }
  frame.scopes.pop_back();
  return id;
}

BlockId OperationReader::read_block(ByteCursor& in, Frame frame) {
  const BlockId id{static_cast<uint32_t>(program_.blocks.size())};
  program_.blocks.emplace_back();
  const uint64_t head = in.varint();
  if (head & 1) {
    const size_t count = in.count("arguments of a block");
    for (size_t i = 0; i < count && !in.failed(); ++i) {
      const bool is_flagged = reader_.file_.version >= BytecodeFile::has_op_counts;
      const uint64_t type = in.varint();
      const uint64_t index = is_flagged ? type >> 1 : type;
      if (index >= reader_.types_.size()) in.fail("type {} of {}", index, reader_.types_.size());
      if (in.failed()) return id;
      Value argument{.type = reader_.types_[index]};
      if (!is_flagged || (type & 1)) argument.location = reader_.attribute(in);
      const ValueId value{static_cast<uint32_t>(program_.values.size())};
      program_.values.push_back(std::move(argument));
      program_.blocks[id.value].arguments.push_back(value);
      define(in, frame.scopes.back(), value);
    }
    if (reader_.file_.version >= BytecodeFile::has_use_list_orders && in.byte() != 0)
      skip_use_list_orders(in, count);
  }
  for (uint64_t i = 0; i < head >> 1 && !in.failed(); ++i)
    if (const OpId op = read_operation(in, frame))
      program_.blocks[id.value].operations.push_back(op);
  return id;
}

// The order of a value's users means nothing here.
void OperationReader::skip_use_list_orders(ByteCursor& in, size_t values) {
  size_t count = 1;
  if (values > 1) count = in.count("orders");
  for (size_t i = 0; i < count && !in.failed(); ++i) {
    if (values > 1) in.varint();
    const uint64_t indices = in.varint() >> 1;
    for (uint64_t j = 0; j < indices && !in.failed(); ++j) in.varint();
  }
}

void read_operations(BytecodeReader& reader) { OperationReader(reader).read(); }

}  // namespace hilo::mlir
