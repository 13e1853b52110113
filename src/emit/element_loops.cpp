// Loops over the elements of values that are computed each for itself.
#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

#include "emit/flattened_rows.h"
#include "emit/kernel_builder.h"
#include "emit/loop_limits.h"
#include "emit/non_temporal_stores.h"
#include "emit/op_functions.h"
#include "emit/partition_points.h"
#include "emit/tiles.h"
#include "kernels/kernels.h"

namespace hilo {
namespace {

constexpr int64_t min_slice = 4;  // of elements that are gathered together
// Elements of rows that are written without loops where that takes so few steps, and no more code
// than that.
constexpr int64_t max_unrolled_row = 32, max_unrolled_steps = 512;
constexpr int64_t cheap_step = 1, costly_step = 16;

}  // namespace

bool keeps_element_order(const ElementEmitter& elements, InstructionId id) {
  const Module& module = elements.module;
  std::set<InstructionId> seen;
  std::vector<InstructionId> waiting = {id};
  const int64_t count = element_count(module.shape(id));
  while (!waiting.empty()) {
    const InstructionId value = waiting.back();
    waiting.pop_back();
    if (!seen.insert(value).second) continue;
    const Op op = module[value].op;
    if (op == Op::Parameter || op == Op::GetTupleElement || op == Op::Constant) continue;
    if (elements.array(value)) continue;
    const bool same = is_elementwise(op) || op == Op::Reshape || op == Op::Bitcast ||
                      op == Op::Copy || op == Op::BitcastConvert;
    const bool is_scalar_broadcast =
        op == Op::Broadcast && element_count(module.shape(module.operand(value, 0))) == 1;
    if (!same && !is_scalar_broadcast) return false;
    for (InstructionId operand : module.operands(value)) {
      const Shape& shape = module.shape(operand);
      if (!shape.is_array()) return false;
      if (same && element_count(shape) != count && !shape.dims.empty()) return false;
      if (element_count(shape) == count || !shape.dims.empty()) waiting.push_back(operand);
    }
  }
  return true;
}

namespace {

// Of an element that is made of others' or read, or null where it is made in another way.
std::optional<int64_t> step_cost(const ElementEmitter& elements, InstructionId id,
                                 std::optional<Op> also) {
  const Op op = elements.module[id].op;
  if (!elements.module.shape(id).is_array()) return std::nullopt;
  if (elements.array(id) || op == Op::Constant || op == Op::Parameter) return cheap_step;
  if (has_trait(op, TraitCheap | TraitRearranges) || op == Op::Fusion || op == also)
    return cheap_step;
  return is_elementwise(op) ? std::optional(costly_step) : std::nullopt;
}

// What an element of the value is made of, each once.
void append_operands(const ElementEmitter& elements, InstructionId id,
                     std::vector<InstructionId>& seen) {
  const Module& module = elements.module;
  const Op op = module[id].op;
  if (elements.array(id) || op == Op::Constant || op == Op::Parameter) return;
  const auto meet = [&](InstructionId next) {
    if (std::ranges::count(seen, next) == 0) seen.push_back(next);
  };
  std::ranges::for_each(module.operands(id), meet);
  if (op == Op::Fusion) meet(module[module.attributes<FusionAttributes>(id).calls].root);
}

}  // namespace

std::optional<int64_t> cheap_ops(const ElementEmitter& elements, std::vector<InstructionId> seen,
                                 std::optional<Op> also) {
  for (size_t i = 0; i < seen.size(); ++i) {
    if (step_cost(elements, seen[i], also) != cheap_step) return std::nullopt;
    append_operands(elements, seen[i], seen);
  }
  return static_cast<int64_t>(seen.size());
}

namespace {

// One loop nest over the elements of arrays of equal dimensions.
class ElementLoops {
 public:
  ElementLoops(KernelBuilder& w, std::span<const WrittenLeaf> leaves)
      : w_(w),
        module_(w.elements.module),
        leaves_(leaves),
        dims_(w.elements.leaf_shape(leaves[0].id, leaves[0].leaf).dims) {
    inner_ = innermost_dim(dims_);
    at_.resize(dims_.size(), int64(w.b, 0));
  }

