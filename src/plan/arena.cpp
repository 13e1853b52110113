// Evaluation inside a plan. Literals hold elements in logical order and take a byte at least for
// each, so that some are larger than their slots: all offsets are then scaled by one factor, which
// keeps what overlaps and what does not.
#include <cstring>

#include "plan/plan.h"

namespace hilo {
namespace {

class Arena {
 public:
  Arena(const Module& module, const Plan& plan, int64_t devices, bool ideal)
      : module_(module), plan_(plan), ideal_(ideal), memory_(devices) {
    for (const Allocation& allocation : plan.allocations)
      for (const Slot& slot : allocation.slots) scale_ = std::max(scale_, scale_of(slot));
    for (auto& device : memory_) device.resize(plan.allocations.size());
  }

  void place(int64_t device, InstructionId instruction, Literal& value) {
    Dims index;
    bind_leaves(device, instruction, index, value);
  }

 private:
  int64_t held_bytes(const Shape& shape) const {
    return ideal_ ? element_count(shape) * 16 : literal_bytes(shape);
  }

  int64_t scale_of(const Slot& slot) const {
    const Shape& shape = shape_of(module_, plan_.aliases[slot.value]);
    if (!shape.is_array() || slot.bytes <= 0) return 1;
    return (held_bytes(shape) + slot.bytes - 1) / slot.bytes;
  }

  void bind_leaves(int64_t device, InstructionId instruction, Dims& index, Literal& value) {
    if (value.shape().is_tuple()) {
      std::vector<Literal>& elements = value.mutable_elements();
      for (size_t i = 0; i < elements.size(); ++i) {
        index.push_back(static_cast<int64_t>(i));
        bind_leaves(device, instruction, index, elements[i]);
        index.pop_back();
      }
    } else if (value.shape().is_array() && value.count() > 0) {
      bind_array(device, instruction, index, value);
    }
  }

  // Only where a value is defined: a bitcast shows the same physical bytes, but not the same
  // logical order.
  void bind_array(int64_t device, InstructionId instruction, const Dims& index, Literal& value) {
    const auto values = plan_.aliases.at(instruction, index);
    if (values.size() != 1) return;
    const Position& definition = plan_.aliases[values[0]].definition();
    if (definition.instruction != instruction || definition.index != index) return;
    const auto [allocation, slot] = plan_.where[values[0].value];
    if (allocation == UINT32_MAX) return;
    const int64_t offset = plan_.allocations[allocation].slots[slot].offset * scale_;
    const Bytes& memory = memory_of(device, allocation);
    Bytes target(memory, memory.get() + offset);
    if (target.get() == value.storage().get()) return;
    std::memmove(target.get(), value.raw().data(), value.raw().size());
    Literal placed = Literal::view(value.shape(), std::move(target));
    const std::vector<int64_t> sizes = value.dynamic_sizes();
    for (size_t d = 0; d < sizes.size(); ++d) placed.set_size(d, sizes[d]);
    value = std::move(placed);
  }

  // Each device has its own, made when it is needed; no other thread looks at it.
  const Bytes& memory_of(int64_t device, size_t allocation) {
    Bytes& memory = memory_[device][allocation];
    const int64_t bytes = plan_.allocations[allocation].bytes * scale_ + 64;
    if (!memory) memory = allocate_bytes(bytes);
    if (!memory) throw OutOfMemory(bytes);
    return memory;
  }

  const Module& module_;
  const Plan& plan_;
  bool ideal_;
  int64_t scale_ = 1;
  std::vector<std::vector<Bytes>> memory_;
};

}  // namespace

std::function<void(int64_t, InstructionId, Literal&)> bind_in_arena(const Module& module,
                                                                    const Plan& plan,
                                                                    int64_t devices,
                                                                    bool ideal_floats) {
  auto arena = std::make_shared<Arena>(module, plan, devices, ideal_floats);
  return [arena](int64_t device, InstructionId instruction, Literal& value) {
    arena->place(device, instruction, value);
  };
}

}  // namespace hilo
