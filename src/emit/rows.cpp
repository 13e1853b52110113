#include "emit/rows.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "emit/bf16_rounding.h"
#include "emit/cache_sizes.h"
#include "emit/loop_limits.h"
#include "emit/non_temporal_stores.h"
#include "emit/reduce.h"
#include "emit/row_numbers.h"

namespace hilo {
namespace {

using llvm::Value;

// Rows of so few steps have no loops of their own, so that they are the lanes of a vector.
constexpr double short_row = KernelLimits::short_row;
// More, where rows are read as vectors (emit/interleaved.h).
constexpr double short_row_of_vectors = 64;
constexpr int64_t max_rows_in_vectors = KernelLimits::widest_lanes;
// Instructions of a row, whose loops are written out.
constexpr double max_instructions = 1024;
// Rows whose steps are done in turn, first one for all of them and then the next: what a step makes
// of a number of the row waits long for it, and a processor looks ahead a few hundred instructions.
// So many where their elements stay in the first cache and there are pieces enough for all threads.
struct Together {
  int64_t most;
  double max_elements;
};
constexpr Together one_by_one = {8, 4096}, in_vectors = {16, 8192};
constexpr int64_t min_rows_together = 4, min_groups = 64;
// In vectors of all rows, the steps wait for each other. That is won back where there is little
// memory to wait for besides: where results are narrow, or one number of each row.
constexpr int64_t narrow_bytes = 2;

class RowWriter {
 public:
  RowWriter(KernelBuilder& writer, const Rows& rows, std::span<const WrittenLeaf> leaves)
      : w_(writer),
        e_(writer.elements),
        b_(writer.b),
        rows_(rows),
        steps_(steps_each(leaves)),
        is_short_(steps_ <= short_row || (steps_ <= short_row_of_vectors && are_vectors(leaves))),
        in_vectors_(writes_little(leaves)),
        together_(is_short_ ? 1 : rows_together(leaves)) {
    if (is_short()) return;  // what is kept are values
    for (const Rows::Kept& kept : rows_.kept) {
      const int64_t count = together_ * kept_each(kept);
      scratch_.push_back(is_wide(kept) ? frame_array_of_bf16(b_, count)
                                       : frame_array(b_, row_type(kept), count));
    }
    here_ = scratch_;
    if (together_ == 1 || !in_vectors_) return;
    for (const RowNumber& one : find_row_numbers(e_, rows_))
      numbers_.push_back({one, frame_of(e_.module.shape(one.id).type)});
  }

  bool is_short() const { return is_short_; }
  int64_t together() const { return together_; }

  void write(const Index& row, std::span<const WrittenLeaf> leaves) {
    for (size_t step = 0; step < rows_.reductions.size(); ++step) reduce(step, row);
    write_results(row, leaves);
  }

  // The rows first … first + together() - 1.
  void write_group(Value* first, std::span<const WrittenLeaf> leaves) {
    first_ = first;
    for (size_t step = 0; step < rows_.reductions.size(); ++step) reduce_each(step);
    each([&](const Index& row, Value*) { write_results(row, leaves); });
  }

 private:
  void write_results(const Index& row, std::span<const WrittenLeaf> leaves) {
    for (const std::vector<WrittenLeaf>& alike : by_dims(e_, leaves)) {
      const Dims dims = e_.leaf_shape(alike[0].id, alike[0].leaf).dims;
      std::vector<Value*> at(dims.size(), int64(b_, 0));
      for (size_t d = 0; d < rows_.dims.size(); ++d) at[d] = row.at(b_, d);
      store(alike, dims, at, rows_.dims.size());
    }
  }

  // Elements that are divided after one reduction keep the divider busy, and what comes before
  // fills its waiting only from row to row.
  bool divides_all(std::span<const WrittenLeaf> leaves) const {
    return rows_.reductions.size() == 1 &&
           std::ranges::any_of(leaves, [&](const WrittenLeaf& leaf) {
             const Shape& shape = e_.leaf_shape(leaf.id, leaf.leaf);
             return e_.module[leaf.id].op == Op::Divide && shape.type != ElementType::BF16 &&
                    element_count(shape) > element_count(rows_.dims);
           });
  }

  bool writes_little(std::span<const WrittenLeaf> leaves) const {
    const int64_t rows = element_count(rows_.dims);
    return std::ranges::all_of(leaves, [&](const WrittenLeaf& leaf) {
      const Shape& shape = e_.leaf_shape(leaf.id, leaf.leaf);
      return storage_bytes(shape.type) <= narrow_bytes || element_count(shape) <= rows;
    });
  }