  void write() {
    if (is_flat() || dims_.empty()) return write_flat();
    find_ends();
    crossing_ = find_crossing(w_.elements, leaves_, inner_);
    const bool has_tiles = crossing_ && (is_one_loop() || is_transposed_once());
    if (has_tiles && crossing_->part && !crossing_->is_part_read) return write_crossing();
    if (const auto rows = flattened_rows()) return write_flattened_rows(w_, leaves_, dims_, *rows);
    if (has_short_rows()) return write_short_rows();
    if (has_straight_rows()) return write_short_rows(true);
    if (has_tiles) {
      if (is_transposed_row()) return write_short_rows();
      return write_crossing();
    }
    if (element_count(dims_) == dims_[inner_]) write_line();
    else write_rows();
  }

  void write_crossing() {
    const auto store_there = [&](const Index& place) { store(place); };
    TileStores stores = {.place = store_there};
    const WrittenLeaf& leaf = leaves_[0];
    if (leaves_.size() == 1 && crossing_->transposes.size() == 1 &&
        leaf.id == crossing_->transposes[0])
      stores.address = [&](const Index& place) {
        return w_.b.CreateInBoundsGEP(stored_type(w_.b, module_.shape(leaf.id).type), leaf.array,
                                      place.position(w_.b));
      };
    write_tiles(w_, *crossing_, dims_, stores);
  }

  bool write_parts(int64_t width) {
    const bool flat = is_flat();
    if (!flat && dims_[inner_] != width) return false;
    w_.set_count(element_count(dims_) / width);
    const auto strip = [&](size_t end) {
      return w_.b.CreateExactSDiv(column_end(end), int64(w_.b, part_columns));
    };
    llvm::Value *first = strip(0), *last = strip(1);
    const Dims outer(dims_.begin(), dims_.begin() + static_cast<int64_t>(inner_));
    loop(w_.b, w_.begin, w_.end, [&](llvm::Value* row) {
      const Index rows = Index::linear(w_.b, outer, flat ? int64(w_.b, 0) : row);
      for (size_t d = 0; d < inner_; ++d) at_[d] = rows.at(w_.b, d);
      loop(w_.b, first, last, [&](llvm::Value* number) {
        llvm::Value* start = multiply_index(w_.b, number, part_columns);
        w_.elements.forget();
        loop(w_.b, part_columns, [&](llvm::Value* lane) {
          llvm::Value* column = add_index(w_.b, start, lane);
          if (!flat) return store_at(column);
          llvm::Value* place = add_index(w_.b, multiply_index(w_.b, row, width), column);
          store(Index::linear(w_.b, dims_, place));
        });
      });
    });
    return true;
  }

 private:
  // Of the columns of a part.
  llvm::Value* column_end(size_t end) {
    llvm::Type* type = w_.b.getInt64Ty();
    llvm::Value* ends = w_.array(w_.function->arg_size() - 3);  // before the bounds
    return w_.b.CreateLoad(type, w_.b.CreateConstInBoundsGEP1_64(type, ends, end));
  }
  std::vector<InstructionId> leaf_ids() const {
    std::vector<InstructionId> out;
    for (const WrittenLeaf& one : leaves_) out.push_back(one.id);
    return out;
  }
  // Whether all values keep every element in its place.
  bool is_flat() const {
    return std::ranges::all_of(leaves_, [&](const WrittenLeaf& one) {
      return one.leaf == 0 && module_.shape(one.id).is_array() &&
             keeps_element_order(w_.elements, one.id);
    });
  }

  void find_ends() {
    std::vector<InstructionId> ids;
    for (const WrittenLeaf& one : leaves_)
      if (module_.shape(one.id).is_array()) ids.push_back(one.id);
    partition_points_.ends = {0, dims_[inner_]};
    if (!ids.empty()) partition_points_ = find_partition_points(module_, ids, inner_);
  }

  // In iterations of as many elements as are a whole number of vectors.
  int64_t set_flat_count() {
    const int64_t count = element_count(dims_);
    const int64_t each = std::max<int64_t>(1, std::gcd(count, KernelLimits::whole_lanes));
    w_.set_count(count / each);
    w_.set_block(1, each);
    return each;
  }

