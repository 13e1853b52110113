// Front door of `analysis`: which values a module makes, which of them share one buffer, when each
// is alive in a schedule, and what each instruction costs. Nothing here changes a module.
//
// Values, buffers and live ranges follow XLA's dataflow, alias and live-range analyses, so that
// numbers and names compare with its dumps one to one.
#pragma once

#include "ir/ir.h"

namespace hilo {

using ValueId = Id<struct ValueTag>;    // index in Aliases::values
using BufferId = Id<struct BufferTag>;  // index in Aliases::buffers

// Part of an instruction's result: the element that `index` leads to through nested tuples.
struct Position {
  InstructionId instruction;
  Dims index;
  bool operator==(const Position&) const = default;
};
// Operand number `operand` of `instruction`, the part of it at `index`.
struct ValueUse {
  InstructionId instruction;
  int64_t operand = 0;
  Dims index;
  bool operator==(const ValueUse&) const = default;
};

// An array, or a tuple's table of pointers, that some instruction makes. A phi value stands where
// several may arrive: parameters and results of while bodies, results of conditionals.
struct Value {
  int64_t number = 0;  // XLA's id: in order of definition, with gaps
  bool is_phi = false;
  bool live_out = false;            // part of the entry's result
  std::vector<Position> positions;  // the defining one first
  std::vector<ValueUse> uses;
  const Position& definition() const { return positions.front(); }
};

// Values that must lie in one piece of memory: carried through a while, updated in place, aliased.
struct Buffer {
  std::vector<ValueId> values;
};

struct Aliases {
  std::vector<Value> values;  // by number
  std::vector<Buffer> buffers;
  std::vector<BufferId> buffer_of;  // by value

  std::span<const ValueId> at(InstructionId instruction, const Dims& index = {}) const;
  const Buffer& buffer(ValueId value) const { return buffers[buffer_of[value.value].value]; }
  const Value& operator[](ValueId id) const { return values[id.value]; }

  // Values of each leaf and inner node of each instruction's result, nodes in pre-order.
  std::vector<std::vector<std::vector<ValueId>>> sets;  // by instruction, then node
  std::vector<std::vector<Dims>> nodes_of_shape;        // by shape id: the index of each node
};
// The shape of a value: that of the part of its defining instruction's result.
const Shape& shape_of(const Module& module, const Value& value);
std::string name_of(const Module& module, const Value& value);  // "while{1}", "add.3{}"

struct AliasOptions {
  // Whether a user may write its result where this operand lay. Empty: elementwise ops and loop
  // fusions of the same size, dynamic-update-slice, scatter, while, and what declares it.
  std::function<bool(const Module&, InstructionId user, int64_t operand, const Dims& output)>
      may_share;
};
// The module must verify. Fails with Unsupported for what no rule covers.
Result<Aliases> find_aliases(const Module& module, const AliasOptions& options = {});

// The order of each computation's instructions.
struct Schedule {
  std::vector<std::vector<InstructionId>> orders;  // by computation
};
Schedule schedule_of(const Module& module);  // the order of the file

// Moments of the flattened schedule at which a value is alive, both included.
struct LiveRange {
  int64_t start = 0, end = 0;
  bool operator==(const LiveRange&) const = default;
};
struct Liveness {
  std::vector<InstructionId> sequence;  // callees before their callers, while conditions first
  std::vector<LiveRange> ranges;        // by value; start > end: never alive here (inside fusions)
  bool has_range(ValueId id) const { return ranges[id.value].start <= ranges[id.value].end; }
};
Liveness find_liveness(const Module& module, const Aliases& aliases, const Schedule& schedule);

// The moment with the largest sum of unpadded sizes, the earliest of equals (XLA's peak), and the
// values alive there, largest first, then by name.
struct Peak {
  int64_t moment = 0, bytes = 0;
  std::vector<ValueId> values;
};
Peak find_peak(const Module& module, const Aliases& aliases, const Liveness& liveness);

// What running an instruction once takes.
struct Cost {
  double flops = 0, transcendentals = 0;
  double bytes_read = 0, bytes_written = 0;
  double runs = 1;          // product of the trip counts of the whiles around it
  bool runs_known = true;   // false: some trip count was taken as 1
  bool flops_known = true;  // false: a custom call that nobody can count
};
// By instruction; those in fused or applied computations are counted in their callers.
std::vector<Cost> count_cost(const Module& module);
// How often a while's body runs when its condition compares a counter with a constant.
std::optional<int64_t> trip_count(const Module& module, InstructionId while_instruction);

}  // namespace hilo
