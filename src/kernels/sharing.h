// Whether threads share a piece of a routine's work, or each have pieces of their own, by what
// handing work over takes: docs/cost.md. Private to `kernels`.
#pragma once

#include "kernels/chunks.h"

namespace hilo {

// Pieces of work that are alike. Each takes one thread so long; shared, it is handed over, and its
// threads wait for each other, so many times.
struct PiecesOfWork {
  int64_t count = 1;
  double seconds = 0;
  int64_t hand_overs = 1;
};

// Of so many multiplications of f32 each, and a call.
PiecesOfWork work_of_multiplications(int64_t count, int64_t multiplications, const Cores& cores);

// Whether all pieces are done sooner one after the other, each by all threads, than by threads that
// do different ones, or by one thread. Of n threads:
//
//   shared   count * (seconds / n + hand_overs * thread_seconds)
//   apart    ceil(count / n) * seconds + thread_seconds
//   alone    count * seconds
bool are_shared(const PiecesOfWork& work, int64_t threads, const Cores& cores);
// Pieces for a chunk where they are not: as many as chunks_of() makes of all.
int64_t grain_of(const PiecesOfWork& work, int64_t threads, const Cores& cores);

}  // namespace hilo
