// Orders of one computation's instructions and the memory that they take. Private to `plan`.
#pragma once

#include "plan/assign.h"

namespace hilo {

// A list of numbers for each of many things, one after the other.
struct Lists {
  std::vector<uint32_t> first = {0}, items;
  std::span<const uint32_t> operator[](uint32_t i) const {
    return {items.data() + first[i], first[i + 1] - first[i]};
  }
  size_t size() const { return first.size() - 1; }
};
using Edges = std::vector<std::pair<uint32_t, uint32_t>>;
// The second numbers of the edges by their first, each once, ascending.
Lists lists_of(size_t size, Edges edges);

// Nodes are instructions, numbered in the order of the file. A buffer is alive from the first node
// that touches it to the last. Turned around, an order of a graph is one of its reverse, and takes
// the same memory.
struct ScheduleGraph {
  std::vector<InstructionId> instructions;    // by node
  Lists before, after;                        // nodes that must come earlier, and later
  Lists touches, touched_by;                  // buffers of nodes, and nodes of buffers
  std::vector<int64_t> bytes;                 // by buffer
  std::vector<bool> alive_first, alive_last;  // by buffer: from the beginning on, to the end
  std::vector<int64_t> inside;  // by node: bytes alive at once in the computations it calls
  std::vector<std::pair<uint32_t, ComputationId>> calls;  // nodes that run them as their steps
  size_t size() const { return instructions.size(); }
};
ScheduleGraph reverse(const ScheduleGraph& graph);

using Order = std::vector<uint32_t>;

// Memory while nodes are taken one after the other.
class MemoryState {
 public:
  explicit MemoryState(const ScheduleGraph& graph);
  int64_t alive() const { return alive_; }
  int64_t born(uint32_t node) const;   // bytes that begin to live with it
  int64_t freed(uint32_t node) const;  // bytes that die with it
  int64_t load(uint32_t node) const { return alive_ + std::max(born(node), graph_->inside[node]); }
  void take(uint32_t node);
  uint32_t untaken(uint32_t buffer) const { return untaken_[buffer]; }  // nodes that will touch it
  uint32_t last_untaken(uint32_t buffer) const { return mixed_[buffer]; }  // when there is one

 private:
  const ScheduleGraph* graph_;
  int64_t alive_ = 0;
  std::vector<uint32_t> untaken_, mixed_;  // mixed: the exclusive or of their numbers
};

// The largest load of an order, and the first place where it is.
struct OrderPeak {
  int64_t bytes = 0;
  size_t place = 0;
};
OrderPeak peak_of(const ScheduleGraph& graph, const Order& order);

// Of nodes that are ready: the one that adds least.
enum class TieBreak : uint8_t { Number, Newest, Smallest };
Order list_order(const ScheduleGraph& graph, TieBreak tie);
// What a node needs comes before it, depth first; of several, ...
enum class Visit : uint8_t { InOrder, Backwards, DeepestFirst, HungriestFirst };
Order depth_first_order(const ScheduleGraph& graph, Visit visit);
// Keeps the `width` sets of taken nodes that came with the lowest peaks, step by step.
Order beam_order(const ScheduleGraph& graph, size_t width);
// The order with what adds memory moved behind, as far as it may, and what frees it moved ahead.
// `reversed` is the graph's reverse.
Order settle(const ScheduleGraph& graph, const ScheduleGraph& reversed, const Order& order);

// The best of all of them; beams take at most `work`, nodes times nodes times width.
Order best_order(const ScheduleGraph& graph, size_t work);

// Graphs of a module's computations.
class ScheduleGraphs {
 public:
  ScheduleGraphs(const Module& module, const Machine& machine, const Aliases& aliases);
  // `inside`: by computation, the peaks of those that it calls. Control dependences are kept, and a
  // value is not written over before its last reader.
  ScheduleGraph graph(ComputationId computation, std::span<const int64_t> inside) const;

 private:
  // A value comes to be, here or inside what is called; is read, or stands in a tuple that is
  // handed on.
  struct Event {
    enum Kind : uint8_t { Birth, Inside, Read, Stand };
    BufferId buffer;
    ValueId value;
    InstructionId instruction;
    Kind kind;
    bool is_parameter;  // a birth that is there from the beginning
  };
  void add(ValueId value, InstructionId instruction, Event::Kind kind);
  void add_value(ValueId value);
  void find_callers();
  bool runs_here(InstructionId id) const;
  void add_inner_births();
  Order operands_first(ComputationId computation) const;
  Edges dependences(ComputationId computation) const;

  const Module& module_;
  const Aliases& aliases_;
  std::vector<int64_t> bytes_;                  // by buffer
  std::vector<std::vector<Event>> events_;      // by computation
  std::vector<std::vector<BufferId>> results_;  // by computation: buffers of its root
  std::vector<InstructionId> callers_;          // by computation: the step with which it begins
  mutable std::vector<uint32_t> node_;          // by instruction, of the computation last asked for
};

// The most bytes at one moment, in all spaces together.
struct MeasuredPeak {
  int64_t bytes = 0;
  int64_t moments = 0;        // that take as much
  InstructionId instruction;  // at the first of them
};
class PeakMeter {
 public:
  PeakMeter(const Module& module, const Machine& machine, const Aliases& aliases);
  MeasuredPeak measure(const Schedule& schedule);

 private:
  const Module& module_;
  const Machine& machine_;
  const std::vector<BufferFacts> facts_;  // by buffer
  const std::vector<int64_t> sizes_;      // by value
  Plan plan_;                             // without places
  KnownSharing known_;
};

// Moves instructions around the peak as long as it gets lower, judged by at most so many measures.
// `graphs` by computation; empty for those that are not run.
void polish(const Module& module, PeakMeter& meter, std::span<const ScheduleGraph> graphs,
            Schedule& schedule, int64_t measures);

}  // namespace hilo
