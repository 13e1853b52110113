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
  UnreducedSharding = 15,
  UnreducedPerValue,
};
constexpr uint64_t vhlo_sub_axis = 21;

}  // namespace

std::pair<int64_t, int64_t> BytecodeReader::sub_axis(AttributeId id) {
  if (!id) return {0, 0};
  const BytecodeEntry& entry = file_.attributes[id.value];
  ByteCursor parts(entry.bytes, entry.offset, fault_);
  const uint64_t code = parts.varint();
  if (code != (dialect(entry.dialect) == "vhlo" ? vhlo_sub_axis : SubAxis))
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
    case UnreducedSharding: {
      const AttributeId mesh = attribute(in);
      std::vector<AttributeId> dims = attributes(in), replicated = attributes(in), unreduced;
      if (code == UnreducedSharding) unreduced = attributes(in);
      return copy(make_sharding(builder_, mesh, std::move(dims), std::move(replicated),
                                std::move(unreduced)));
    }
    case PerValue:
    case UnreducedPerValue:
      return copy(
          builder_.structure("sdy.per_value", {{"shardings", builder_.array(attributes(in))}}));
    default: return {.kind = AttributeKind::Struct, .text = "sdy.unknown"};
  }
}

}  // namespace hilo::mlir
