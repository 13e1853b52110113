// Traps unless a program keeps what wire/stablehlo/mlir.h says of it.
#pragma once

#include "wire/stablehlo/mlir_builder.h"

namespace hilo::mlir {

class Laws {
 public:
  explicit Laws(const Program& program) : program_(program), is_defined_(program.values.size()) {}
  void check() {
    for (const Type& type : program_.types) {
      if (type.kind == TypeKind::Tensor) has(type.element_type, program_.types);
      for (const TypeId part : type.types) has(part, program_.types);
    }
    for (const Attribute& attribute : program_.attributes) this->attribute(attribute);
    has(program_.module, program_.operations);
    if (program_[program_.module].name != "builtin.module") __builtin_trap();
    operation(program_.module, 0);
  }

 private:
  template <class Tag, class Things>
  static void has(Id<Tag> id, const Things& things) {
    if (id.value >= things.size()) __builtin_trap();
  }
  void attribute(const Attribute& attribute) const {
    for (const AttributeId item : attribute.items) has(item, program_.attributes);
    for (size_t i = 0; i < attribute.fields.size(); ++i) {
      has(attribute.fields[i].second, program_.attributes);
      if (i > 0 && attribute.fields[i].first < attribute.fields[i - 1].first) __builtin_trap();
    }
    if (attribute.kind != AttributeKind::Tensor) return;
    has(attribute.type, program_.types);
    const Type& type = program_[attribute.type];
    const int64_t count = element_count(type), width = element_bytes(program_, type);
    const int64_t wanted = (attribute.is_splat ? 1 : count) * width;
    if (width == 0 || static_cast<int64_t>(attribute.data->size()) != wanted) __builtin_trap();
  }
  void define(const std::vector<ValueId>& values) {
    for (const ValueId id : values) {
      has(id, program_.values);
      has(program_[id].type, program_.types);
      if (is_defined_[id.value]) __builtin_trap();
      is_defined_[id.value] = true;
      defined_.push_back(id);
    }
  }
  void operation(OpId id, int depth) {
    constexpr int max_depth = 201;
    if (depth > max_depth) __builtin_trap();
    const Operation& op = program_[id];
    for (const ValueId operand : op.operands) {
      has(operand, program_.values);
      if (!is_defined_[operand.value]) __builtin_trap();
    }
    define(op.results);
    for (const auto& [name, value] : op.attributes) has(value, program_.attributes);
    for (const RegionId region : op.regions) {
      has(region, program_.regions);
      const size_t around = defined_.size();
      for (const BlockId block : program_[region].blocks) {
        has(block, program_.blocks);
        define(program_[block].arguments);
        for (const OpId inner : program_[block].operations) {
          has(inner, program_.operations);
          operation(inner, depth + 1);
        }
      }
      // What a region defines ends with it.
      for (size_t i = around; i < defined_.size(); ++i) is_defined_[defined_[i].value] = false;
      defined_.resize(around);
    }
  }

  const Program& program_;
  std::vector<bool> is_defined_;
  std::vector<ValueId> defined_;
};

}  // namespace hilo::mlir
