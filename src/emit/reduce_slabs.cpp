// Reductions of small slabs, as the maxima of 16 lines of 11 columns each: what several results
// come to is held in registers from the first of their lines to the last.
#include <algorithm>

#include "emit/reduce.h"

namespace hilo {
namespace {

using llvm::Value;

// Elements of a slab; where lanes are slabs, they are read from so many places at once.
constexpr double max_slab_elements = 4096, max_far_slab_elements = 1024;
constexpr int64_t max_columns = KernelLimits::short_row, min_lanes = KernelLimits::min_lanes,
                  max_lanes = KernelLimits::widest_lanes, min_slabs = KernelLimits::whole_lanes;
// Sums and products are soon made: of more columns, or of fewer lines, they are by columns.
constexpr int64_t max_sum_columns = 2;
// Of so few lines a result is straight code.
constexpr double max_unrolled_lines = 8;
constexpr double min_lines_of_sums = max_unrolled_lines;

// Results side by side are lanes: columns of a slab or, where it has few, slabs. The last lanes
// along a dimension are those that end it, some of which are computed again.
class SlabReduction {
 public:
  SlabReduction(KernelBuilder& w, InstructionId id, Reduce& reduce)
      : w_(w), b_(w.b), id_(id), reduce_(reduce) {
    reduce.merge_columns();
    for (size_t d : reduce.kept()) dims_.push_back(reduce.dims()[d]);
    along_ = find_lanes();
  }

  bool fits() const { return along_ < dims_.size(); }

  // [begin, end) counts groups of lanes, in the order of the results.
  void write() {
    const int64_t size = dims_[along_];
    const bool are_most = size % max_lanes == 0 || size >= 4 * max_lanes;
    const LaneGroups groups(dims_, along_, are_most ? max_lanes : min_lanes);
    w_.set_count(groups.count());
    held_ = reduce_.local_arrays(groups.lanes());
    set_accumulators(*b_.GetInsertBlock()->getParent());
    loop(b_, w_.begin, w_.end,
         [&](Value* number) { write_group(groups, groups.first(b_, number)); });
  }

 private:
  // Which of the kept dimensions; behind the last where none is fit.
  size_t find_lanes() const {
    const size_t none = dims_.size();
    if (dims_.empty() || reduce_.reduced().empty()) return none;
    int64_t columns = 1;
    size_t i = none;
    for (; i > 0 && reduce_.kept()[i - 1] > reduce_.reduced().back(); --i) columns *= dims_[i - 1];
    if (i < none && dims_.back() >= min_lanes) return are_lanes(columns) ? none - 1 : none;
    return i > 0 && dims_[i - 1] >= min_slabs && are_few(columns) ? i - 1 : none;
  }

  // Loops over lines of columns have rests, unless columns are whole vectors, and load and store
  // what was combined, which counts where it is two values.
  bool are_lanes(int64_t columns) const {
    const bool chooses = !reduce_.reducer().is_associative(),
               has_few = lines() <= max_unrolled_lines;
    if (is_of_bytes()) return false;
    if (chooses && has_few) return true;
    if (columns > max_columns || lines() * static_cast<double>(columns) > max_slab_elements)
      return false;
    const bool is_whole = columns % min_lanes == 0, has_long_rest = columns % 4 == 3;
    if (chooses) return is_whole || has_long_rest;
    return !is_whole && (has_few || has_long_rest || is_costly(w_.elements, id_, reduce_));
  }
  bool are_few(int64_t columns) const {
    if (lines() * static_cast<double>(columns) > max_far_slab_elements) return false;
    if (is_of_bytes()) return columns % 4 != 0;
    return !reduce_.reducer().is_associative() ||
           (columns <= max_sum_columns && lines() >= min_lines_of_sums);
  }
  double lines() const { return reduce_.reduced_elements(); }
  bool is_of_bytes() const { return storage_bytes(w_.elements.leaf_shape(id_, 0).type) == 1; }

  void write_group(const LaneGroups& groups, const std::vector<Value*>& first) {
    const bool has_few = lines() <= max_unrolled_lines;
    if (has_few) reduce_.without_loop = max_unrolled_lines;
    else
      reduce_.combine_side_by_side(
          held_, {reduce_.place(Index(b_, dims_, first)), reduce_.kept()[along_], groups.lanes()},
          [&](Value*) { w_.elements.forget(); });
    w_.elements.forget();
    loop(b_, groups.lanes(), [&](Value* lane) {
      const Index at = groups.place(b_, first, lane);
      store_results(w_, id_, at.position(b_),
                    has_few ? reduce_.result(at) : reduce_.held_result(held_, lane));
    });
  }

  KernelBuilder& w_;
  Builder& b_;
  InstructionId id_;
  Reduce& reduce_;
  Dims dims_;         // of the results
  size_t along_ = 0;  // the dimension of lanes
  std::vector<LocalArray> held_;
};

}  // namespace

void Reduce::combine_side_by_side(
    std::span<const LocalArray> held, const SideBySide& results,
    llvm::function_ref<void(Value* lane)> begin,
    llvm::function_ref<void(const std::vector<Value*>& at)> begin_line) {
  const std::vector<Value*> first =
      reducer_.is_associative() ? std::vector{reducer_.identity()} : inits();
  loop(b_, results.lanes, [&](Value* lane) {
    for (size_t k = 0; k < held.size(); ++k) held[k].store(first[k], lane);
  });
  std::vector<Value*> at = results.at;
  outer_nest(dims_.size(), at, [&] {
    if (begin_line) begin_line(at);
    loop(b_, results.lanes, [&](Value* lane) {
      begin(lane);
      std::vector<Value*> here = at, values;
      here[results.along] = add_index(b_, here[results.along], lane);
      for (const LocalArray& each : held) values.push_back(each.load(lane));
      values = with_next(std::move(values), elements_at(here));
      for (size_t k = 0; k < held.size(); ++k) held[k].store(values[k], lane);
    });
  });
}

std::vector<Value*> Reduce::held_result(std::span<const LocalArray> held, Value* lane) {
  if (reducer_.is_associative()) return {finished(held[0].load(lane))};
  std::vector<Value*> out;
  for (const LocalArray& each : held) out.push_back(each.load(lane));
  return out;
}

std::vector<Value*> Reduce::with_next(std::vector<Value*> values, const std::vector<Value*>& next) {
  if (reducer_.is_associative()) return {reducer_.combine(values[0], reducer_.widen(next[0]))};
  values.insert(values.end(), next.begin(), next.end());
  return reducer_.apply(values);
}

bool write_slabs(KernelBuilder& w, InstructionId id, Reduce& reduce) {
  SlabReduction slabs(w, id, reduce);
  if (!slabs.fits()) return false;
  slabs.write();
  return true;
}

}  // namespace hilo