  int64_t rows_together(std::span<const WrittenLeaf> leaves) const {
    if (divides_all(leaves)) return 1;
    const int64_t rows = element_count(rows_.dims);
    const auto [most, max_elements] = in_vectors_ ? in_vectors : one_by_one;
    for (int64_t out = most; out >= min_rows_together; out /= 2)
      if (rows % out == 0 && rows / out >= min_groups &&
          steps_ * static_cast<double>(out) <= max_elements)
        return out;
    return 1;
  }

  int64_t kept_each(const Rows::Kept& kept) const {
    return element_count(e_.module.shape(kept.id)) / element_count(rows_.dims);
  }

  // bf16 that takes no more than an eighth of the second cache as f32 is kept so.
  bool is_wide(const Rows::Kept& kept) const {
    const int64_t second_cache = cache_sizes(*w_.function->getParent()).second;
    const int64_t bytes = together_ * kept_each(kept) * static_cast<int64_t>(sizeof(float));
    return e_.module.shape(kept.id).type == ElementType::BF16 &&
           bytes <= frame_bytes(second_cache, 8);
  }
  llvm::Type* row_type(const Rows::Kept& kept) const {
    return is_wide(kept) ? b_.getFloatTy() : stored_type(b_, e_.module.shape(kept.id).type);
  }

  llvm::Type* number_type(InstructionId reduction, size_t leaf) const {
    return held_type(b_, e_.leaf_shape(reduction, leaf).type);
  }

  // Places in the frame, one for each row of a group.
  Value* frame_of(ElementType type) const {
    return frame_array(b_, held_type(b_, type), together_);
  }
  void store_to(Value* frame, Value* i, Value* value) const {
    llvm::Type* type = value->getType();
    b_.CreateAlignedStore(value, b_.CreateInBoundsGEP(type, frame, i), align_of(type));
  }
  Value* load_from(Value* frame, llvm::Type* type, Value* i) const {
    return b_.CreateAlignedLoad(type, b_.CreateInBoundsGEP(type, frame, i), align_of(type));
  }
  static llvm::Align align_of(llvm::Type* type) {
    return llvm::Align(std::max(1U, type->getScalarSizeInBits() / 8));
  }

  // Row number i of the group.
  void each(llvm::function_ref<void(const Index&, Value*)> body) {
    loop(b_, together_, [&](Value* i) {
      begin_row(i);
      for (size_t k = 0; k < rows_.kept.size(); ++k)
        if (rows_.kept[k].step < results_.size())
          e_.bind_row(rows_.kept[k].id, here_[k], rows_.dims.size());
      body(Index::linear(b_, rows_.dims, add_index(b_, first_, i)), i);
    });
  }

  // One reduction of all rows of the group, and the numbers that wait for it. What is left to be
  // combined of each row is combined in vectors of them all.
  void reduce_each(size_t step) {
    const InstructionId id = rows_.reductions[step];
    std::vector<Value*> results;
    for (size_t k = 0; k < e_.module.operands(id).size() / 2; ++k)
      results.push_back(frame_of(e_.leaf_shape(id, k).type));
    Reduce reduction(e_, id);
    const bool has_lanes =
        in_vectors_ && reduction.has_lanes() && !reduction.reducer().type()->isIntegerTy(1);
    Value *left = nullptr, *combined = nullptr;  // in the frame
    llvm::Type* lanes_type = nullptr;
    each([&](const Index& row, Value* i) {
      if (has_lanes) {
        Reduce of_row = reduction_that_keeps(step);
        Value* lanes = of_row.lanes(row);
        lanes_type = lanes->getType();
        if (!left) left = frame_array(b_, lanes_type, together_);
        return store_to(left, i, lanes);
      }
      const std::vector<Value*> values = reduce(step, row);
      for (size_t k = 0; k < results.size(); ++k) store_to(results[k], i, values[k]);
    });
    if (has_lanes) {
      std::vector<Value*> lanes;
      for (int64_t i = 0; i < together_; ++i)
        lanes.push_back(load_from(left, lanes_type, int64(b_, i)));
      combined = frame_array(b_, reduction.reducer().type(), together_);
      store_to(combined, int64(b_, 0), combined_each(reduction.reducer(), b_, std::move(lanes)));
    } else {
      results_.push_back(results);
      const auto waits = [&](const auto& one) { return one.first.step == step; };
      if (std::ranges::none_of(numbers_, waits)) return;
    }
    each([&](const Index& row, Value* i) {
      if (has_lanes) {
        Value* result = reduction.finished(load_from(combined, reduction.reducer().type(), i));
        store_to(results[0], i, result);
        e_.bind_scalars(id, {result});
      }
      for (const auto& [number, frame] : numbers_) {
        if (number.step != step) continue;
        std::vector<Value*> at(e_.module.shape(number.id).dims.size(), int64(b_, 0));
        for (size_t d = 0; d < rows_.dims.size(); ++d) at[d] = row.at(b_, d);
        Value* value = e_.at(number.id, Index(b_, e_.module.shape(number.id).dims, at));
        store_to(frame, i, value);
        e_.bind_scalars(number.id, {value});
      }
    });
    if (has_lanes) results_.push_back(results);
    steps_with_numbers_ = step + 1;
  }

