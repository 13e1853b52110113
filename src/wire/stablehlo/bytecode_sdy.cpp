// Attributes of Shardy in bytecode. Codes: sdy_bytecode.cpp of Shardy.
#include "wire/stablehlo/bytecode_reader.h"
#include "wire/stablehlo/structs.h"

namespace hilo::mlir {
namespace {

enum SdyAttribute : uint64_t {
  ManualAxes,
  MeshAxis,
  Mesh,
  SubAxis,
  AxisRef,
  DimensionSharding,
  Sharding,
  PerValue,
  DimMapping,
  TensorMapping,
  ShardingRule,
  UnreducedSharding = 15,
  UnreducedPerValue,
  ReducedSharding,
};
constexpr uint64_t vhlo_sub_axis = 21, stablehlo_sub_axis = 19;

// i, j, … z, i_1, … as Shardy's text names them.
std::string name_of_factor(int64_t number) {
  const std::string letter(1, static_cast<char>('i' + number % 18));
  return number < 18 ? letter : fmt::format("{}_{}", letter, number / 18);
}

std::string names_of(const Dims& factors, std::string_view between) {
  std::string out;
  for (const int64_t factor : factors)
    out += fmt::format("{}{}", out.empty() ? "" : between, name_of_factor(factor));
  return out;
}

}  // namespace

// ([i, jk], [k]) of arrays, each with the factors of its dimensions.
std::string BytecodeReader::mappings(ByteCursor& in) {
  std::string out;
  for (const AttributeId array : attributes(in)) {
    ByteCursor dims = opened(array, TensorMapping);
    std::string text;
    for (const AttributeId dim : attributes(dims)) {
      ByteCursor factors = opened(dim, DimMapping);
      text += fmt::format("{}{}", text.empty() ? "" : ", ", names_of(indices(factors), ""));
    }
    out += fmt::format("{}[{}]", out.empty() ? "" : ", ", text);
  }
  return "(" + out + ")";
}

// <([i, k], [k, j])->([i, j]) {i=8, k=4, j=16} reduction={k}>
Attribute BytecodeReader::sharding_rule(ByteCursor& in) {
  const Dims sizes = integers(in);
  const std::string operands = mappings(in), results = mappings(in);
  std::string text;
  for (size_t i = 0; i < sizes.size(); ++i)
    text += fmt::format("{}{}={}", i > 0 ? ", " : " {", name_of_factor(static_cast<int64_t>(i)),
                        sizes[i]);
  if (!text.empty()) text += "}";
  for (const char* kind : {"reduction", "need_replication", "permutation", "blocked_propagation"})
    if (const Dims factors = indices(in); !factors.empty())
      text += fmt::format(" {}={{{}}}", kind, names_of(factors, ", "));
  if (in.byte() != 0) text += ", custom";
  return copy(builder_.structure(
      "sdy.op_sharding_rule",
      {{"rule", builder_.string("<" + operands + "->" + results + text + ">")}}));
}

// What an attribute of Shardy's with this code holds.
ByteCursor BytecodeReader::opened(AttributeId id, uint64_t code) {
  const BytecodeEntry& entry = file_.attributes[id.value];
  ByteCursor in(entry.bytes, entry.offset, fault_);
  if (in.varint() != code || dialect(entry.dialect) != "sdy")
    in.fail("attribute {} is not of Shardy's kind {}", id.value, code);
  return in;
}

Dims BytecodeReader::indices(ByteCursor& in) {
  Dims out = integers(in);
  for (const int64_t factor : out)
    if (factor < 0) in.fail("{} is no factor", factor);
  return fault_ ? Dims() : out;
}

std::pair<int64_t, int64_t> BytecodeReader::sub_axis(AttributeId id) {
  if (!id) return {0, 0};
  const BytecodeEntry& entry = file_.attributes[id.value];
  ByteCursor parts(entry.bytes, entry.offset, fault_);
  const uint64_t code = parts.varint();
  const std::string_view owner = dialect(entry.dialect);
  if (code != (owner == "vhlo"        ? vhlo_sub_axis
               : owner == "stablehlo" ? stablehlo_sub_axis
                                      : SubAxis))
    parts.fail("attribute {} is no part of an axis", id.value);
  const int64_t pre_size = parts.signed_varint();
  return {pre_size, parts.signed_varint()};
}

Attribute BytecodeReader::sdy_attribute(ByteCursor& in) {
  const uint64_t code = in.varint();
  switch (code) {
    case ManualAxes:
      return copy(
          builder_.structure("sdy.manual_axes", {{"names", builder_.array(attributes(in))}}));
    case MeshAxis: {
      const std::string name = string(in);
      return copy(make_axis(builder_, name, in.signed_varint()));
    }
    case Mesh: {
      std::vector<AttributeId> axes = attributes(in);
      return copy(make_mesh(builder_, std::move(axes), integers(in)));
    }
    case AxisRef: {
      const std::string name = string(in);
      const auto [pre_size, size] = sub_axis(optional_attribute(in));
      return copy(make_axis_ref(builder_, name, pre_size, size));
    }
    case DimensionSharding: {
      std::vector<AttributeId> axes = attributes(in);
      const bool is_closed = in.byte() != 0;
      const uint64_t head = in.varint();
      const int64_t priority = head & 1 ? static_cast<int64_t>(head >> 1) : -1;
      return copy(make_dim(builder_, std::move(axes), is_closed, priority));
    }
    case Sharding:
    case UnreducedSharding:
    case ReducedSharding: {
      const AttributeId mesh = attribute(in);
      std::vector<AttributeId> dims = attributes(in), replicated = attributes(in), unreduced;
      if (code != Sharding) unreduced = attributes(in);
      const int64_t op = code == ReducedSharding ? in.signed_varint() : 0;
      return copy(make_sharding(builder_, mesh, std::move(dims), std::move(replicated),
                                std::move(unreduced),
                                op == 1   ? "max"
                                : op == 2 ? "min"
                                          : ""));
    }
    case PerValue:
    case UnreducedPerValue:
      return copy(
          builder_.structure("sdy.per_value", {{"shardings", builder_.array(attributes(in))}}));
    case ShardingRule: return sharding_rule(in);
    default: return {.kind = AttributeKind::Struct, .text = "sdy.unknown"};
  }
}

}  // namespace hilo::mlir
