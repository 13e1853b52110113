// A program of MLIR as its two readers (bytecode.cpp, mlir_text.cpp) hand it to to_module.cpp: ops,
// regions, types and attributes in flat vectors, ids instead of pointers. Ops and attributes of
// VHLO stand under StableHLO's names: "vhlo.add_v1" is "stablehlo.add", "vhlo.func_v1" is
// "func.func". The attributes of a StableHLO op are those of VHLO's newest version, flat, by name:
// what StableHLO's text groups (dimension numbers, channel handles) is taken apart by its reader,
// what older versions lack has its default. Private to `wire`.
#pragma once

#include <map>
#include <optional>

#include "shape/shape.h"

namespace hilo::mlir {

using TypeId = Id<struct TypeTag>;
using AttributeId = Id<struct AttributeTag>;
using ValueId = Id<struct ValueTag>;
using OpId = Id<struct OpTag>;
using RegionId = Id<struct RegionTag>;
using BlockId = Id<struct BlockTag>;

// Of a file: a line and column of text (from 1), or the offset of a byte (line 0).
struct Position {
  int64_t line = 0, column = 0, offset = 0;
};

enum class TypeKind : uint8_t {
  Scalar,  // element; i1 is Pred, signless iN is SN
  Index,   // of shape vectors: 64 bits, signed
  Tensor,  // of `element_type` over dims
  Tuple,   // types
  Token,
  Function,   // types: inputs, then results
  Quantized,  // an element type
  Future,     // types: what async_done gives
  None,       // absent, where a type attribute is optional
  Other,      // text: kept until something needs it
};

// real = (stored - zero_point) * scale, stored within [min, max]; one scale and zero point, or one
// for each index of `axis`.
struct Quantization {
  ElementType storage = ElementType::Invalid, expressed = ElementType::Invalid;
  int64_t min = 0, max = 0;
  std::optional<int64_t> axis;
  std::vector<double> scales;
  std::vector<int64_t> zero_points;
};

struct Type {
  static constexpr int64_t dynamic = INT64_MIN;

  TypeKind kind = TypeKind::None;
  ElementType element = ElementType::Invalid;
  TypeId element_type;  // Scalar, Index or Quantized
  Dims dims;            // `dynamic` where unknown
  Dims bounds;          // of dynamic dimensions, `dynamic` where there is none; empty: none
  std::vector<TypeId> types;
  size_t inputs = 0;  // of a Function
  std::shared_ptr<const Quantization> quantization;
  std::string text;
};

enum class AttributeKind : uint8_t {
  Unit,
  Bool,        // integer: 0 or 1
  Integer,     // integer, type
  Float,       // number, type
  String,      // text
  Symbol,      // text: the name behind '@'
  Type,        // type
  Enum,        // text: the value's name: "LT", "DEFAULT", "API_VERSION_ORIGINAL", "NO_TRANSPOSE"
  Array,       // items
  Dictionary,  // fields, sorted by name
  Struct,      // text: which one, see below; fields
  Tensor,      // type, data: dense elements (DenseArray too)
  Resource,    // text: key of Program::resources; type
};

// Structs: what has parts with names of its own. Lists are Arrays.
//   "loc.name" {name, child}, "loc.file" {file, line, column, end_line, end_column},
//   "loc.callsite" {callee, caller}, "loc.fused" {locations}, "loc.unknown" {}
//   "sdy.mesh" {axes: ["sdy.axis" {name, size}], device_ids: [Integer]}
//   "sdy.axis_ref" {name, pre_size, size}: sizes 0 where it is the whole axis
//   "sdy.sharding" {mesh: Symbol or "sdy.mesh", dims: ["sdy.dim" {axes, is_closed, priority}],
//                   replicated: [axis_ref], unreduced: [axis_ref], unreduced_op: String: "max",
//                   "min" or "", a sum}; priority -1: none
//   "sdy.op_sharding_rule" {rule: String}: as the text has it, "<([i, j])->([i, j]) {i=4, j=8}>"
//   "sdy.per_value" {shardings}, "sdy.manual_axes" {names: [String]}
//   "alias" {output_index: [Integer], operand, operand_index: [Integer]}
//   "mesh_axes" {mesh: Symbol or "sdy.mesh", axes: [axis_ref]}: replica groups by a mesh
//   "result_accuracy" {atol, rtol, ulps, mode: Enum}
// Others have the name and the fields of their dialect and are ignored by to_module. Fields are
// sorted by name. Of what only another dialect knows, the name alone is kept: "chlo.unknown".
struct Attribute {
  AttributeKind kind = AttributeKind::Unit;
  int64_t integer = 0;
  double number = 0;
  std::string text;
  TypeId type;
  std::vector<AttributeId> items;
  std::vector<std::pair<std::string, AttributeId>> fields;
  // Elements row-major, little-endian; Pred and types below a byte one a byte (extended by their
  // sign); strings are no tensors. One element where is_splat.
  std::shared_ptr<const std::string> data;
  bool is_splat = false;
};

struct Value {
  TypeId type;
  std::string name;      // as the text has it, without '%': "a", "0#1"; empty from bytecode
  AttributeId location;  // of a block argument
};

struct Operation {
  std::string name;  // "stablehlo.add", "func.func", "sdy.mesh", "builtin.module", "func.return"
  std::vector<ValueId> operands, results;
  // Sorted by name; properties and discardable ones together. "mhlo.backend_config" and
  // "sdy.sharding" keep the dialect in their names.
  std::vector<std::pair<std::string, AttributeId>> attributes;
  std::vector<RegionId> regions;
  AttributeId location;  // or none
  Position position;
};

struct Block {
  std::vector<ValueId> arguments;
  std::vector<OpId> operations;
};
struct Region {
  std::vector<BlockId> blocks;
};

struct Program {
  std::vector<Type> types;
  std::vector<Attribute> attributes;
  std::vector<Value> values;
  std::vector<Operation> operations;
  std::vector<Region> regions;
  std::vector<Block> blocks;
  std::map<std::string, std::shared_ptr<const std::string>> resources;  // without the alignment
  OpId module;       // the one builtin.module at the top
  std::string file;  // for messages
  std::string producer;

  const Type& operator[](TypeId id) const { return types[id.value]; }
  const Attribute& operator[](AttributeId id) const { return attributes[id.value]; }
  const Value& operator[](ValueId id) const { return values[id.value]; }
  const Operation& operator[](OpId id) const { return operations[id.value]; }
  const Region& operator[](RegionId id) const { return regions[id.value]; }
  const Block& operator[](BlockId id) const { return blocks[id.value]; }
  // Of an op or of a dictionary or struct; null where it has none.
  const Attribute* find(const Operation& operation, std::string_view name) const;
  const Attribute* find(const Attribute& dictionary, std::string_view name) const;
};

// Types are equal where their ids are. The attributes of a StableHLO op (vhlo_ops.def) are all
// there and of the kind that the table says; names of functions in them are Strings. An op of a
// version that is not known keeps its name: "vhlo.add_v9". What locations and other attributes hold
// beyond the table is not checked: whoever needs them looks at their kinds. Casts between equal
// types are gone. Every id leads to something, each value is defined before its uses within its
// region or around it, and regions nest at most 200 deep. Errors: Format with the offset of the
// byte and the op, or Syntax with line and column.
Result<Program> read_bytecode(std::span<const std::byte> bytes, const std::string& file);
Result<Program> read_text(std::string_view text, const std::string& file);

}  // namespace hilo::mlir