  // What is known of row number i of a group after the steps that are done.
  void begin_row(Value* i) {
    e_.forget();
    for (size_t step = 0; step < results_.size(); ++step) {
      const InstructionId id = rows_.reductions[step];
      std::vector<Value*> values;
      for (size_t k = 0; k < results_[step].size(); ++k)
        values.push_back(load_from(results_[step][k], number_type(id, k), i));
      e_.bind_scalars(id, std::move(values));
    }
    for (const auto& [number, frame] : numbers_)
      if (number.step < steps_with_numbers_)
        e_.bind_scalars(number.id,
                        {load_from(frame, held_type(b_, e_.module.shape(number.id).type), i)});
    for (size_t k = 0; k < here_.size(); ++k) {
      here_[k] = b_.CreateInBoundsGEP(row_type(rows_.kept[k]), scratch_[k],
                                      multiply_index(b_, i, kept_each(rows_.kept[k])));
    }
  }

  double steps_each(std::span<const WrittenLeaf> leaves) const {
    double out = 0;
    const auto rows = static_cast<double>(element_count(rows_.dims));
    for (InstructionId id : rows_.reductions)
      out += static_cast<double>(element_count(e_.module.shape(e_.module.operand(id, 0)))) / rows;
    for (const WrittenLeaf& leaf : leaves)
      out += static_cast<double>(element_count(e_.leaf_shape(leaf.id, leaf.leaf))) / rows;
    return out;
  }

  // Results of one number each: to store whole rows as vectors takes what reading them saves.
  bool are_vectors(std::span<const WrittenLeaf> leaves) const {
    const int64_t rows = element_count(rows_.dims);
    const auto fits = [&](InstructionId id) {
      const int64_t each = element_count(e_.module.shape(e_.module.operand(id, 0))) / rows;
      return each > 1 && each <= max_rows_in_vectors;
    };
    return !rows_.dims.empty() && rows_.dims.back() % max_rows_in_vectors == 0 &&
           std::ranges::all_of(rows_.reductions, fits) &&
           steps_ * code_each(leaves) <= max_instructions &&
           std::ranges::all_of(leaves, [&](const WrittenLeaf& leaf) {
             return element_count(e_.leaf_shape(leaf.id, leaf.leaf)) == rows;
           });
  }

  // About how many instructions an element of a row takes.
  double code_each(std::span<const WrittenLeaf> leaves) const {
    constexpr double of_cheap = 1, of_others = 24;
    std::set<InstructionId> seen;
    std::vector<InstructionId> waiting;
    for (const WrittenLeaf& leaf : leaves) waiting.push_back(leaf.id);
    for (double out = 0;;) {
      if (waiting.empty()) return out;
      const InstructionId id = waiting.back();
      waiting.pop_back();
      if (e_.array(id) || !seen.insert(id).second) continue;
      const auto operands = e_.module.operands(id);
      waiting.insert(waiting.end(), operands.begin(), operands.end());
      const Shape& shape = e_.module.shape(id);
      const Op op = e_.module[id].op;
      const bool is_long = is_elementwise(op) && !has_trait(op, TraitCheap);
      if (shape.is_array() && element_count(shape) > element_count(rows_.dims))
        out += is_long ? of_others : of_cheap;
    }
  }

  Reduce reduction_that_keeps(size_t step) {
    Reduce out(e_, rows_.reductions[step]);
    if (is_short()) out.without_loop = short_row;
    else out.see = [this, step](const std::vector<Value*>& at) { keep(step, at); };
    return out;
  }