  void write_flat() {
    const int64_t each = set_flat_count();
    if (element_count(dims_) >= KernelLimits::whole_lanes) w_.set_loop_kind(LoopsOver::Positions);
    set_runs(*w_.function, each);
    loop(w_.b, multiply_index(w_.b, w_.begin, each), multiply_index(w_.b, w_.end, each),
         [&](llvm::Value* i) { store(Index::linear(w_.b, dims_, i)); });
  }

  // Of one dimension.
  void write_line() {
    const int64_t each = set_flat_count();
    if (each % partition_points_.group != 0) partition_points_ = {1, {0, dims_[inner_]}};
    if (is_one_loop()) set_runs(*w_.function, each);
    llvm::Value* begin = multiply_index(w_.b, w_.begin, each / partition_points_.group);
    llvm::Value* end = multiply_index(w_.b, w_.end, each / partition_points_.group);
    for_each_loop([&](int64_t first, int64_t last, LoopBody body) {
      llvm::Value *from = begin, *to = end;
      if (first > 0) from = greater_index(w_.b, begin, int64(w_.b, first));
      if (last < partition_points_.ends.back()) to = lesser_index(w_.b, end, int64(w_.b, last));
      loop(w_.b, from, to, [&](llvm::Value* number) {
        w_.elements.bind_counter(number, first, last);
        body(number);
      });
    });
  }

  // Not of what is transposed, nor of rows of a few elements that are many enough to be lanes.
  std::optional<FlattenedRows> flattened_rows() const {
    if (crossing_) return std::nullopt;
    if (is_one_loop() && dims_[inner_] < KernelLimits::min_lanes && inner_ > 0 &&
        dims_[inner_ - 1] >= 2 * KernelLimits::min_lanes)
      return std::nullopt;
    return find_flattened_rows(w_.elements, leaf_ids(), dims_);
  }

  // Rows of a few elements, as of points or colours, without loops of their own.
  bool has_short_rows() const {
    if (inner_ == 0 || !is_one_loop() || element_count(dims_) == 0) return false;
    const int64_t size = dims_[inner_];
    if (size == KernelLimits::min_lanes) return !is_vector_of_eight();
    return size < KernelLimits::min_lanes && !(size >= min_slice && gathers_slices());
  }

  // Rows that LoopVectorize would make of a vector or two and a rest.
  bool has_straight_rows() const {
    const int64_t size = dims_[inner_];
    if (inner_ == 0 || size < KernelLimits::min_lanes || size > max_unrolled_row) return false;
    const bool is_whole = std::has_single_bit(static_cast<uint64_t>(size));
    if (element_count(dims_) / size < KernelLimits::min_lines || (is_whole && !chooses_by_index()))
      return false;
    return is_straight(size);
  }
  // Whether an element comes from one of several operands. In a loop over a row that is a branch,
  // and the loop no vectors.
  bool chooses_by_index() const {
    std::vector<InstructionId> seen = leaf_ids();
    for (size_t i = 0; i < seen.size(); ++i) {
      const Op op = module_[seen[i]].op;
      if (w_.elements.array(seen[i])) continue;
      if (op == Op::Concatenate) return true;
      for (InstructionId operand : module_.operands(seen[i]))
        if (std::ranges::count(seen, operand) == 0) seen.push_back(operand);
    }
    return false;
  }
  bool is_straight(int64_t size, std::optional<Op> also = std::nullopt) const {
    if (size > max_unrolled_row) return false;
    const auto steps = steps_of_row(size, also);
    return steps && steps->all <= max_unrolled_steps && !gathers_slices() && !crossing_;
  }

  // Of straight code for `size` elements of each value: what is made of fewer, as of columns that
  // are joined, is made once.
  struct RowSteps {
    int64_t all = 0, computed = 0;  // rather than moved
  };
  std::optional<RowSteps> steps_of_row(int64_t size, std::optional<Op> also) const {
    std::vector<InstructionId> seen = leaf_ids();
    const int64_t rows = std::max<int64_t>(1, element_count(dims_) / size);
    RowSteps out;
    for (size_t i = 0; i < seen.size(); ++i) {
      const Shape& shape = module_.shape(seen[i]);
      const auto cost = step_cost(w_.elements, seen[i], also);
      if (!cost) return std::nullopt;
      const int64_t elements = element_count(shape);
      const int64_t each = elements <= size ? elements : std::max<int64_t>(1, elements / rows);
      const int64_t steps = *cost * std::min(size, each);
      out.all += steps;
      if (is_elementwise(module_[seen[i]].op) && !w_.elements.array(seen[i])) out.computed += steps;
      if (out.all > max_unrolled_steps) return std::nullopt;
      append_operands(w_.elements, seen[i], seen);
    }
    return out;
  }

