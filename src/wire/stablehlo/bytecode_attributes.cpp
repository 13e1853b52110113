// Attributes of bytecode: those of MLIR itself. Codes: BuiltinDialectBytecode.td of MLIR.
#include <algorithm>

#include "wire/stablehlo/bytecode_reader.h"
#include "wire/stablehlo/dense_elements.h"
#include "wire/stablehlo/nesting.h"
#include "wire/stablehlo/structs.h"

namespace hilo::mlir {
namespace {

enum BuiltinAttribute : uint64_t {
  ArrayAttribute,
  DictionaryAttribute,
  StringAttribute,
  TypedString,
  FlatSymbol,
  NestedSymbol,
  TypeAttribute,
  UnitAttribute,
  IntegerAttribute,
  FloatAttribute,
  CallSite,
  FileLineColumn,
  Fused,
  FusedWithMetadata,
  Name,
  Unknown,
  DenseResource,
  DenseArray,
  DenseElements,
  FileRange = 22,
};
constexpr uint64_t vhlo_string = 14;

}  // namespace

void BytecodeReader::read_attributes() {
  builder_.program.attributes.resize(file_.attributes.size());
  // Others take strings apart, so that these come first.
  std::vector<bool> is_read(file_.attributes.size());
  for (size_t i = 0; i < is_read.size() && !fault_; ++i)
    is_read[i] = read_string(file_.attributes[i], builder_.program.attributes[i]);
  for (size_t i = 0; i < is_read.size() && !fault_; ++i) {
    if (is_read[i]) continue;
    Attribute made = read_attribute(file_.attributes[i]);
    builder_.program.attributes[i] = std::move(made);
  }
  if (fault_) return;
  if (const std::string fault = nesting_fault(builder_.program); !fault.empty())
    fault_.set(ErrorKind::Structure, 0, "{}", fault);
}

bool BytecodeReader::read_string(const BytecodeEntry& entry, Attribute& out) {
  if (!entry.is_custom) return false;
  ByteCursor in(entry.bytes, entry.offset, fault_);
  const std::string_view owner = dialect(entry.dialect);
  const uint64_t code = in.varint();
  const bool is_string = owner == "builtin" ? code == StringAttribute || code == TypedString
                                            : owner == "vhlo" && code == vhlo_string;
  if (!is_string) return false;
  out.kind = AttributeKind::String;
  const std::string_view text = file_.string(in);
  if (afford(text.size(), entry.offset)) out.text = text;
  return true;
}

Attribute BytecodeReader::read_attribute(const BytecodeEntry& entry) {
  ByteCursor in(entry.bytes, entry.offset, fault_);
  const std::string_view owner = dialect(entry.dialect);
  if (entry.is_custom && owner == "builtin") return builtin_attribute(in);
  if (entry.is_custom && owner == "vhlo") return vhlo_attribute(in);
  if (entry.is_custom && owner == "sdy") return sdy_attribute(in);
  if (entry.is_custom && owner == "stablehlo") return stablehlo_attribute(in);
  if (entry.is_custom && owner == "chlo") return chlo_attribute(in);
  return {.kind = AttributeKind::Struct, .text = std::string(owner) + ".unknown"};
}

AttributeId BytecodeReader::attribute(ByteCursor& in) {
  const size_t index = in.index(file_.attributes.size(), "attribute");
  return in.failed() ? AttributeId{} : AttributeId{static_cast<uint32_t>(index)};
}
AttributeId BytecodeReader::optional_attribute(ByteCursor& in) {
  const uint64_t head = in.varint();
  if (in.failed() || !(head & 1)) return {};
  if (head >> 1 >= file_.attributes.size()) {
    in.fail("attribute {} of {}", head >> 1, file_.attributes.size());
    return {};
  }
  return {static_cast<uint32_t>(head >> 1)};
}
std::vector<AttributeId> BytecodeReader::attributes(ByteCursor& in) {
  std::vector<AttributeId> out(in.count("attributes"));
  for (AttributeId& id : out) id = attribute(in);
  return out;
}
Fields BytecodeReader::named_attributes(ByteCursor& in) {
  Fields out;
  const size_t count = in.count("named attributes");
  for (size_t i = 0; i < count && !in.failed(); ++i) {
    const AttributeId name = attribute(in), value = attribute(in);
    out.emplace_back(text(in, name), value);
  }
  sort_fields(out);
  return out;
}
Dims BytecodeReader::integers(ByteCursor& in) {
  Dims out(in.count("integers"));
  for (int64_t& value : out) value = in.signed_varint();
  return out;
}
std::string BytecodeReader::string(ByteCursor& in) {
  const std::string_view text = file_.string(in);
  return afford(text.size(), in.offset()) ? std::string(text) : "";
}
const std::string& BytecodeReader::text(ByteCursor& in, AttributeId id) {
  static const std::string none;
  if (in.failed() || !id) return none;
  const Attribute& attribute = builder_.program[id];
  if (attribute.kind == AttributeKind::String)
    return afford(attribute.text.size(), in.offset()) ? attribute.text : none;
  in.fail("attribute {} is no string", id.value);
  return none;
}

int64_t BytecodeReader::integer_value(ByteCursor& in, TypeId id) {
  const Type& type = builder_.program[id];
  const int bits = type.kind == TypeKind::Index           ? 64
                   : type.element == ElementType::Pred    ? 1
                   : type.element == ElementType::Invalid ? 0
                                                          : bits_of(type.element);
  if (bits == 0 || !(type.kind == TypeKind::Index || is_integral(type.element) ||
                     type.element == ElementType::Pred)) {
    in.fail("an integer of a type that is no integer's");
    return 0;
  }
  uint64_t value = bits <= 8 ? in.byte() : static_cast<uint64_t>(in.signed_varint());
  const int unused = 64 - bits;
  value <<= unused;
  if (type.kind == TypeKind::Index || is_signed(type.element))
    return static_cast<int64_t>(value) >> unused;
  return static_cast<int64_t>(value >> unused);
}
double BytecodeReader::float_value(ByteCursor& in, ElementType element) {
  if (!is_floating(element)) {
    in.fail("a float of a type that is no float's");
    return 0;
  }
  const int bits = bits_of(element);
  const uint64_t value = bits <= 8 ? in.byte() : static_cast<uint64_t>(in.signed_varint());
  return float_of_bits(element, value);
}
Attribute BytecodeReader::typed_integer(ByteCursor& in) {
  const TypeId id = type(in);
  if (in.failed()) return {};
  const Type& found = builder_.program[id];
  if (found.kind == TypeKind::Other) {  // of an odd width, which nothing needs
    return {.kind = AttributeKind::Struct, .text = "builtin.unknown"};
  }
  const int64_t value = integer_value(in, id);
  if (builder_.program[id].element == ElementType::Pred)
    return {.kind = AttributeKind::Bool, .integer = value};
  return {.kind = AttributeKind::Integer, .integer = value, .type = id};
}
Attribute BytecodeReader::typed_float(ByteCursor& in) {
  const TypeId id = type(in);
  if (in.failed()) return {};
  if (builder_.program[id].kind == TypeKind::Other)
    return {.kind = AttributeKind::Struct, .text = "builtin.unknown"};
  const double value = float_value(in, builder_.program[id].element);
  return {.kind = AttributeKind::Float, .number = value, .type = id};
}
Attribute BytecodeReader::dense(ByteCursor& in) {
  const TypeId id = type(in);
  const std::string_view raw = in.bytes(in.varint());
  Attribute out;
  if (in.failed()) return out;
  if (const std::string fault = set_elements(builder_, id, raw, out); !fault.empty())
    in.fail("{}", fault);
  return out;
}

Attribute BytecodeReader::builtin_attribute(ByteCursor& in) {
  const uint64_t code = in.varint();
  switch (code) {
    case ArrayAttribute: return {.kind = AttributeKind::Array, .items = attributes(in)};
    case DictionaryAttribute:
      return {.kind = AttributeKind::Dictionary, .fields = named_attributes(in)};
    case FlatSymbol: {
      const AttributeId name = attribute(in);
      return {.kind = AttributeKind::Symbol, .text = text(in, name)};
    }
    case NestedSymbol: {
      Attribute out{.kind = AttributeKind::Symbol};
      out.text = text(in, attribute(in));
      attributes(in);
      return out;
    }
    case TypeAttribute: return {.kind = AttributeKind::Type, .type = type(in)};
    case UnitAttribute: return {.kind = AttributeKind::Unit};
    case IntegerAttribute: return typed_integer(in);
    case FloatAttribute: return typed_float(in);
    case DenseResource: {
      Attribute out{.kind = AttributeKind::Resource, .type = type(in)};
      const size_t index = in.index(file_.resources.size(), "resource");
      if (!in.failed()) out.text = file_.resources[index].first;
      return out;
    }
    case DenseArray: {
      const TypeId element = type(in);
      const uint64_t count = in.varint();
      const std::string_view raw = in.bytes(in.varint());
      Attribute out;
      if (in.failed()) return out;
      const auto size = static_cast<int64_t>(std::min<uint64_t>(count, INT64_MAX));
      const std::string fault = set_elements(builder_, builder_.tensor(element, {size}), raw, out);
      if (!fault.empty()) in.fail("{}", fault);
      return out;
    }
    case DenseElements: return dense(in);
    default: return location(in, code);
  }
}

Attribute BytecodeReader::location(ByteCursor& in, uint64_t code) {
  const auto structure = [&](std::string_view name, Fields fields) {
    sort_fields(fields);
    return Attribute{
        .kind = AttributeKind::Struct, .text = std::string(name), .fields = std::move(fields)};
  };
  switch (code) {
    case CallSite: {
      const AttributeId callee = attribute(in), caller = attribute(in);
      return structure("loc.callsite", {{"callee", callee}, {"caller", caller}});
    }
    case FileLineColumn: {
      const AttributeId file = attribute(in);
      const auto line = static_cast<int64_t>(in.varint()),
                 column = static_cast<int64_t>(in.varint());
      return copy(make_file_location(builder_, file, line, column, line, column));
    }
    case Fused:
    case FusedWithMetadata:
      return structure("loc.fused", {{"locations", builder_.array(attributes(in))}});
    case Name: {
      const AttributeId name = attribute(in), child = attribute(in);
      return structure("loc.name", {{"name", name}, {"child", child}});
    }
    case Unknown: return structure("loc.unknown", {});
    case FileRange: return file_range(in);
    default: return structure("builtin.unknown", {});
  }
}

// One to four numbers: line; column; end column; or end line and end column.
Attribute BytecodeReader::file_range(ByteCursor& in) {
  const AttributeId file = attribute(in);
  const size_t count = in.count("positions");
  constexpr size_t max_count = 4;
  if (count > max_count) in.fail("a range of {} positions", count);
  int64_t at[max_count] = {};
  for (size_t i = 0; i < count && !in.failed(); ++i) at[i] = static_cast<int64_t>(in.varint());
  if (in.failed()) return {};
  const int64_t end_line = count == max_count ? at[2] : at[0];
  const int64_t end_column = count == max_count ? at[3] : count == 3 ? at[2] : at[1];
  return copy(make_file_location(builder_, file, at[0], at[1], end_line, end_column));
}

}  // namespace hilo::mlir
