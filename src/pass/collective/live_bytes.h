// How many bytes are alive in a computation while it runs in some order. Private to
// `pass/collective`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// Values that others only name (elements of tuples, bitcasts, the ends of what was started) lie
// where what they name lies; parameters and constants are there in any case and do not count.
class LiveBytes {
 public:
  LiveBytes(const Module& module, std::span<const InstructionId> order);
  // Largest sum of what is alive at one instruction of an order of the same instructions.
  int64_t peak(std::span<const InstructionId> order) const;

  // Walks an order from its end: by how much `id` would change what is alive, and does.
  int64_t change(InstructionId id) const;
  void step_back(InstructionId id);
  int64_t alive() const { return alive_; }
  void restart() { alive_ = 0, is_alive_.assign(is_alive_.size(), false); }

 private:
  const Module& module_;
  std::vector<int64_t> bytes_;                     // by instruction; 0 of what names others
  std::vector<std::vector<InstructionId>> bases_;  // by instruction: what its value lies in
  std::vector<bool> is_alive_;
  int64_t alive_ = 0;
};

}  // namespace hilo
