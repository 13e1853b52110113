// How long instructions take on a machine, and a computation in some order. Shown through
// analysis.h.
#pragma once

#include <unordered_map>

#include "analysis/network.h"

namespace hilo {

struct Cost;
struct Schedule;

// How a computation goes in an order: one instruction after the other computes, and collectives
// communicate, one after the other over the links of an axis, each beside what stands between its
// start and its done. Seconds.
struct Timeline {
  double step = 0, compute = 0, communication = 0;
  double exposed() const { return step - compute; }  // communication that nothing hides
};
// Of one run of a collective, or of what starts it.
struct CollectiveTime {
  InstructionId id;
  double seconds = 0;
  double exposed = 0;  // nothing is computed; waiting for the links of others included
  uint32_t axes = 0;   // of the torus, a bit each
  // What is computed meanwhile, most first, and for how long.
  std::vector<std::pair<InstructionId, double>> behind = {};
  double hidden() const { return std::max(0.0, seconds - exposed); }
};

class StepTimes {
 public:
  // The machine has links and rates, or no times are known. Without a schedule the order of
  // computations is that in which they stand.
  StepTimes(const Module& module, const Machine& machine, const Schedule* schedule = nullptr);
  bool is_known() const { return network_.is_known() && has_rates_; }
  const Network& network() const { return network_; }
  // Of a collective or its start; 0 of others.
  double communication(InstructionId id) const { return uses_[id.value].seconds(); }
  const LinkUse& use(InstructionId id) const { return uses_[id.value]; }
  // Of others: what the roofline allows; loops as often as they run, of branches the longest.
  double computation(InstructionId id) const;
  // Of a computation in an order; callees in theirs. Tells `times`, where there is one, of each
  // collective.
  Timeline along(std::span<const InstructionId> order,
                 std::vector<CollectiveTime>* times = nullptr) const;
  Timeline along(ComputationId id) const { return along(order_of(id)); }
  // Of all computations that run.
  std::vector<CollectiveTime> collectives() const;
  bool is_start(InstructionId id) const { return is_start_[id.value]; }
  // Of what ends a collective, also where other steps of it stand between; nothing for others.
  InstructionId start_of(InstructionId done) const { return start_of_[done.value]; }
  bool is_done(InstructionId id) const { return static_cast<bool>(start_of_[id.value]); }

 private:
  StepTimes(const Module& module, const Machine& machine, const Schedule* schedule,
            const std::vector<Cost>& costs);
  std::span<const InstructionId> order_of(ComputationId id) const;
  void find_pairs(const Module& module);
  void find_fused_pairs(const Module& module);
  Timeline of_callees(InstructionId id) const;

  const Module& module_;
  const Schedule* schedule_;
  std::vector<double> runs_;  // by instruction
  Network network_;
  bool has_rates_ = false;
  std::vector<double> computations_;                      // by instruction, seconds
  std::vector<LinkUse> uses_;                             // by instruction
  std::vector<bool> is_start_;                            // by instruction
  std::vector<InstructionId> start_of_;                   // by instruction
  mutable std::unordered_map<uint32_t, Timeline> known_;  // by computation
};

}  // namespace hilo
