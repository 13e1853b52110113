// Where two values are made to share a buffer, and a copy could keep them apart. Private to `pass`.
#pragma once

#include "pass/lifetimes.h"

namespace hilo {

// Part of an operand, or of the root of a computation.
struct CopyPlace {
  InstructionId user;  // unset: the root
  int64_t operand = 0;
  ComputationId computation;  // of the user or the root
  Dims index;
  auto operator<=>(const CopyPlace&) const = default;
};
struct Tie {
  CopyPlace place;
  ValueId from, to;
  int64_t depth = 0, bytes = 0;  // whiles around the place, and what a copy would copy
};
struct Ties {
  std::vector<Tie> ties;
  std::vector<std::pair<ValueId, ValueId>> bound;  // that no copy can part
  std::vector<CopyPlace> results;  // parts of the entry's root that need a copy in any case
};
Ties find_ties(const Module& module, const Aliases& aliases, const Lifetimes& lifetimes);

// Of the ties, those that would give one buffer two values at once.
std::vector<Tie> find_conflicts(const Aliases& aliases, const Lifetimes& lifetimes,
                                const Ties& ties);

}  // namespace hilo
