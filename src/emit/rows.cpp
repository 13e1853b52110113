#include "emit/rows.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "emit/reduce.h"
#include "emit/streamed_stores.h"

namespace hilo {
namespace {

using llvm::Value;

// Rows of so few steps have no loops of their own, so that they are the lanes of a vector.
constexpr double short_row = 16;
// More, where rows are read as vectors (emit/interleaved.h).
constexpr double short_row_of_vectors = 64;
constexpr int64_t most_in_vectors = 16;
// Instructions of a row, whose loops are written out.
constexpr double most_code = 1024;
// Rows whose steps are done in turn, first one for all of them and then the next: what a step makes
// of a number of the row waits long for it, and a processor looks ahead a few hundred instructions.
// So many where their elements stay in the first cache and there are pieces enough for all threads.
constexpr int64_t most_together = 8, least_together = 4, least_groups = 64;
constexpr double most_elements = 4096;

class RowWriter {
 public:
  RowWriter(Writer& writer, const Rows& rows, std::span<const WrittenLeaf> leaves)
      : w_(writer),
        e_(writer.elements),
        b_(writer.b),
        rows_(rows),
        steps_(steps_each(leaves)),
        is_short_(steps_ <= short_row || (steps_ <= short_row_of_vectors && are_vectors(leaves))),
        together_(is_short_ ? 1 : rows_together(leaves)) {
    if (is_short()) return;  // what is kept are values
    for (const Rows::Kept& kept : rows_.kept) {
      llvm::Type* type = stored_type(b_, e_.module.shape(kept.id).type);
      scratch_.push_back(frame_array(b_, type, together_ * kept_each(kept)));
    }
    here_ = scratch_;
  }

  // Elements that the steps of a row read and write.
  double steps() const { return steps_; }
  bool is_short() const { return is_short_; }
  int64_t together() const { return together_; }

  void write(const Index& row, std::span<const WrittenLeaf> leaves) {
    for (size_t step = 0; step < rows_.reductions.size(); ++step) reduce(step, row);
    write_results(row, leaves);
  }

  // The rows first … first + together() - 1.
  void write_group(Value* first, std::span<const WrittenLeaf> leaves) {
    std::vector<std::vector<Value*>> numbers;  // of each step, in the frame
    const auto each = [&](size_t step, llvm::function_ref<void(const Index&, Value*)> body) {
      loop(b_, together_, [&](Value* i) {
        begin_row(i, numbers);
        for (size_t k = 0; k < rows_.kept.size(); ++k)
          if (rows_.kept[k].step < step) e_.bind_row(rows_.kept[k].id, here_[k], rows_.dims.size());
        body(Index::linear(b_, rows_.dims, add_index(b_, first, i)), i);
      });
    };
    for (size_t step = 0; step < rows_.reductions.size(); ++step) {
      std::vector<Value*> arrays = numbers_of(rows_.reductions[step]);
      each(step, [&](const Index& row, Value* i) {
        const std::vector<Value*> values = reduce(step, row);
        for (size_t k = 0; k < arrays.size(); ++k)
          b_.CreateStore(values[k], b_.CreateInBoundsGEP(values[k]->getType(), arrays[k], i));
      });
      numbers.push_back(std::move(arrays));
    }
    each(rows_.reductions.size(), [&](const Index& row, Value*) { write_results(row, leaves); });
  }

