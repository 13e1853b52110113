// Locations of MLIR as HLO's metadata: names of ops, source lines, stack frames. Private to `wire`.
#pragma once

#include <array>
#include <unordered_map>

#include "ir/ir.h"
#include "wire/stablehlo/mlir.h"

namespace hilo::mlir {

// What an instruction says of where it comes from.
struct Origin {
  MetadataId metadata;
  std::string name;  // what names of instructions begin with; empty: the op's text
};

// The outermost loc.name is the op's name, what it holds the call stack: chains of loc.callsite
// whose ends are places in files, perhaps in a loc.name that is a function's.
class Origins {
 public:
  Origins(const Program& program, Module& module) : program_(program), module_(module) {}
  const Origin& of(AttributeId location);

 private:
  struct Found {
    std::string name;
    int64_t frame = 0;
    const Attribute* file = nullptr;  // of the innermost frame
  };
  Origin make(AttributeId location);
  Found read(const Attribute& location, bool in_name, int depth);
  int64_t frame_of(const Attribute& location, const std::string& function, int64_t parent,
                   Found& found, int depth);
  int64_t text_id(std::map<std::string, int64_t>& ids, std::vector<std::string>& texts,
                  const std::string& text);
  const Attribute* field(const Attribute& of, std::string_view name) const {
    return program_.find(of, name);
  }
  std::string text_field(const Attribute& of, std::string_view name) const;
  int64_t integer_field(const Attribute& of, std::string_view name) const;

  const Program& program_;
  Module& module_;
  std::unordered_map<AttributeId, Origin> known_;
  std::map<std::string, int64_t> files_, functions_;
  std::map<std::array<int64_t, 6>, int64_t> locations_;
  std::map<std::pair<int64_t, int64_t>, int64_t> frames_;
  int steps_ = 0;  // through one location: shared parts could be walked without end
};

}  // namespace hilo::mlir
