#include "emit/address.h"

#include <algorithm>

namespace hilo {
namespace {

// A plan's constant: the bytes of the instruction's literal, or of an element of it.
std::byte* constant_bytes(const Module& module, const Plan& plan, const Allocation& allocation) {
  for (const Slot& slot : allocation.slots) {
    const auto& [id, index] = plan.aliases[slot.value].definition();
    if (module[id].op != Op::Constant) continue;
    const Literal* literal = module.attributes<ConstantAttributes>(id).literal.literal.get();
    for (int64_t element : index)
      if (literal) literal = &literal->elements()[static_cast<size_t>(element)];
    if (literal && literal->shape().is_array())
      return const_cast<std::byte*>(literal->raw().data());
  }
  return nullptr;
}

}  // namespace

Addresses::Addresses(const Module& module, const Plan& plan)
    : module_(module), plan_(plan), is_used_(plan.allocations.size()) {
  for (const Allocation& allocation : plan.allocations)
    for (const Slot& slot : allocation.slots) {
      const Shape& shape = shape_of(module, plan.aliases[slot.value]);
      if (!shape.is_array() || slot.bytes <= 0) continue;
      scale_ = std::max(scale_, (literal_bytes(shape) + slot.bytes - 1) / slot.bytes);
    }
}

Address Addresses::of(InstructionId id, const Shape& shape, const Dims& index) {
  if (!shape.is_array()) return Address{};
  const std::span<const ValueId> values = plan_.aliases.at(id, index);
  check(!values.empty(), "emit: an array is a value of the plan");
  const auto [allocation, slot] = plan_.where[values[0].value];
  check(allocation != UINT32_MAX, "emit: a value has a slot");
  is_used_[allocation] = true;
  return {allocation, plan_.allocations[allocation].slots[slot].offset * scale_};
}

std::vector<Address> Addresses::of(InstructionId id) {
  std::vector<Address> out;
  for_each_leaf(module_.shape(id), [&](const Shape& shape, std::span<const int64_t> index) {
    out.push_back(of(id, shape, Dims(index.begin(), index.end())));
  });
  return out;
}

std::vector<MemoryPiece> Addresses::memory(int64_t scratch) const {
  std::vector<MemoryPiece> out;
  const auto temporary = [](MemoryPiece& piece, bool is_used) {
    piece.source = is_used ? MemorySource::Temporary : MemorySource::None;
  };
  for (size_t i = 0; i < plan_.allocations.size(); ++i) {
    const Allocation& allocation = plan_.allocations[i];
    MemoryPiece& piece = out.emplace_back();
    // Empty ones have an address too.
    piece.bytes = std::max<int64_t>(allocation.bytes * scale_, 1);
    if (allocation.is_tuple || allocation.is_thread_local) {
      temporary(piece, is_used_[i]);
    } else if (allocation.parameter) {
      piece.source = MemorySource::Argument;
      piece.parameter = *allocation.parameter;
      piece.parameter_index = allocation.parameter_index;
      piece.is_written = allocation.slots.size() > 1;
    } else if (allocation.is_constant) {
      piece.constant = constant_bytes(module_, plan_, allocation);
      if (piece.constant) piece.source = MemorySource::Constant;
    } else if (allocation.is_live_out) {
      piece.source = MemorySource::Result;
    } else {
      temporary(piece, is_used_[i]);
    }
  }
  out.push_back({.bytes = scratch});
  temporary(out.back(), scratch > 0);
  out.resize(out.size() + suballocations_);
  return out;
}

}  // namespace hilo