  // Elements that are mostly moved, or are whole vectors, go along the rows, those that are
  // computed across them.
  LoopsOver straight_rows(int64_t size) const {
    const auto steps = steps_of_row(size, Op::Iota);
    return size % KernelLimits::min_lanes != 0 && steps && steps->computed > size
               ? LoopsOver::AcrossRows
               : LoopsOver::AlongRows;
  }

  // Rows of eight of the narrowest and of the widest elements that cross lines of what is read take
  // more stores than so many lines side by side.
  bool is_vector_of_eight() const {
    return std::ranges::all_of(leaves_, [&](const WrittenLeaf& one) {
      const int64_t bytes = storage_bytes(w_.elements.leaf_shape(one.id, one.leaf).type);
      return bytes == 2 || bytes == 4 || !crossing_;
    });
  }

  // Whether an element is made of those of slices that lie as the rows do: each row is a vector.
  bool gathers_slices() const {
    std::vector<InstructionId> seen = leaf_ids();
    for (size_t i = 0; i < seen.size(); ++i) {
      const InstructionId id = seen[i];
      if (w_.elements.array(id)) continue;
      if (module_[id].op == Op::Gather)
        return std::ranges::count(module_.attributes<GatherAttributes>(id).offset_dims,
                                  static_cast<int64_t>(inner_)) > 0;
      if (!is_elementwise(module_[id].op)) continue;
      for (InstructionId operand : module_.operands(id))
        if (std::ranges::count(seen, operand) == 0) seen.push_back(operand);
    }
    return false;
  }

  // Rows that no tile fits, one element after the other for many of them at once.
  bool is_transposed_row() const {
    return inner_ > 0 && dims_[inner_] < KernelLimits::short_row &&
           dims_[inner_ - 1] >= KernelLimits::min_lines && leaves_.size() == 1;
  }

  // With the dimensions before the innermost one that are few elements with it, and those that
  // are too short to be lanes.
  void write_short_rows(bool are_straight = false) {
    size_t first = inner_;
    int64_t each = dims_[inner_];
    while (first > 1 && (each * dims_[first - 1] < KernelLimits::min_lanes ||
                         (dims_[first - 1] < KernelLimits::min_lanes &&
                          is_straight(each * dims_[first - 1], Op::Iota))))
      each *= dims_[--first];
    if (are_straight || each >= std::max(KernelLimits::min_lanes, dims_[inner_] + 1))
      w_.set_loop_kind(straight_rows(each));
    const Dims outer(dims_.begin(), dims_.begin() + static_cast<int64_t>(first));
    const auto write = [&](const Index& lane) {
      for (size_t d = 0; d < first; ++d) at_[d] = lane.at(w_.b, d);
      for (int64_t i = 0; i < each; ++i) {
        int64_t rest = i;
        for (size_t d = inner_ + 1; d-- > first; rest /= dims_[d])
          at_[d] = int64(w_.b, rest % dims_[d]);
        store(Index(w_.b, dims_, at_));
      }
    };
    const ResultBlock rows = write_lanes(w_, outer, write);
    w_.set_block(rows.iterations, rows.elements * each);
  }

