// Along which axes of the mesh the shape of each value is already that of one device. Private to
// `pass/shard`.
#pragma once

#include <algorithm>

#include "pass/shard/given_shardings.h"

namespace hilo {

class ManualAxes {
 public:
  const SubAxes& of(InstructionId id) const { return lists_[numbers_[id.value]]; }
  // An instruction that was added to stand where another one does.
  void add(InstructionId added, InstructionId like) {
    const uint32_t number = numbers_[like.value];
    numbers_.resize(std::max<size_t>(numbers_.size(), added.value + 1));
    numbers_[added.value] = number;
  }

 private:
  friend class ManualAxesFinder;
  std::vector<SubAxes> lists_ = {{}};
  std::vector<uint32_t> numbers_;  // by instruction
};

// From where regions begin to where they end, through all that is called meanwhile. Structure where
// a region ends that has not begun.
Result<ManualAxes> find_manual_axes(const Module& module, const GivenShardings& given);

}  // namespace hilo
