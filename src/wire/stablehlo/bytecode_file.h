// The sections of an MLIR bytecode file, tables resolved, attributes and ops still bytes.
// Format: "MLIR Bytecode Format" of the MLIR documentation, versions 0 to 6.
#pragma once

#include "wire/stablehlo/byte_cursor.h"

namespace hilo::mlir {

struct BytecodeEntry {
  std::string_view bytes;
  int64_t offset = 0;
  uint32_t dialect = 0;
  bool is_custom = true;  // the dialect's own encoding; else text
};

struct BytecodeOpName {
  uint32_t dialect = 0;
  std::string_view name;
};

struct BytecodeFile {
  // Bytecode versions that changed something.
  static constexpr uint64_t has_dialect_versions = 1, has_isolated_sections = 2,
                            has_use_list_orders = 3, has_op_counts = 4, has_properties = 5,
                            newest = 6;

  uint64_t version = 0;
  std::string_view producer;
  std::vector<std::string_view> strings, dialects;
  std::vector<BytecodeOpName> op_names;
  std::vector<BytecodeEntry> attributes, types, properties;
  BytecodeEntry operations;
  // Names and blobs of resources that attributes count through.
  std::vector<std::pair<std::string_view, std::string_view>> resources;

  std::string_view string(ByteCursor& in) const {
    const size_t index = in.index(strings.size(), "string");
    return in.failed() ? std::string_view() : strings[index];
  }
};

// The section that stands next: its contents and its number.
BytecodeEntry next_section(ByteCursor& in, uint8_t& id);
void read_sections(std::string_view bytes, BytecodeFile& file, Fault& fault);

}  // namespace hilo::mlir
