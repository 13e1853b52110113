// A bytecode file on its way to a Program: attribute i of the file is attribute i of the program,
// what is made beside them follows.
#pragma once

#include "wire/stablehlo/bytecode_file.h"
#include "wire/stablehlo/mlir_builder.h"

namespace hilo::mlir {

class BytecodeReader {
 public:
  explicit BytecodeReader(std::string_view bytes)
      : bytes_(bytes), budget_(bytes.size() * bytes_for_each + bytes_for_all) {}
  Result<Program> read();

 private:
  // bytecode_types.cpp
  void read_types();
  TypeId type_at(size_t index, int depth, int64_t offset);
  TypeId read_type(const BytecodeEntry& entry, int depth);
  TypeId builtin_type(ByteCursor& in, int depth);
  TypeId vhlo_type(ByteCursor& in, int depth);
  TypeId stablehlo_type(ByteCursor& in, int depth);
  TypeId encoded_tensor_type(ByteCursor& in, int depth);
  TypeId tensor_type(ByteCursor& in, int depth, Dims bounds);
  TypeId quantized_type(ByteCursor& in, int depth, bool is_per_axis);
  TypeId child(ByteCursor& in, int depth);
  std::vector<TypeId> children(ByteCursor& in, int depth);
  TypeId type(ByteCursor& in);  // once all are read

  // bytecode_attributes.cpp
  void read_attributes();
  bool read_string(const BytecodeEntry& entry, Attribute& out);
  Attribute read_attribute(const BytecodeEntry& entry);
  Attribute builtin_attribute(ByteCursor& in);
  Attribute location(ByteCursor& in, uint64_t code);
  Attribute file_range(ByteCursor& in);
  // bytecode_vhlo.cpp
  Attribute vhlo_attribute(ByteCursor& in);
  Attribute vhlo_struct(ByteCursor& in, uint64_t code);
  Attribute alias(ByteCursor& in);
  Attribute accuracy(ByteCursor& in);
  // bytecode_stablehlo.cpp
  Attribute stablehlo_attribute(ByteCursor& in);
  Attribute stablehlo_mesh(ByteCursor& in, uint64_t code);
  Attribute dot_algorithm(ByteCursor& in);
  Attribute chlo_attribute(ByteCursor& in);
  // bytecode_sdy.cpp
  Attribute sdy_attribute(ByteCursor& in);
  Attribute sharding_rule(ByteCursor& in);
  std::string mappings(ByteCursor& in);
  ByteCursor opened(AttributeId id, uint64_t code);
  Dims indices(ByteCursor& in);
  Attribute sub_axis_sizes(ByteCursor& in);              // an sdy.sub_axis
  std::pair<int64_t, int64_t> sub_axis(AttributeId id);  // {0, 0} where there is none

  // Parts of attributes.
  AttributeId attribute(ByteCursor& in);           // index
  AttributeId optional_attribute(ByteCursor& in);  // index<<1 | present; or none
  std::vector<AttributeId> attributes(ByteCursor& in);
  Fields named_attributes(ByteCursor& in);
  Dims integers(ByteCursor& in);
  std::string string(ByteCursor& in);                       // of the table of strings
  const std::string& text(ByteCursor& in, AttributeId id);  // of a String or Symbol
  int64_t integer_value(ByteCursor& in, TypeId type);
  double float_value(ByteCursor& in, ElementType element);
  Attribute typed_integer(ByteCursor& in);
  Attribute typed_float(ByteCursor& in);
  Attribute dense(ByteCursor& in);
  // As an entry of the table: what a builder's method made.
  Attribute copy(AttributeId id) { return builder_.program[id]; }

  // What entries share is copied into each that names it: the sum must stay near the file's size.
  static constexpr size_t bytes_for_each = 256, bytes_for_all = 16 << 20;
  bool afford(size_t bytes, int64_t offset);

  std::string_view dialect(uint32_t index) const { return file_.dialects[index]; }
  Result<Program> failure();

  std::string_view bytes_;
  size_t budget_;
  Fault fault_;
  BytecodeFile file_;
  Builder builder_;
  std::vector<TypeId> types_;
  std::vector<bool> is_open_;  // types whose parts are being read

  friend class OperationReader;
};

// bytecode_operations.cpp
void read_operations(BytecodeReader& reader);

}  // namespace hilo::mlir
