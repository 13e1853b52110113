// The checker's own view of time and of what is alive. Shares nothing with plan(). Private to
// `plan`.
#pragma once

#include "plan/plan.h"

namespace hilo {

// The schedule walked as it runs, every call by itself; loops once.
struct Walk {
  std::vector<LiveRange> visits;  // by instruction: its first and last moment; start > end: none
  std::vector<LiveRange> computations;  // by computation: from its first moment to its last, with
                                        // those of what it calls
  // What an asynchronous step calls runs beside what is around the step, until its async-done.
  struct Beside {
    InstructionId step;  // the innermost; unset: runs with the entry
    int64_t end = 0;
  };
  std::vector<Beside> beside;  // by computation
  int64_t moments = 0;
  // When what ends at `end` in a computation has ended for all others.
  int64_t last(const Module& module, ComputationId computation, int64_t end) const;
};
// Fails with Limit when calls of calls run more than a few million instructions.
Result<Walk> walk(const Module& module, const Schedule& schedule);

// From where each value is made to where it is last wanted: by a user, by the end of a computation
// that it is a result of, by the loop that it goes into; what a loop carries is wanted as long as
// its condition runs, which may be followed by the body or by nothing. By value; start > end:
// never.
std::vector<LiveRange> find_wanted(const Module& module, const Aliases& aliases, const Walk& walk);

// Reports values that overlap in place while both are wanted, in one buffer or in two.
void check_overlaps(const Module& module, const Aliases& aliases, const Plan& plan,
                    const Walk& walk, std::span<const LiveRange> wanted,
                    std::vector<Error>& errors);

}  // namespace hilo
