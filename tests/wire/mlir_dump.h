// A Program as text that is the same for the same program, however it was written: values by their
// order, no locations, no names of values, equal elements as one.
#pragma once

#include <map>

#include "wire/stablehlo/mlir_builder.h"

namespace hilo::mlir {

class Dump {
 public:
  explicit Dump(const Program& program) : program_(program) {}
  std::string text() {
    operation(program_.module, 0);
    return std::move(out_);
  }

  std::string type(TypeId id) const {
    if (!id) return "none";
    const Type& type = program_[id];
    switch (type.kind) {
      case TypeKind::Scalar: return std::string(text_of(type.element));
      case TypeKind::Index: return "index";
      case TypeKind::Tensor:
        return fmt::format("{}{}{}", this->type(type.element_type), list(type.dims),
                           type.bounds.empty() ? "" : "<=" + list(type.bounds));
      case TypeKind::Tuple: return "tuple" + types(type.types);
      case TypeKind::Token: return "token";
      case TypeKind::Function: return fmt::format("fn{}/{}", types(type.types), type.inputs);
      case TypeKind::Future: return "future" + types(type.types);
      case TypeKind::None: return "none";
      case TypeKind::Other: return "other " + type.text;
      case TypeKind::Quantized: break;
    }
    const Quantization& q = *type.quantization;
    std::string out = fmt::format("quant<{}:{} {}..{} axis {}", text_of(q.storage),
                                  text_of(q.expressed), q.min, q.max, q.axis.value_or(-1));
    for (size_t i = 0; i < q.scales.size(); ++i)
      out += fmt::format(" {}:{}", q.scales[i], q.zero_points[i]);
    return out + ">";
  }

  std::string attribute(AttributeId id) const {
    const Attribute& a = program_[id];
    switch (a.kind) {
      case AttributeKind::Unit: return "unit";
      case AttributeKind::Bool: return a.integer ? "true" : "false";
      case AttributeKind::Integer: return fmt::format("{}:{}", a.integer, type(a.type));
      case AttributeKind::Float: return fmt::format("{}:{}", a.number, type(a.type));
      case AttributeKind::String: return fmt::format("\"{}\"", a.text);
      case AttributeKind::Symbol: return "@" + a.text;
      case AttributeKind::Type: return "type " + type(a.type);
      case AttributeKind::Enum: return "enum " + a.text;
      case AttributeKind::Resource: return fmt::format("resource {}:{}", a.text, type(a.type));
      case AttributeKind::Tensor: return type(a.type) + elements(a);
      case AttributeKind::Array: {
        std::string out = "[";
        for (const AttributeId item : a.items) out += attribute(item) + ",";
        return out + "]";
      }
      case AttributeKind::Dictionary:
      case AttributeKind::Struct: return a.text + fields(a.fields);
    }
    return "?";
  }

 private:
  static std::string list(const Dims& dims) {
    std::string out = "[";
    for (const int64_t dim : dims) out += dim == Type::dynamic ? "?," : fmt::format("{},", dim);
    return out + "]";
  }
  std::string types(const std::vector<TypeId>& ids) const {
    std::string out = "(";
    for (const TypeId id : ids) out += type(id) + ",";
    return out + ")";
  }
  std::string elements(const Attribute& a) const {
    std::string_view data = *a.data;
    const auto width = static_cast<size_t>(element_bytes(program_, program_[a.type]));
    bool is_same = true;
    for (size_t i = width; is_same && i < data.size(); i += width)
      is_same = data.substr(i, width) == data.substr(0, width);
    if (is_same) data = data.substr(0, width);
    std::string out = "=";
    for (const char c : data) out += fmt::format("{:02x}", static_cast<uint8_t>(c));
    return out;
  }
  std::string fields(const Fields& fields) const {
    std::string out = "{";
    for (const auto& [name, value] : fields) out += name + "=" + attribute(value) + ",";
    return out + "}";
  }
  void define(const std::vector<ValueId>& values) {
    for (const ValueId id : values) {
      const size_t number = numbers_.size();
      numbers_[id] = number;
      out_ += fmt::format("%{}:{} ", number, type(program_[id].type));
    }
  }
  void operation(OpId id, int depth) {
    const Operation& op = program_[id];
    out_.append(static_cast<size_t>(depth), ' ');
    const size_t start = out_.size();
    std::string uses;
    for (const ValueId operand : op.operands) uses += fmt::format("%{} ", numbers_.at(operand));
    define(op.results);
    out_.insert(start, op.name + "(" + uses + ") -> ");
    out_ += fields(op.attributes) + "\n";
    for (const RegionId region : op.regions) {
      out_.append(static_cast<size_t>(depth), ' ');
      out_ += "region\n";
      for (const BlockId block : program_[region].blocks) {
        out_.append(static_cast<size_t>(depth), ' ');
        out_ += "^";
        define(program_[block].arguments);
        out_ += "\n";
        for (const OpId inner : program_[block].operations) operation(inner, depth + 1);
      }
    }
  }

  const Program& program_;
  std::string out_;
  std::map<ValueId, size_t> numbers_;
};

}  // namespace hilo::mlir