  std::vector<Value*> reduce(size_t step, const Index& row) {
    const InstructionId id = rows_.reductions[step];
    const std::vector<Value*> out = reduction_that_keeps(step).result(row);
    e_.bind_scalars(id, out);
    if (is_short()) return out;
    for (size_t i = 0; i < rows_.kept.size(); ++i)
      if (rows_.kept[i].step == step) e_.bind_row(rows_.kept[i].id, here_[i], rows_.dims.size());
    return out;
  }

  void keep(size_t step, const std::vector<Value*>& at) {
    const auto first = static_cast<int64_t>(rows_.dims.size());
    for (size_t i = 0; i < rows_.kept.size(); ++i) {
      if (rows_.kept[i].step != step) continue;
      const Shape& shape = e_.module.shape(rows_.kept[i].id);
      Value* value = e_.at(rows_.kept[i].id, Index(b_, shape.dims, at));
      const Index inner(b_, Dims(shape.dims.begin() + first, shape.dims.end()),
                        {at.begin() + first, at.end()});
      const ElementType type = is_wide(rows_.kept[i]) ? ElementType::F32 : shape.type;
      store_element(b_, type, here_[i], inner.position(b_), value);
    }
  }

  // Loops over the dimensions of a row.
  void store(std::span<const WrittenLeaf> leaves, const Dims& dims, std::vector<Value*>& at,
             size_t d) {
    const auto next = [&](Value* i) {
      at[d] = i;
      store(leaves, dims, at, d + 1);
    };
    if (d < dims.size() && !is_short()) return loop(b_, dims[d], next);
    if (d < dims.size()) {
      for (int64_t i = 0; i < dims[d]; ++i) next(int64(b_, i));
      return;
    }
    const Index index(b_, dims, at);
    std::vector<Value*> values;
    for (const WrittenLeaf& leaf : leaves) values.push_back(e_.at(leaf.id, index, leaf.leaf));
    for (size_t i = 0; i < leaves.size(); ++i)
      store_element(b_, e_.leaf_shape(leaves[i].id, leaves[i].leaf).type, leaves[i].array,
                    index.position(b_), values[i]);
  }

  KernelBuilder& w_;
  ElementEmitter& e_;
  Builder& b_;
  const Rows& rows_;
  const double steps_;
  const bool is_short_, in_vectors_;
  const int64_t together_;
  std::vector<Value*> scratch_, here_;        // of each that is kept, and the part of this row
  Value* first_ = nullptr;                    // row of a group
  std::vector<std::vector<Value*>> results_;  // of the steps of a group that are done, in the frame
  size_t steps_with_numbers_ = 0;             // of these
  std::vector<std::pair<RowNumber, Value*>> numbers_;  // and their places in the frame
};

}  // namespace

std::vector<std::vector<WrittenLeaf>> by_dims(const ElementEmitter& elements,
                                              std::span<const WrittenLeaf> leaves) {
  std::vector<std::vector<WrittenLeaf>> out;
  const auto dims_of = [&](const WrittenLeaf& leaf) -> const Dims& {
    return elements.leaf_shape(leaf.id, leaf.leaf).dims;
  };
  for (const WrittenLeaf& leaf : leaves) {
    const auto alike = std::ranges::find_if(
        out, [&](const auto& some) { return dims_of(some[0]) == dims_of(leaf); });
    if (alike == out.end()) out.push_back({leaf});
    else alike->push_back(leaf);
  }
  return out;
}

void write_rows(KernelBuilder& w, std::span<const WrittenLeaf> leaves, const Rows& rows) {
  if (rows.slab) return write_rows_in_slabs(w, leaves, rows);
  RowWriter writer(w, rows, leaves);
  int64_t run = 0;
  for (const WrittenLeaf& leaf : leaves) {
    const Dims& dims = w.elements.leaf_shape(leaf.id, leaf.leaf).dims;
    if (dims.size() > rows.dims.size()) run = std::gcd(run, dims.back());
  }
  set_runs(*w.function, std::max<int64_t>(run, 1));
  const auto write = [&](const Index& row) { writer.write(row, leaves); };
  if (writer.is_short()) {
    write_lanes(w, rows.dims, write);
    return;
  }
  const int64_t each = writer.together();
  w.set_count(element_count(rows.dims) / each);
  if (each > 1)
    return loop(w.b, w.begin, w.end, [&](Value* number) {
      writer.write_group(multiply_index(w.b, number, each), leaves);
    });
  loop(w.b, w.begin, w.end, [&](Value* number) { write(Index::linear(w.b, rows.dims, number)); });
}

}  // namespace hilo
