// Front door of `analysis`: which values a module makes, which of them share one buffer, when each
// is alive in a schedule, and what each instruction costs. Nothing here changes a module.
//
// Values, buffers and live ranges follow XLA's dataflow, alias and live-range analyses, so that
// numbers and names compare with its dumps one to one.
#pragma once

#include "analysis/estimate.h"
#include "analysis/index_map.h"
#include "analysis/matching.h"
#include "analysis/search_budget.h"
#include "analysis/sharding_factors.h"
#include "analysis/step_times.h"
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

// A part of an instruction's result that lies where a part of an operand lay, whatever the
// schedule: dynamic updates, scatters, declared aliases, fusions that end in such.
struct InPlace {
  InstructionId instruction;
  int64_t operand = 0;
  Dims operand_index, output_index;
  bool operator==(const InPlace&) const = default;
};

struct Aliases {
  std::vector<Value> values;  // by number
  std::vector<Buffer> buffers;
  std::vector<BufferId> buffer_of;  // by value
  std::vector<InPlace> in_place;    // by instruction

  // The values that may stand at a part of an instruction's result: mostly one; several where calls
  // meet; none in computations that the entry does not reach.
  std::span<const ValueId> at(InstructionId instruction, const Dims& index = {}) const;
  // The same by node: the parts of a result in pre-order, 0 the whole, index_of_node says which.
  std::span<const ValueId> at_node(InstructionId instruction, size_t node) const;
  size_t count_nodes(InstructionId instruction) const;
  const Dims& index_of_node(InstructionId instruction, size_t node) const;
  std::span<const InPlace> in_place_of(InstructionId instruction) const;
  const Buffer& buffer(ValueId value) const { return buffers[buffer_of[value.value].value]; }
  const Value& operator[](ValueId id) const { return values[id.value]; }

  // How the sets lie: node n of instruction i holds set sets[first_node[i] + n], the values from
  // set_start[set] to set_start[set + 1] in set_values.
  std::vector<uint32_t> first_node;  // by instruction, and one more
  std::vector<uint32_t> sets, set_start;
  std::vector<ValueId> set_values;
  std::vector<ShapeId> shapes;                    // by instruction
  std::vector<std::vector<Dims>> nodes_of_shape;  // by shape, index of each node; empty: one node
};
// The shape of a value: that of the part of its defining instruction's result.
const Shape& shape_of(const Module& module, const Value& value);
// "add.3{}", "while{1}", as XLA's live ranges name it.
std::string name_of(const Module& module, const Value& value);

// The module must verify. Fails with Unsupported for what no rule covers: a computation that is
// both called and applied to elements.
Result<Aliases> find_aliases(const Module& module);

// Whether `user` may write the part `user_index` of its result where the part `operand_index` of
// `operand` lies, provided that nobody reads the operand after it: what must share, what a TPU's
// backend_config says ("aliasing_operands"), and of equal shapes elementwise ops but copies, loop
// fusions, sorts and the like. XLA's CanShareOperandBufferWithUser without other hints of back
// ends.
bool may_share(const Module& module, const Aliases& aliases, InstructionId operand,
               const Dims& operand_index, InstructionId user, const Dims& user_index);
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
  std::vector<int64_t> moments;         // by instruction: where it stands in `sequence`; -1: not
  std::vector<LiveRange> ranges;        // by value; start > end: never alive here (inside fusions)
  bool has_range(ValueId id) const { return ranges[id.value].start <= ranges[id.value].end; }
};
// The flattened sequence holds each computation once, before its first caller; ranges tell of that
// visit only. An asynchronous computation stands before the first step that has all its operands.
Liveness find_liveness(const Module& module, const Aliases& aliases, const Schedule& schedule);

// XLA's peak: the earliest moment with the largest sum, where each value counts the unpadded bytes
// of its whole instruction's shape, and one whose range has just ended is still counted. The values
// alive there, largest first, then by name; `bytes` is the sum of their unpadded sizes, 8 bytes for
// each element of a tuple. Nothing when some shape is unbounded (moment -1).
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
// What one run of a collective sends: by a ring, or in pairs, which for all but all-reduce is the
// least that there is. The one count of a collective's bytes: profiles, explain and diff show it.
struct CollectiveBytes {
  Op kind;            // all-gather of an all-gather-start, of an async-start of one, of a fusion
  int64_t group = 1;  // devices that it joins, of the largest group; of permutes 2
  double sent_bytes = 0;  // by the device that sends most: it ends last
};
// Nothing for what is no collective, nor for the -update and -done of one, whose start is counted.
// Formulas, for g devices of the largest group and B unpadded bytes of the operands on each:
// all-gather B (g - 1), reduce-scatter, all-to-all and broadcast B (g - 1) / g, all-reduce twice
// that, permute B, or 0 where each device is sent its own; a ragged all-to-all at most the B
// (g - 1) / g of its first operand, as data decide.
std::optional<CollectiveBytes> collective_bytes(const Module& module, InstructionId id);
// How often a while's body runs, as the arithmetic of its counter proves.
std::optional<int64_t> trip_count(const Module& module, InstructionId while_instruction);
// The same for costs, where what the backend config states (known_trip_count) is taken first. It
// need not be true, so that no value may depend on it.
std::optional<int64_t> stated_trip_count(const Module& module, InstructionId while_instruction);
// Whether `part` is the slice or dynamic-slice of what the dynamic-update-slice `update` writes
// over, and its elements go only to their own places of the update: each is read before it is
// written, in whatever order the update is made in place.
bool reads_only_updated_slice(const Module& module, InstructionId part, InstructionId update);
// Whether a fusion with reductions over trailing dimensions needs, for a row of its only result, no
// other row of this operand, which has the same dimensions.
bool reads_only_its_rows(const Module& module, InstructionId fusion, size_t operand);
// Whether a fusion or another step needs, for an element of any of its results, no other element of
// this operand than the one at the same place of memory: through elementwise ops, and in fusions
// through reshapes, which move nothing. Arrays are dense and row-major.
bool reads_only_same_offsets(const Module& module, InstructionId step, size_t operand);
// Whether a part of an array of these sizes is contiguous in memory. Both are dense and row-major.
bool is_contiguous(const Dims& part, const Dims& whole);
// Whether the slice is dynamic, with a number for the start in each dimension, and contiguous.
bool is_contiguous_dynamic_slice(const Module& module, InstructionId slice);
// The offset, in elements, of a slice that is contiguous in its operand; -1 of others.
int64_t contiguous_slice_start(const Module& module, InstructionId slice);
// Whether a gather takes one element of a table of one dimension for each of its indices: element i
// of the result needs of operand 1 the element i alone.
bool is_lookup(const Module& module, InstructionId id);
// Whether element i of the user needs no other element of the value than its own: in elementwise
// ops, copies, bits taken for another type of their width, and the indices of lookups.
bool reads_own_element(const Module& module, InstructionId user, InstructionId value);

}  // namespace hilo
