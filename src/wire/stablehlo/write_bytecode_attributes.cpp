// Types and attributes: codes of VhloBytecode.cpp of StableHLO and BuiltinDialectBytecode.td of
// MLIR.
#include <algorithm>
#include <bit>

#include "wire/stablehlo/bytecode_writer.h"

namespace hilo::mlir {
namespace {

enum VhloAttributeCode : uint64_t {
  ArrayCode = 1,
  BooleanCode,
  DirectionCode,
  ComparisonTypeCode,
  ApiVersionCode,
  DictionaryCode,
  FftTypeCode,
  FloatCode,
  IntegerCode,
  AliasCode,
  PrecisionCode,
  AlgorithmCode,
  DistributionCode,
  StringCode,
  TensorCode,
  TransposeCode,
  TypeCode,
  BoundsCode,
  AccuracyModeCode,
  AccuracyCode,
};
enum BuiltinAttribute : uint64_t {
  BuiltinDictionary = 1,
  BuiltinString = 2,
  BuiltinInteger = 8,
  BuiltinCallSite = 10,
  BuiltinFused = 12,
  BuiltinName = 14,
  BuiltinUnknown = 15,
  BuiltinFileRange = 22,
};

uint64_t enum_code(Form form) {
  switch (form) {
    case Form::Direction: return DirectionCode;
    case Form::ComparisonType: return ComparisonTypeCode;
    case Form::ApiVersion: return ApiVersionCode;
    case Form::FftType: return FftTypeCode;
    case Form::Algorithm: return AlgorithmCode;
    case Form::Distribution: return DistributionCode;
    case Form::Transpose: return TransposeCode;
    case Form::Accuracy: return AccuracyModeCode;
    default: return PrecisionCode;
  }
}

uint64_t enum_number(Form form, std::string_view name) {
  constexpr uint64_t max_values = 8;
  for (uint64_t i = 0; i < max_values; ++i) {
    const std::string_view at = form == Form::Precisions ? precision_of(i)
                                : form == Form::Accuracy ? accuracy_mode_of(i)
                                                         : enumerator_of(form, i);
    if (!at.empty() && at == name) return i;
  }
  fail_check("an enum's value that VHLO does not have", std::source_location::current());
}

// Bits of an integer as MLIR's APInt: narrow ones as a byte, others in zigzag.
void write_integer(ByteWriter& out, int bits, int64_t value) {
  const uint64_t mask = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  if (bits <= 8) out.byte(static_cast<uint8_t>(static_cast<uint64_t>(value) & mask));
  else out.signed_varint(static_cast<int64_t>(static_cast<uint64_t>(value) & mask));
}

uint64_t bits_of_float(ElementType type, double value) {
  return visit_storage(type, [&]<class T>(std::type_identity<T>) -> uint64_t {
    uint64_t bits = 0;
    if constexpr (sizeof(T) <= sizeof(bits) && requires { static_cast<T>(1.0f); }) {
      T narrow;
      if constexpr (std::is_same_v<T, double>) narrow = value;
      else narrow = static_cast<T>(static_cast<float>(value));
      std::memcpy(&bits, &narrow, sizeof(T));
    }
    return bits;
  });
}

void write_float(ByteWriter& out, ElementType type, double value) {
  write_integer(out, bits_of(type), static_cast<int64_t>(bits_of_float(type, value)));
}

}  // namespace

uint64_t BytecodeWriter::vhlo_string(std::string_view text) {
  ByteWriter out;
  out.varint(StringCode);
  out.varint(string(text));
  return attributes_.number(Dialect::Vhlo, out.take());
}

uint64_t BytecodeWriter::builtin_string(std::string_view text) {
  ByteWriter out;
  out.varint(BuiltinString);
  out.varint(string(text));
  return attributes_.number(Dialect::Builtin, out.take());
}

uint64_t BytecodeWriter::builtin_dictionary(
    const std::vector<std::pair<uint64_t, uint64_t>>& fields) {
  ByteWriter out;
  out.varint(BuiltinDictionary);
  out.varint(fields.size());
  for (const auto& [name, value] : fields) {
    out.varint(name);
    out.varint(value);
  }
  return attributes_.number(Dialect::Builtin, out.take());
}

// Of the module: strings, dictionaries and integers of 32 bits.
uint64_t BytecodeWriter::builtin_attribute(AttributeId id) {
  const Attribute& attribute = program_[id];
  if (attribute.kind == AttributeKind::Dictionary) {
    std::vector<std::pair<uint64_t, uint64_t>> fields;
    for (const auto& [name, value] : attribute.fields)
      fields.emplace_back(builtin_string(name), builtin_attribute(value));
    return builtin_dictionary(fields);
  }
  if (attribute.kind != AttributeKind::Integer) return builtin_string(attribute.text);
  constexpr uint64_t integer_type = 0, bits = 32;
  ByteWriter type, out;
  type.varint(integer_type);
  type.varint(bits << 2);
  out.varint(BuiltinInteger);
  out.varint(types_.number(Dialect::Builtin, type.take()));
  write_integer(out, bits, attribute.integer);
  return attributes_.number(Dialect::Builtin, out.take());
}

uint64_t BytecodeWriter::location(AttributeId id) {
  if (id) {
    const auto known = locations_.find(id);
    if (known != locations_.end()) return known->second;
  }
  const auto field = [&](std::string_view name) { return find_field(program_[id].fields, name); };
  const auto integer = [&](std::string_view name) {
    return static_cast<uint64_t>(program_[field(name)].integer);
  };
  const std::string_view kind = id ? std::string_view(program_[id].text) : "loc.unknown";
  ByteWriter out;
  if (kind == "loc.name") {
    const uint64_t name = builtin_string(program_[field("name")].text);
    const uint64_t child = location(field("child"));
    out.varint(BuiltinName);
    out.varint(name);
    out.varint(child);
  } else if (kind == "loc.callsite") {
    const uint64_t callee = location(field("callee")), caller = location(field("caller"));
    out.varint(BuiltinCallSite);
    out.varint(callee);
    out.varint(caller);
  } else if (kind == "loc.file") {
    const uint64_t file = builtin_string(program_[field("file")].text);
    const uint64_t line = integer("line"), column = integer("column");
    const uint64_t end_line = integer("end_line"), end_column = integer("end_column");
    out.varint(BuiltinFileRange);
    out.varint(file);
    if (end_line == line && end_column == column) {
      out.varint(2);
      out.varint(line);
      out.varint(column);
    } else {
      out.varint(4);
      for (const uint64_t one : {line, column, end_line, end_column}) out.varint(one);
    }
  } else {
    out.varint(BuiltinUnknown);
  }
  const uint64_t number = attributes_.number(Dialect::Builtin, out.take());
  if (id) locations_.emplace(id, number);
  return number;
}

Result<uint64_t> BytecodeWriter::attribute(AttributeId id, Form form) {
  const Attribute& from = program_[id];
  if (from.kind == AttributeKind::String || from.kind == AttributeKind::Symbol)
    return vhlo_string(from.text);
  ByteWriter out;
  HILO_DO(write_attribute(out, from, form));
  return attributes_.number(Dialect::Vhlo, out.take());
}

Result<void> BytecodeWriter::write_attribute(ByteWriter& out, const Attribute& from, Form form) {
  switch (from.kind) {
    case AttributeKind::Unit:
    case AttributeKind::Bool:
      out.varint(BooleanCode);
      out.varint(from.kind == AttributeKind::Unit || from.integer != 0);
      return {};
    case AttributeKind::Integer: {
      const Type& of = program_[from.type];
      out.varint(IntegerCode);
      out.varint(type(from.type));
      const int bits = of.kind == TypeKind::Index        ? 64
                       : of.element == ElementType::Pred ? 1
                                                         : bits_of(of.element);
      write_integer(out, bits, from.integer);
      return {};
    }
    case AttributeKind::Float:
      out.varint(FloatCode);
      out.varint(type(from.type));
      write_float(out, program_[from.type].element, from.number);
      return {};
    case AttributeKind::Type:
      out.varint(TypeCode);
      out.varint(type(from.type));
      return {};
    case AttributeKind::Enum:
      out.varint(enum_code(form));
      out.varint(enum_number(form, from.text));
      return {};
    case AttributeKind::Array: {
      std::vector<uint64_t> items;
      for (const AttributeId item : from.items) {
        HILO_TRY(items.emplace_back(), attribute(item, form));
      }
      out.varint(ArrayCode);
      out.varint(items.size());
      for (const uint64_t item : items) out.varint(item);
      return {};
    }
    case AttributeKind::Dictionary: {
      std::vector<uint64_t> fields;
      for (const auto& [name, value] : from.fields) {
        fields.push_back(vhlo_string(name));
        HILO_TRY(fields.emplace_back(), attribute(value, Form::Any));
      }
      out.varint(DictionaryCode);
      out.varint(from.fields.size());
      for (const uint64_t one : fields) out.varint(one);
      return {};
    }
    case AttributeKind::Tensor: return write_tensor(out, from), Result<void>();
    default: return write_struct(out, from);
  }
}

Result<void> BytecodeWriter::write_struct(ByteWriter& out, const Attribute& from) {
  const auto field = [&](std::string_view name) -> const Attribute& {
    return program_[find_field(from.fields, name)];
  };
  const auto integers = [&](const Attribute& list) {
    out.varint(list.items.size());
    for (const AttributeId item : list.items) out.signed_varint(program_[item].integer);
  };
  if (from.text == "alias") {
    out.varint(AliasCode);
    integers(field("output_index"));
    out.signed_varint(field("operand").integer);
    integers(field("operand_index"));
    return {};
  }
  if (from.text == "result_accuracy") {
    HILO_TRY(const uint64_t mode, attribute(find_field(from.fields, "mode"), Form::Accuracy));
    out.varint(AccuracyCode);
    write_float(out, ElementType::F64, field("atol").number);
    write_float(out, ElementType::F64, field("rtol").number);
    out.signed_varint(field("ulps").integer);
    out.varint(mode);
    return {};
  }
  return fail(ErrorKind::Unsupported, "an attribute {} in bytecode", from.text);
}

// Booleans lie eight to a byte, low bit first; all others take whole bytes, those below a byte
// without their sign. One element stands for all.
void BytecodeWriter::write_tensor(ByteWriter& out, const Attribute& from) {
  const Type& of = program_[from.type];
  const ElementType element = program_[of.element_type].element;
  std::string data = from.data ? *from.data : std::string();
  if (element == ElementType::Pred && from.is_splat) {
    data = std::string(1, data[0] ? '\xff' : '\0');
  } else if (element == ElementType::Pred) {
    std::string packed((data.size() + 7) / 8, '\0');
    for (size_t i = 0; i < data.size(); ++i)
      if (data[i]) packed[i / 8] = static_cast<char>(packed[i / 8] | 1 << (i % 8));
    data = packed;
  } else if (element != ElementType::Invalid && bits_of(element) < 8) {
    for (char& c : data) c = static_cast<char>(c & ((1 << bits_of(element)) - 1));
  }
  out.varint(TensorCode);
  out.varint(type(from.type));
  out.blob(data);
}

}  // namespace hilo::mlir
