// How long instructions take on a machine, and a computation in some order. Private to
// `pass/collective`.
#pragma once

#include "pass/collective/device_groups.h"

namespace hilo {

struct Links {
  double bytes_per_second = 0;       // that a collective sends along one axis of devices
  double link_bytes_per_second = 0;  // that a permute sends
  double step_seconds = 0;           // of a step between neighbours, beside its bytes
};
// Of a torus both links of an axis; of a node all as one. Nothing where the machine's are unknown.
std::optional<Links> links_of(const Machine& machine);
// A ring's: its steps, and its bytes at the links' rate (Chan and others, "Collective
// communication: theory, practice, and experience", 2007).
double steps_of(const CollectiveBytes& bytes);
double seconds_of(const CollectiveBytes& bytes, const Links& links);

// How a computation goes in an order: one instruction after the other computes, one collective
// after the other communicates, each beside what stands between its start and its done.
struct Timeline {
  double step = 0, compute = 0, communication = 0;   // seconds
  double exposed() const { return step - compute; }  // communication that nothing hides
};

class StepTimes {
 public:
  // The machine has links and rates, or no times are known.
  StepTimes(const Module& module, const Machine& machine);
  bool is_known() const { return links_.has_value() && flops_ > 0 && bytes_ > 0; }
  // Of a collective or its start; 0 of others.
  double communication(InstructionId id) const { return sent_[id.value]; }
  // Of others: what the roofline allows; loops as often as they run, of branches the longest.
  double computation(InstructionId id) const;
  // Of a computation in an order; callees in the order in which they stand.
  Timeline along(std::span<const InstructionId> order) const;
  Timeline along(ComputationId id) const;  // as it stands
  bool is_start(InstructionId id) const { return is_start_[id.value]; }
  bool is_done(InstructionId id) const;
  const Links& links() const { return *links_; }

 private:
  Timeline of_callees(InstructionId id) const;

  const Module& module_;
  std::optional<Links> links_;
  double flops_ = 0, bytes_ = 0;  // a second
  std::vector<Cost> costs_;
  std::vector<double> sent_;                              // by instruction, seconds
  std::vector<bool> is_start_;                            // by instruction
  mutable std::unordered_map<uint32_t, Timeline> known_;  // by computation, as it stands
};

}  // namespace hilo
