// The state of writing bytecode: the tables that a file begins with, filled as its ops are written.
// Private to write_bytecode*.cpp.
#pragma once

#include <unordered_map>

#include "wire/stablehlo/byte_writer.h"
#include "wire/stablehlo/from_module.h"
#include "wire/stablehlo/vhlo_ops.h"

namespace hilo::mlir {

// Dialects have their numbers in the file from here.
enum class Dialect : uint8_t { Builtin, Vhlo };
inline constexpr std::string_view dialect_names[] = {"builtin", "vhlo"};

// Attributes or types: each once, in the order of their numbers.
class EntryTable {
 public:
  uint64_t number(Dialect dialect, std::string bytes);
  size_t size() const { return entries_.size(); }
  void append_sizes(ByteWriter& out) const;  // in groups of one dialect
  void append_data(ByteWriter& out) const;

 private:
  struct Entry {
    Dialect dialect;
    const std::string* bytes;
  };
  std::vector<Entry> entries_;
  std::unordered_map<std::string, uint64_t> numbers_[std::size(dialect_names)];
};

class BytecodeWriter {
 public:
  BytecodeWriter(const Program& program, Release release) : program_(program), release_(release) {}
  Result<std::string> run();

 private:
  uint64_t string(std::string_view text);
  uint64_t op_name(Dialect dialect, const std::string& name);

  uint64_t type(TypeId id);
  void write_quantized(ByteWriter& out, const Quantization& from);
  Result<uint64_t> attribute(AttributeId id, Form form);
  Result<void> write_attribute(ByteWriter& out, const Attribute& attribute, Form form);
  Result<void> write_struct(ByteWriter& out, const Attribute& attribute);
  void write_tensor(ByteWriter& out, const Attribute& attribute);
  uint64_t vhlo_string(std::string_view text);
  uint64_t builtin_string(std::string_view text);
  uint64_t builtin_attribute(AttributeId id);  // of the module
  uint64_t builtin_dictionary(const std::vector<std::pair<uint64_t, uint64_t>>& fields);
  uint64_t location(AttributeId id);

  Result<void> write_operation(ByteWriter& out, OpId id, std::string_view parent);
  Result<void> write_module(ByteWriter& out);
  Result<uint64_t> properties(const Operation& operation, const VhloOp& op, int version);
  Result<uint64_t> discardable(const Operation& operation, const VhloOp& op);  // 0: none; else + 1
  Result<void> write_regions(ByteWriter& out, const Operation& operation, bool is_isolated);
  Result<void> write_region(ByteWriter& out, const Region& region, std::string_view parent);

  const Program& program_;
  const Release release_;
  std::vector<std::string> strings_;
  std::unordered_map<std::string, uint64_t> string_numbers_;
  EntryTable attributes_, types_;
  std::unordered_map<AttributeId, uint64_t> locations_;
  std::unordered_map<TypeId, uint64_t> type_numbers_;
  struct Name {
    Dialect dialect;
    uint64_t name;
  };
  std::vector<Name> names_;
  std::unordered_map<std::string, uint64_t> name_numbers_;
  std::vector<std::string> properties_;
  std::unordered_map<std::string, uint64_t> property_numbers_;
  std::unordered_map<ValueId, uint64_t> values_;
  uint64_t next_value_ = 0;  // the first number that the regions around do not use
};

}  // namespace hilo::mlir