  void write_rows() {
    const Dims outer(dims_.begin(), dims_.begin() + static_cast<int64_t>(inner_));
    w_.set_count(element_count(dims_) == 0 ? 0 : element_count(outer));
    w_.set_block(1, dims_[inner_]);
    if (is_one_loop()) set_runs(*w_.function, dims_[inner_]);
    loop(w_.b, w_.begin, w_.end, [&](llvm::Value* row) {
      const Index rows = Index::linear(w_.b, outer, row);
      for (size_t d = 0; d < inner_; ++d) at_[d] = rows.at(w_.b, d);
      for_each_loop([&](int64_t first, int64_t last, LoopBody body) {
        loop(w_.b, last - first, [&](llvm::Value* from_first) {
          w_.elements.bind_counter(from_first, 0, last - first);
          body(first == 0 ? from_first : add_index(w_.b, from_first, int64(w_.b, first)));
        });
      });
      const int64_t rest = dims_[inner_] % partition_points_.group;
      if (rest > 0) w_.elements.forget();
      for (int64_t i = 0; i < rest; ++i) store_at(int64(w_.b, dims_[inner_] - rest + i));
    });
  }

  bool is_one_loop() const {
    return partition_points_.group == 1 && partition_points_.ends.size() == 2;
  }

  // Whether what the crossing's transposes are of has its arrays' order. Else one of two transposes
  // is undone, and tiles without partition points would read no better.
  bool is_transposed_once() const {
    std::vector<InstructionId> seen;
    for (InstructionId transpose : crossing_->transposes)
      seen.push_back(module_.operand(transpose, 0));
    for (size_t i = 0; i < seen.size(); ++i) {
      if (module_[seen[i]].op == Op::Transpose && !w_.elements.array(seen[i])) return false;
      append_operands(w_.elements, seen[i], seen);
    }
    return true;
  }

  // over(first, last, body) is to call the body with each number of a group in [first, last).
  void for_each_loop(llvm::function_ref<void(int64_t, int64_t, LoopBody)> over) {
    for (size_t i = 0; i + 1 < partition_points_.ends.size(); ++i) {
      if (i > 0) w_.elements.forget();
      over(partition_points_.ends[i], partition_points_.ends[i + 1], [&](llvm::Value* number) {
        llvm::Value* first = multiply_index(w_.b, number, partition_points_.group);
        for (int64_t r = 0; r < partition_points_.group; ++r)
          store_at(r == 0 ? first : add_index(w_.b, first, int64(w_.b, r)));
      });
    }
  }

  void store_at(llvm::Value* place) {
    at_[inner_] = place;
    store(Index(w_.b, dims_, at_));
  }

  void store(const Index& index) {
    std::vector<llvm::Value*> values;
    for (const WrittenLeaf& one : leaves_)
      values.push_back(w_.elements.at(one.id, index, one.leaf));
    for (size_t i = 0; i < leaves_.size(); ++i) {
      const ElementType type = w_.elements.leaf_shape(leaves_[i].id, leaves_[i].leaf).type;
      store_element(w_.b, type, leaves_[i].array, index.position(w_.b), values[i]);
    }
  }

  KernelBuilder& w_;
  const Module& module_;
  std::span<const WrittenLeaf> leaves_;
  const Dims dims_;
  size_t inner_ = 0;  // the last dimension of more than one place
  std::vector<llvm::Value*> at_;
  PartitionPoints partition_points_;
  std::optional<Crossing> crossing_;
};

}  // namespace

namespace {

// What is reshaped last, as what it was of lies in the same order: its dimensions say more.
WrittenLeaf without_reshapes(const ElementEmitter& elements, WrittenLeaf leaf) {
  const Module& module = elements.module;
  while (module[leaf.id].op == Op::Reshape && !elements.array(leaf.id))
    leaf.id = module.operand(leaf.id, 0);
  return leaf;
}

}  // namespace

void write_elements(KernelBuilder& w, std::span<const WrittenLeaf> leaves) {
  if (leaves.size() != 1) return ElementLoops(w, leaves).write();
  const WrittenLeaf leaf = without_reshapes(w.elements, leaves[0]);
  ElementLoops(w, {&leaf, 1}).write();
}

bool write_parts(KernelBuilder& w, std::span<const WrittenLeaf> leaves, int64_t width) {
  if (leaves.size() != 1) return ElementLoops(w, leaves).write_parts(width);
  const WrittenLeaf leaf = without_reshapes(w.elements, leaves[0]);
  return ElementLoops(w, {&leaf, 1}).write_parts(width);
}

void write_elements(KernelBuilder& w, InstructionId id) {
  const WrittenLeaf leaf = {id, 0, w.results[0]};
  write_elements(w, {&leaf, 1});
}

}  // namespace hilo
