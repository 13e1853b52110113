// Reductions that keep few columns of many lines, as the coordinates of points or the parts of a
// colour: memory is read in vectors of several lines, whose columns come in turns, or are taken
// apart.
#include <algorithm>
#include <numeric>

#include "emit/reduce.h"

namespace hilo {
namespace {

using llvm::Value;

constexpr int64_t max_columns = KernelLimits::short_row;
// Of so many vectors side by side as hide how long a sum takes.
constexpr int64_t wanted_bytes = 4 * widest_vector;

// Lines side by side: a whole number of vectors and of lines. The lines are a power of two.
int64_t lanes_of_columns(const Reducer& reducer, int64_t columns) {
  const int64_t bits = reducer.type()->getScalarSizeInBits(),
                bytes = std::max<int64_t>(1, bits / 8);
  int64_t lanes = std::lcm(columns, widest_vector / bytes);
  while (2 * lanes * bytes <= wanted_bytes) lanes *= 2;
  return lanes;
}

// Of few columns that are not read as a run, and of the places of extrema: lanes are lines, and
// each column has code of its own.
class ColumnsByLines {
 public:
  ColumnsByLines(KernelBuilder& w, InstructionId id, Reduce& reduce)
      : w_(w),
        b_(w.b),
        id_(id),
        reduce_(reduce),
        column_(reduce.innermost()),
        lanes_(find_lanes()) {}

  // The dimension before the columns' is reduced, and long; of places it is the only one.
  bool fits() const {
    const auto& reduced = reduce_.reduced();
    return column_ > 0 && columns() <= max_separate_columns &&
           (reduce_.reducer().is_associative() ||
            (reduce_.reducer().chooses() && reduced.size() == 1)) &&
           std::ranges::count(reduced, column_ - 1) > 0 && lines() >= min_lines;
  }

  void write() {
    Dims outer;
    for (size_t d : reduce_.kept()) outer.push_back(d == column_ ? 1 : reduce_.dims()[d]);
    w_.set_count(element_count(outer));
    held_ = reduce_.local_arrays(lanes_ * columns());
    set_accumulators(*b_.GetInsertBlock()->getParent());
    loop(b_, w_.begin, w_.end, [&](Value* number) {
      const Index place = Index::linear(b_, outer, number);
      add_all(place);
      for (int64_t column = 0; column < columns(); ++column) {
        const Index result = with_column(place, column);
        store_results(w_, id_, result.position(b_),
                      reduce_.result_of_lanes(held_, column * lanes_, lanes_, result));
      }
    });
  }

 private:
  static constexpr int64_t max_separate_columns = 8, min_lines = 16;
  // Of all columns no more than registers hold.
  static constexpr int64_t max_lanes = KernelLimits::widest_lanes,
                           min_lanes = KernelLimits::min_lanes;
  static constexpr int64_t max_register_bytes = 256;

  int64_t find_lanes() const {
    int64_t bytes = 0;
    for (size_t k = 0; k < reduce_.count(); ++k)
      bytes += storage_bytes(w_.elements.leaf_shape(id_, k).type);
    return max_lanes * columns() * bytes <= max_register_bytes ? max_lanes : min_lanes;
  }

  int64_t columns() const { return reduce_.dims()[column_]; }
  int64_t lines() const { return reduce_.dims()[column_ - 1]; }
  Index with_column(const Index& place, int64_t column) {
    Dims dims;
    std::vector<Value*> at;
    for (size_t i = 0; i < reduce_.kept().size(); ++i) {
      const size_t d = reduce_.kept()[i];
      dims.push_back(reduce_.dims()[d]);
      at.push_back(d == column_ ? int64(b_, column) : place.at(b_, i));
    }
    return Index(b_, dims, at);
  }

  void add_all(const Index& place) {
    std::vector<Value*> at = reduce_.place(with_column(place, 0));
    const bool chooses = !reduce_.reducer().is_associative();
    if (chooses) add(at, int64(b_, 0), 0, true);
    else
      for (int64_t column = 0; column < columns(); ++column)
        held_[0].fill_lanes(reduce_.reducer().identity(), column * lanes_, lanes_, lanes_);
    const int64_t first = chooses ? 1 : 0, whole = lines() / lanes_, rest = lines() % lanes_;
    reduce_.outer_nest(column_ - 1, at, [&] {
      loop(b_, int64(b_, first), int64(b_, whole),
           [&](Value* chunk) { add(at, multiply_index(b_, chunk, lanes_), 0, false); });
      if (rest > 0) add(at, int64(b_, lines() - lanes_), lanes_ - rest, false);
    });
  }

  // The lines from `line` on; so many of them were added before, which counts for sums.
  void add(std::vector<Value*> at, Value* line, int64_t overlap, bool is_first) {
    w_.elements.forget();
    loop(b_, lanes_, [&](Value* i) {
      at[column_ - 1] = add_index(b_, line, i);
      for (int64_t column = 0; column < columns(); ++column) {
        at[column_] = int64(b_, column);
        Value* lane = add_index(b_, i, int64(b_, column * lanes_));
        std::vector<Value*> next = reduce_.elements_at(at);
        if (!is_first) next = combined(lane, std::move(next), i, overlap);
        for (size_t k = 0; k < held_.size(); ++k) held_[k].store(next[k], lane);
      }
    });
  }
  std::vector<Value*> combined(Value* lane, std::vector<Value*> next, Value* i, int64_t overlap) {
    const Reducer& reducer = reduce_.reducer();
    std::vector<Value*> both;
    for (const LocalArray& each : held_) both.push_back(each.load(lane));
    if (reducer.is_associative()) {
      Value* value = reducer.widen(next[0]);
      if (overlap > 0)
        value = b_.CreateSelect(b_.CreateICmpSLT(i, int64(b_, overlap)), reducer.identity(), value);
      return {reducer.combine(both[0], value)};
    }
    both.insert(both.end(), next.begin(), next.end());
    return reducer.apply(both);
  }

  KernelBuilder& w_;
  Builder& b_;
  InstructionId id_;
  Reduce& reduce_;
  size_t column_;  // the dimension of the columns
  int64_t lanes_;  // of each column
  std::vector<LocalArray> held_;
};

}  // namespace

bool write_narrow_columns(KernelBuilder& w, InstructionId id, Reduce& reduce) {
  const auto run = reduce.run();
  if (!reduce.reducer().is_associative() || !run || run->columns > max_columns) {
    ColumnsByLines by_lines(w, id, reduce);
    if (!by_lines.fits()) return false;
    by_lines.write();
    return true;
  }
  const int64_t columns = run->columns, lanes = lanes_of_columns(reduce.reducer(), columns);
  if (run->size < 2 * lanes) return false;
  reduce.merge(*run);
  Dims outer;
  for (size_t d : reduce.kept()) outer.push_back(reduce.dims()[d]);
  w.set_count(element_count(outer));
  loop(w.b, w.begin, w.end, [&](Value* number) {
    const Index place = Index::linear(w.b, outer, number);
    Value* combined = reduce.columns(place, columns, lanes);
    Value* first = multiply_index(w.b, number, columns);
    for (int64_t i = 0; i < columns; ++i) {
      Value* one = w.b.CreateExtractElement(combined, static_cast<uint64_t>(i));
      store_results(w, id, add_index(w.b, first, int64(w.b, i)), std::array{reduce.finished(one)});
    }
  });
  return true;
}

}  // namespace hilo