 private:
  void write_results(const Index& row, std::span<const WrittenLeaf> leaves) {
    std::vector<bool> done(leaves.size());
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (done[i]) continue;
      const Dims dims = e_.leaf_shape(leaves[i].id, leaves[i].leaf).dims;
      std::vector<WrittenLeaf> alike;
      for (size_t k = i; k < leaves.size(); ++k) {
        if (e_.leaf_shape(leaves[k].id, leaves[k].leaf).dims != dims) continue;
        alike.push_back(leaves[k]);
        done[k] = true;
      }
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

  int64_t rows_together(std::span<const WrittenLeaf> leaves) const {
    if (divides_all(leaves)) return 1;
    const int64_t rows = element_count(rows_.dims);
    for (int64_t out = most_together; out >= least_together; out /= 2)
      if (rows % out == 0 && rows / out >= least_groups &&
          steps_ * static_cast<double>(out) <= most_elements)
        return out;
    return 1;
  }

  int64_t kept_each(const Rows::Kept& kept) const {
    return element_count(e_.module.shape(kept.id)) / element_count(rows_.dims);
  }

  llvm::Type* number_type(InstructionId reduction, size_t leaf) const {
    return held_type(b_, e_.leaf_shape(reduction, leaf).type);
  }

  // Places in the frame for the results of a reduction, of each row of a group.
  std::vector<Value*> numbers_of(InstructionId reduction) const {
    std::vector<Value*> out;
    for (size_t k = 0; k < e_.module.operands(reduction).size() / 2; ++k)
      out.push_back(frame_array(b_, number_type(reduction, k), together_));
    return out;
  }

  // Row number i of a group, of which so many steps are done.
  void begin_row(Value* i, std::span<const std::vector<Value*>> numbers) {
    e_.forget();
    for (size_t step = 0; step < numbers.size(); ++step) {
      const InstructionId id = rows_.reductions[step];
      std::vector<Value*> values;
      for (size_t k = 0; k < numbers[step].size(); ++k) {
        llvm::Type* type = number_type(id, k);
        values.push_back(b_.CreateLoad(type, b_.CreateInBoundsGEP(type, numbers[step][k], i)));
      }
      e_.bind_scalars(id, std::move(values));
    }
    for (size_t k = 0; k < here_.size(); ++k) {
      llvm::Type* type = stored_type(b_, e_.module.shape(rows_.kept[k].id).type);
      here_[k] =
          b_.CreateInBoundsGEP(type, scratch_[k], multiply_index(b_, i, kept_each(rows_.kept[k])));
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
      return each > 1 && each <= most_in_vectors;
    };
    return !rows_.dims.empty() && rows_.dims.back() % most_in_vectors == 0 &&
           std::ranges::all_of(rows_.reductions, fits) && steps_ * code_each(leaves) <= most_code &&
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

  std::vector<Value*> reduce(size_t step, const Index& row) {
    const InstructionId id = rows_.reductions[step];
    Reduce reduce(e_, id);
    if (is_short()) reduce.without_loop = short_row;
    else reduce.see = [&](const std::vector<Value*>& at) { keep(step, at); };
    const std::vector<Value*> out = reduce.result(row);
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
      if (e_.error()) return;
      const Index inner(b_, Dims(shape.dims.begin() + first, shape.dims.end()),
                        {at.begin() + first, at.end()});
      store_element(b_, shape.type, here_[i], inner.position(b_), value);
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
    if (e_.error()) return;
    for (size_t i = 0; i < leaves.size(); ++i)
      store_element(b_, e_.leaf_shape(leaves[i].id, leaves[i].leaf).type, leaves[i].array,
                    index.position(b_), values[i]);
  }

  Writer& w_;
  Elements& e_;
  Builder& b_;
  const Rows& rows_;
  const double steps_;
  const bool is_short_;
  const int64_t together_;
  std::vector<Value*> scratch_, here_;  // of each that is kept, and the part of this row
};

}  // namespace

void write_rows(Writer& w, std::span<const WrittenLeaf> leaves, const Rows& rows) {
  RowWriter writer(w, rows, leaves);
  const double steps = writer.steps();
  int64_t run = 0;
  for (const WrittenLeaf& leaf : leaves) {
    const Dims& dims = w.elements.leaf_shape(leaf.id, leaf.leaf).dims;
    if (dims.size() > rows.dims.size()) run = std::gcd(run, dims.back());
  }
  set_runs(*w.function, std::max<int64_t>(run, 1));
  const auto write = [&](const Index& row) { writer.write(row, leaves); };
  if (writer.is_short()) return write_lanes(w, rows.dims, steps, write);
  const int64_t each = writer.together();
  w.set_count(element_count(rows.dims) / each, steps * static_cast<double>(each));
  if (each > 1)
    return loop(w.b, w.begin, w.end, [&](Value* number) {
      writer.write_group(multiply_index(w.b, number, each), leaves);
    });
  loop(w.b, w.begin, w.end, [&](Value* number) { write(Index::linear(w.b, rows.dims, number)); });
}

}  // namespace hilo
