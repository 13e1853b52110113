// How long work takes on a machine, and what bounds it: docs/cost.md has the formula and its
// measured error. Shown through analysis.h.
#pragma once

#include <vector>

#include "ir/ir.h"
#include "machine/machine.h"

namespace hilo {

struct Cost;
struct Schedule;

// Elements, by the width in which a chip computes: f32 stands for all types of at most 4 bytes.
struct FloatCounts {
  double f32 = 0, f64 = 0;
  FloatCounts& operator+=(const FloatCounts& other) {
    f32 += other.f32, f64 += other.f64;
    return *this;
  }
};

// Bytes of one array that are read or written.
struct Access {
  double bytes = 0;
  double distance = 0;  // bytes touched since these were touched last: which cache has them
  bool is_written = false;
  // Lines that nothing fetches ahead, over how many are waited for together; `bytes` are those of
  // whole lines.
  double waits = 0;
  int64_t stride = 0;  // bytes between the lines that were touched since; 0: side by side
};

// What running something once takes.
struct Work {
  FloatCounts operations;     // elementwise, one instruction for a vector of them
  FloatCounts multiply_adds;  // of products
  FloatCounts divisions, square_roots, transcendentals;
  double gathers = 0;  // elements, or rows of elements, at addresses that data decide
  std::vector<Access> accesses;
  double kernels = 0, routines = 0;  // calls
};

// What a time is bound by.
enum class Bound : uint8_t {
  Unknown,  // the machine knows no rates
  Nothing,  // no work
  Start,    // calls, and handing over to threads
  Arithmetic,
  Divisions,
  SquareRoots,
  Transcendentals,
  Gathers,
  FirstCache,
  SecondCache,
  ThirdCache,
  Memory
};
std::string_view text_of(Bound bound);

struct Estimate {
  double seconds = 0;  // finite, never negative
  Bound bound = Bound::Unknown;
  int64_t threads = 1;        // that share it
  double serial_seconds = 0;  // on one thread
};

// Bytes of lines so far apart that a cache holds: they share some of its sets. What cores share
// spreads them over all.
double held_bytes(const Cache& cache, const Cores& cores, int64_t stride);
Estimate estimate(const Work& work, const Machine& machine);
// Of costs that tell no kinds: all arithmetic is operations of f32, all bytes come from memory.
Work work_of(const Cost& cost);
// By instruction, one run of each, where the module runs again and again in its order: distances
// are those of a second run. None of those in fused or applied computations, which count in their
// callers, and of what runs others.
std::vector<Work> count_work(const Module& module, const Schedule* schedule = nullptr);

}  // namespace hilo
