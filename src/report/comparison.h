// Two modules of one program beside each other. Shown through report/report.h.
#pragma once

#include <map>

#include "ir/ir.h"

namespace hilo {

struct MemoryPicture;

// One thing that a module and its counterpart have otherwise, as text.
struct Difference {
  // shape, layout (with tiles), memory space, constant, operands, fusion (where it stands),
  // sharding, backend config, frontend attributes, or the name of an attribute
  std::string what, from, to;
};
struct ChangedInstruction {
  InstructionId in_a, in_b;
  std::vector<Difference> changes;
};

// Of one module. Costs are of one run, loops as often as they are known to run.
struct ModuleTotals {
  int64_t instructions = 0, computations = 0, parameters = 0, results = 0;  // leaves of results
  double flops = 0, transcendentals = 0, bytes = 0;
  bool is_known = true;  // false: some trip count or custom call is not known, and it is more
  struct Collective {
    int64_t count = 0;  // of instructions
    double bytes = 0;   // collective_bytes(), as often as they run
  };
  std::map<std::string, Collective> collectives;  // by kind, as "all-gather"
};

struct ModuleComparison {
  const Module *a = nullptr, *b = nullptr;
  ModuleTotals totals_a, totals_b;
  std::vector<Difference> header;
  std::vector<InstructionId> gone, added;   // of a, of b; in the order of the file
  std::vector<ChangedInstruction> changed;  // in the order of b
  int64_t matched = 0;                      // counterparts in all
  int64_t renamed = 0;                      // of those, with another name
  int64_t reordered = 0;  // of those, elsewhere in the schedule; 0 where one is not scheduled
  // Names, channel numbers, metadata and, without a schedule, the order do not count.
  bool is_equal() const {
    return header.empty() && gone.empty() && added.empty() && changed.empty() && reordered == 0;
  }
};
// Both modules must verify and outlive what is returned.
ModuleComparison compare_modules(const Module& a, const Module& b);

// What the texts say of a side besides its module.
struct ComparedSide {
  std::string file;
  const MemoryPicture* memory = nullptr;  // null: memory is left out
};
struct ComparisonStyle {
  int rows = 20;     // of each table
  int width = 100;   // columns of the terminal
  bool all = false;  // a row for each instruction, and no limit
};
std::string comparison_text(const ModuleComparison& comparison, const ComparedSide& a,
                            const ComparedSide& b, const ComparisonStyle& style = {});
std::string comparison_json(const ModuleComparison& comparison, const ComparedSide& a,
                            const ComparedSide& b);  // schema "hilo.diff.1"

}  // namespace hilo
