// Numbers by which instructions of two modules are found to be alike. Private to `analysis`.
#pragma once

#include "analysis/analysis.h"

namespace hilo {

// By instruction; equal numbers mean equal things in both modules.
struct Signatures {
  std::vector<uint64_t> op;
  std::vector<uint64_t> kind;   // op and its attributes but sizes, positions and channels
  std::vector<uint64_t> label;  // op_name; 0 where there is none, or not in the other module
  std::vector<uint64_t> name;   // as it stands
  std::vector<uint64_t> stem;   // without numbers and marks of clones
  // All that the value is computed from, up to parameters and constants, seen through fusions,
  // calls, tuples and copies: with types, sizes and constants, and without.
  std::vector<uint64_t> exact, loose;
  std::vector<uint64_t> near, around;    // kind and label one and two steps around
  std::vector<InstructionId> source;     // the instruction whose value it hands on, mostly itself
  std::vector<InstructionId> caller_of;  // by computation: the fusion or call that alone calls it
};
// Of two modules, to be compared with each other.
std::pair<Signatures, Signatures> signatures_of(const Module& a, const Module& b);

}  // namespace hilo
