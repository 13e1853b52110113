// Private to report: what the texts of a comparison are made of.
#pragma once

#include "report/report_parts.h"

namespace hilo {

// What two counterparts have otherwise.
class ChangeFinder {
 public:
  ChangeFinder(const Module& a, const Module& b, const Matching& matching);
  std::vector<Difference> find(InstructionId x, InstructionId y) const;

 private:
  void add_shape(InstructionId x, InstructionId y, std::vector<Difference>& out) const;
  void add_attributes(InstructionId x, InstructionId y, std::vector<Difference>& out) const;
  void add_constant(InstructionId x, InstructionId y, std::vector<Difference>& out) const;
  void add_operands(InstructionId x, InstructionId y, std::vector<Difference>& out) const;
  void add_extras(InstructionId x, InstructionId y, std::vector<Difference>& out) const;
  void add_fusion(InstructionId x, InstructionId y, std::vector<Difference>& out) const;

  const Module &a_, &b_;
  const Matching& matching_;
  std::vector<InstructionId> fusions_a_, fusions_b_;  // by computation: the fusion that calls it
};

// By computation: the fusion that calls it, or none.
std::vector<InstructionId> fusions_of(const Module& module);
// Bytes of a result in its layout, without tables of tuples; 0 where sizes are not static.
int64_t bytes_of_result(const Module& module, InstructionId id);
ModuleTotals totals_of(const Module& module);

}  // namespace hilo
