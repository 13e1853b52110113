#include "emit/address.h"

#include <algorithm>

namespace hilo {
namespace {

constexpr int64_t spare_bytes = 64;  // so that empty allocations have an address

}  // namespace

Addresses::Addresses(const Module& module, const Plan& plan) : module_(module), plan_(plan) {
  for (const Allocation& allocation : plan.allocations)
    for (const Slot& slot : allocation.slots) {
      const Shape& shape = shape_of(module, plan.aliases[slot.value]);
      if (!shape.is_array() || slot.bytes <= 0) continue;
      scale_ = std::max(scale_, (literal_bytes(shape) + slot.bytes - 1) / slot.bytes);
    }
}

Result<Address> Addresses::of(InstructionId id, const Shape& shape, const Dims& index) const {
  if (!shape.is_array()) return Address{};
  const auto error = [&](std::string_view what) {
    return std::unexpected(Error{ErrorKind::Unsupported,
                                 fmt::format("{} has {}", to_string_without_layout(shape), what),
                                 module_.place(id)});
  };
  Address out;
  for (ValueId value : plan_.aliases.at(id, index)) {
    const auto [allocation, slot] = plan_.where[value.value];
    if (allocation == UINT32_MAX) return error("no place in memory");
    const Address one = {allocation, plan_.allocations[allocation].slots[slot].offset * scale_};
    if (out.allocation != UINT32_MAX &&
        (out.allocation != one.allocation || out.offset != one.offset))
      return error("several places in memory");
    out = one;
  }
  if (out.allocation == UINT32_MAX) return error("no value in the plan");
  return out;
}

Result<std::vector<Address>> Addresses::of(InstructionId id) const {
  std::vector<Address> out;
  std::optional<Error> error;
  for_each_leaf(module_.shape(id), [&](const Shape& shape, std::span<const int64_t> index) {
    auto address = of(id, shape, Dims(index.begin(), index.end()));
    if (address) out.push_back(*address);
    else if (!error) error = address.error();
  });
  if (error) return std::unexpected(std::move(*error));
  return out;
}

std::vector<int64_t> Addresses::allocation_bytes() const {
  std::vector<int64_t> out;
  for (const Allocation& allocation : plan_.allocations)
    out.push_back(allocation.bytes * scale_ + spare_bytes);
  return out;
}

}  // namespace hilo
