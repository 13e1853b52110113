// Front door of `plan`: an order for a module's instructions, and a place in memory for each value.
#pragma once

#include "analysis/analysis.h"
#include "machine/machine.h"
#include "plan/commands.h"

namespace hilo {

// Where a value lies: `offset` bytes into an allocation.
struct Slot {
  ValueId value;
  int64_t offset = 0, bytes = 0;
};

// A piece of memory of one space. XLA's words; several of the marks may hold.
struct Allocation {
  int64_t bytes = 0;
  int64_t space = 0;                 // XLA's color
  std::optional<int64_t> parameter;  // number of the entry parameter that it holds
  Dims parameter_index;              // and the part of it
  bool is_constant = false, is_thread_local = false, is_live_out = false, is_tuple = false;
  std::vector<Slot> slots;  // by value
  bool is_temp() const { return !parameter && !is_constant && !is_thread_local && !is_live_out; }
};

struct SpacePlan {
  int64_t space = 0;
  int64_t total_bytes = 0;        // all allocations but thread-local ones
  int64_t temp_bytes = 0;         // those that is_temp()
  int64_t lower_bound_bytes = 0;  // of temp_bytes, with aligned sizes; as in Packing
  int64_t peak_moment = 0;        // where that is
};

struct Plan {
  Schedule schedule;
  Aliases aliases;
  Liveness liveness;
  std::vector<Allocation> allocations;
  std::vector<SpacePlan> spaces;                     // by number
  std::vector<std::pair<uint32_t, uint32_t>> where;  // by value: allocation and slot; none: ~0
  Commands commands;                                 // of find_commands(); plan() leaves it empty
};

struct PlanOptions {
  bool keep_order = true;        // take the order of the file when the module is scheduled
  double packing_seconds = 0.5;  // budget of exact packing for each space; bounded in steps, not
                                 // in time, so that the same module has the same plan
};
// The module must verify, give every computation that is run one caller, and hold the copies that
// its aliases need (passes flatten_calls and insert_copies). Unsupported where it is called from
// several places or no rule of find_aliases() covers it, Limit where sizes sum up to 2^60 and more.
Result<Plan> plan(const Module& module, const Machine& machine, const PlanOptions& options = {});

// What is wrong with a plan: values that overlap in time and place without being one buffer,
// aliases that are not kept, slots outside their allocation or misaligned, values without a place.
// Shares no code with plan().
std::vector<Error> check_plan(const Module& module, const Machine& machine, const Plan& plan);

// An order that keeps the peak low: the best of several. Keeps data and control dependences, and
// puts readers of a value before what is written over it.
Schedule find_schedule(const Module& module, const Machine& machine, const Aliases& aliases);
// Part of a block: bytes that are alive from start to end, both included, `at` bytes into it.
struct Piece {
  int64_t start = 0, end = 0, bytes = 0;
  int64_t at = 0;  // a multiple of the alignment
};
// What gets one offset. Pieces of one block never disturb each other: one may end at the moment
// that another starts, written over it, and pieces at the same place may share a moment.
struct Block {
  std::vector<Piece> pieces;
};
struct Packing {
  std::vector<int64_t> offsets;  // by block
  int64_t bytes = 0;             // the highest end; the last size is not rounded up
  // The largest sum of rounded sizes alive at one moment, or where blocks live several times, of
  // blocks that are found to be alive together two by two.
  int64_t lower_bound = 0;
  int64_t peak_moment = 0;  // the first with the largest sum
};
// Offsets are multiples of `alignment`, and sizes count rounded up to it. Best-fit in several
// orders first, then a search of at most `steps` steps, exact where few blocks are in each other's
// way. Never worse than best-fit; deterministic. The sizes must sum up to less than 2^62.
Packing pack(std::span<const Block> blocks, int64_t alignment, int64_t steps);

// For EvalOptions::place: every array lies where the plan says, on each of the devices, so that a
// wrong overlap gives wrong numbers. The module and the plan must outlive what is returned.
std::function<void(int64_t device, InstructionId, Literal&)> bind_in_arena(
    const Module& module, const Plan& plan, int64_t devices, bool ideal_floats = false);

}  // namespace hilo
