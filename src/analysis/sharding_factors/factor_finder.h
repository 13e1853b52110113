// How the factors of an instruction are found. Private to `analysis`.
//
// Each map ties dimensions of operands to those of results: what is the same is united, then each
// united node becomes a factor, or several where its digits are dimensions of their own.
#pragma once

#include <map>
#include <set>

#include "analysis/index_map/op_maps.h"
#include "analysis/sharding_factors.h"

namespace hilo {

// What a dimension can be tied to: a dimension of a result, a loop that operands share, or a
// dimension of one operand alone. Nodes that are the same are united.
struct FactorNode {
  size_t parent;
  int64_t size;
  ShardingFactor::Kind kind = ShardingFactor::Kind::Pass;
  bool blocks = false;
  // Of this very dimension or loop, whatever it is united with.
  bool is_mentioned = false, is_passed = false;  // of a result: by an index, as one
  bool is_window = false;                        // a loop over one
  std::set<int64_t> cuts = {};                   // units of digits, see FactorPart
  int shifts = 0;                       // operand dimensions that are a part of it at some offset
  std::optional<size_t> numbered = {};  // the last of its factors that got a number
};
// The digit (index floordiv unit) mod size of a node.
struct FactorPart {
  size_t node;
  int64_t unit, size;
};
using FactorReading = std::vector<FactorPart>;  // of an operand dimension, the major digit first

struct OperandLeaf {
  size_t operand, leaf;
  const Shape* shape;
};

class FactorFinder {
 public:
  FactorFinder(const Module& module, InstructionId id);

  ShardingFactors run() {
    read_all();
    pair_whole_dimensions();
    mark_new_dimensions();
    settle_shifts();
    return number();
  }

 private:
  struct Read {  // one array of an operand for one of the result
    size_t operand, output;
    IndexMap raw;
  };

  size_t add_node(int64_t size, ShardingFactor::Kind kind = ShardingFactor::Kind::Pass) {
    nodes_.push_back({nodes_.size(), size, kind});
    return nodes_.size() - 1;
  }
  size_t root_of(size_t node) const {
    while (nodes_[node].parent != node) node = nodes_[node].parent;
    return node;
  }
  FactorNode& root(size_t node) { return nodes_[root_of(node)]; }
  void mark(size_t node, ShardingFactor::Kind kind) {
    root(node).kind = std::max(root(node).kind, kind);
  }
  void unite(size_t a, size_t b) {
    a = root_of(a), b = root_of(b);
    if (a == b) return;
    FactorNode &kept = nodes_[std::min(a, b)], &gone = nodes_[std::max(a, b)];
    gone.parent = kept.parent;
    kept.kind = std::max(kept.kind, gone.kind);
    kept.blocks |= gone.blocks;
    kept.cuts.merge(gone.cuts);
    kept.shifts += gone.shifts;
  }
  // Ranges of the same number, in maps as ops give them, are one loop.
  size_t loop_node(int64_t number, int64_t size) {
    const auto [at, is_new] = loops_.try_emplace(number, 0);
    if (is_new) at->second = add_node(size);
    return at->second;
  }
  size_t node_of(const Read& read, IndexTerm::Kind kind, int64_t number) {
    return kind == IndexTerm::Kind::Range ? loop_node(number, read.raw.range_sizes[number])
                                          : result_nodes_[read.output][number];
  }
  FactorReading whole(size_t node) { return {{node, 1, nodes_[node].size}}; }
  FactorReading own(int64_t size, ShardingFactor::Kind kind) { return whole(add_node(size, kind)); }

  void read_all();
  void find_loops_that_stand_alone();
  FactorReading read_dimension(const Read& read, size_t d);
  std::optional<FactorReading> read_plain(const Read& read, size_t d,
                                          const IndexExpression& expression);
  std::optional<FactorReading> read_digits(const Read& read, size_t d);
  FactorReading read_shifted(const Read& read, size_t d, const IndexExpression& expression);
  FactorReading read_symbol(const Read& read, size_t d, const IndexExpression& expression);
  FactorReading read_window(const Read& read, size_t d, int64_t dim, int64_t loop);
  bool walk_reshape(const Read& read);
  bool walk_same_order();
  void regroup(size_t operand, const Dims& from, const Dims& to);
  void pair_whole_dimensions();
  void mark_new_dimensions();
  void settle_shifts();
  bool fits_cuts(const FactorPart& part) const;
  std::vector<size_t> numbers_of(std::span<const FactorPart> reading, ShardingFactors& out);
  ShardingFactors number();

  const Module& module_;
  const InstructionId id_;
  bool passes_tuples_ = module_[id_].op == Op::Tuple;
  std::vector<FactorNode> nodes_;
  std::vector<const Shape*> results_;
  std::vector<std::vector<size_t>> result_nodes_;  // by leaf and dimension
  std::map<int64_t, size_t> loops_;                // by number of the range
  std::set<int64_t> plain_loops_;                  // that are a dimension of some operand alone
  std::vector<OperandLeaf> operands_;
  std::vector<Read> reads_;
  std::vector<std::vector<std::optional<FactorReading>>> readings_;  // by leaf and dimension
  // Of a reshape that regroups: factors of the result's dimensions.
  std::optional<std::vector<FactorReading>> regrouped_;
  struct Numbered {
    int64_t unit;                    // of the node's digit that the factor is
    std::optional<size_t> previous;  // factor of the node
  };
  std::vector<Numbered> numbered_;  // by number
};

// The variable that the expression is, and no more, or null.
const IndexTerm* plain_variable(const IndexExpression& expression);

}  // namespace hilo
