// The ops of VHLO and their attributes, see vhlo_ops.def; what brings attributes of any version and
// of StableHLO's text to those of the newest version.
#pragma once

#include <array>

#include "wire/stablehlo/mlir_builder.h"

namespace hilo::mlir {

enum class Form : uint8_t {
  I64,
  I32,
  F32,
  Bool,
  Text,    // a String; names of functions too
  Texts,   // an Array of String
  Config,  // String or Dictionary
  Dictionary,
  List,       // an Array
  Arguments,  // an Array of Dictionary, one for each value; empty where all are
  Layouts,    // an Array of Tensor, minor to major
  Constant,   // a Tensor or Resource
  Numbers,    // a Tensor of i64 in one dimension
  Pairs,      // of i64 in two dimensions; also none in one dimension
  Groups,     // the same, or "mesh_axes"
  Flags,      // a Tensor of booleans
  Direction,  // Enums from here
  ComparisonType,
  ApiVersion,
  FftType,
  Algorithm,
  Distribution,
  Transpose,
  Precisions,  // an Array of Enum
  Accuracy,    // "result_accuracy"
  Any,
};

enum class Fallback : uint8_t {
  Required,
  Zero,
  MinusOne,
  False,
  Empty,
  NoType,  // a Type attribute of kind None
  First,   // the value that changes nothing: "DEFAULT", "NOTYPE", "API_VERSION_ORIGINAL"
  Ones,    // one for each dimension of the window
  Zeros,   // a pair for each dimension of the window
};

struct VhloAttribute {
  std::string_view name;
  Form form = Form::Any;
  Fallback fallback = Fallback::Required;
  int since = 1, until = 0;  // versions of the op; until 0: it has it still

  bool is_in(int version) const { return since <= version && (until == 0 || version <= until); }
};

struct VhloOp {
  std::string_view name;  // without dialect and version
  int newest = 1;
  std::array<VhloAttribute, 17> attributes = {};

  std::span<const VhloAttribute> all() const {
    size_t count = 0;
    while (count < attributes.size() && !attributes[count].name.empty()) ++count;
    return std::span(attributes).first(count);
  }
};

const VhloOp* find_vhlo_op(std::string_view name);  // "add"; null: no such op
// Of "stablehlo.add", "func.call"; null: none.
const VhloOp* find_stablehlo_op(std::string_view name);
// "add_v1" -> {add, 1}; null where there is no such op or version.
struct VersionedOp {
  const VhloOp* op = nullptr;
  int version = 0;
};
VersionedOp find_versioned_op(std::string_view name);
// "stablehlo.add", "func.func"; the caller knows which return it is.
std::string stablehlo_name(const VhloOp& op);

// What StableHLO groups (dimension numbers, channel handles), VHLO has flat; the fields come out
// sorted. Parts that the op does not have say nothing to it.
void ungroup(Builder& builder, const VhloOp& op, Fields& attributes);
// Adds what is missing and brings all to their forms, fields sorted before and after. The fault, or
// "".
std::string complete(Builder& builder, const VhloOp& op, Fields& attributes);
// Whether the attribute says what its absence means.
bool is_fallback(const Program& program, const VhloAttribute& spec, const Attribute& attribute);
std::string_view text_of(Form form);

// Enums by their numbers in bytecode; "" where there is none.
std::string_view enumerator_of(Form form, uint64_t number);
std::string_view accuracy_mode_of(uint64_t number);
std::string_view precision_of(uint64_t number);

}  // namespace hilo::mlir
