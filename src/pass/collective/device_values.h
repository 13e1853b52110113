// What follows from a device's own number: on each device, by evaluation. Private to
// `pass/collective`.
#pragma once

#include "pass/collective/device_groups.h"

namespace hilo {

// The numbers that start slices and updates, where they follow from constants, partition-id and
// replica-id alone, through whatever ops, and through loops that leave them as they are. They are
// evaluated for every device, so that nothing depends on how they are written.
class DeviceValues {
 public:
  DeviceValues(const Editor& editor, int64_t devices);
  int64_t devices() const { return devices_; }
  // Of an integer scalar that starts a slice, by device; null where data decide.
  const Dims* of(InstructionId scalar) const;

 private:
  using Values = std::vector<Literal>;  // by device

  void find_known(ComputationId id);
  void evaluate_starts(ComputationId id);
  Values numbers(Op op) const;
  std::vector<InstructionId> find_wanted(ComputationId id) const;
  bool enters(InstructionId element) const;
  bool is_known(InstructionId id) const { return id.value < known_.size() && known_[id.value]; }

  const Editor& editor_;
  const Module& module_;
  int64_t devices_, partitions_;
  std::vector<bool> known_;                              // by instruction
  std::unordered_map<uint32_t, InstructionId> initial_;  // of elements that loops leave alone
  std::unordered_map<uint32_t, Values> values_;
  std::unordered_map<uint32_t, Dims> starts_;
};

// A box that a device takes of an array: of a dynamic-slice, or of a slice without steps.
struct DeviceSlice {
  Dims sizes;
  // By dimension, by device, as far into the array as it is clamped to; empty where data decide.
  std::vector<Dims> starts;
  bool is_whole(size_t dim, const Shape& of) const { return sizes[dim] == of.dims[dim]; }
  bool is_known(size_t dim) const { return !starts[dim].empty(); }
};
// Nothing where the instruction is no such slice.
std::optional<DeviceSlice> device_slice(const Module& module, InstructionId id,
                                        const DeviceValues& values);

}  // namespace hilo
