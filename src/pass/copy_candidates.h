// Copy candidates: pairs of values that share a buffer unless a copy keeps them apart. Private to
// `pass`.
#pragma once

#include "pass/lifetimes.h"

namespace hilo {

// Part of an operand, or of the root of a computation.
struct CopyPosition {
  InstructionId user;  // unset: the root
  int64_t operand = 0;
  ComputationId computation;  // of the user or the root
  Dims index;
  auto operator<=>(const CopyPosition&) const = default;
};
struct CopyCandidate {
  CopyPosition place;
  ValueId from, to;
  int64_t depth = 0, bytes = 0;  // whiles around the place, and what a copy would copy
};
struct CopyCandidates {
  std::vector<CopyCandidate> pairs;
  std::vector<std::pair<ValueId, ValueId>> bound;  // that no copy can part
  std::vector<CopyPosition> results;  // parts of the entry's root that need a copy in any case
};
CopyCandidates find_copy_candidates(const Module& module, const Aliases& aliases,
                                    const Lifetimes& lifetimes);

// Of the candidates, those that would give one buffer two values at once.
std::vector<CopyCandidate> find_interfering(const Aliases& aliases, const Lifetimes& lifetimes,
                                            const CopyCandidates& candidates);

}  // namespace hilo
