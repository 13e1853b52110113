// The checker's own view of time and of what is alive. Shares nothing with plan(). Private to
// `plan`.
#pragma once

#include "plan/plan.h"

namespace hilo {

// The schedule walked as it runs, every call by itself; loops once.
struct Walk {
  std::vector<LiveRange> visits;  // by instruction: its first and last moment; start > end: none
  std::vector<LiveRange> computations;  // by computation: from its first moment to its last
  int64_t moments = 0;
};
// Fails with Limit when calls of calls run more than a few million instructions.
Result<Walk> walk(const Module& module, const Schedule& schedule);

// From where each value is made to where it is last wanted: by a user, by the end of a computation
// that it is a result of, by the loop that it goes into. By value; start > end: never.
std::vector<LiveRange> find_wanted(const Module& module, const Aliases& aliases, const Walk& walk);

// Reports values that overlap in place while both are wanted.
void check_overlaps(const Module& module, const Aliases& aliases, const Plan& plan,
                    const Walk& walk, std::span<const LiveRange> wanted,
                    std::vector<Error>& errors);

}  // namespace hilo
