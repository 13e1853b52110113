// Rows that are columns of slabs: a group of them is done as lanes side by side, each step over all
// lines before the next one, while the group's elements are in the cache. Where slabs are lanes,
// arrays are transposed for it, and all columns of these slabs are done in turn.
#include <algorithm>

#include "analysis/analysis.h"
#include "emit/bf16_rounding.h"
#include "emit/cache_sizes.h"
#include "emit/lane_groups.h"
#include "emit/loop_limits.h"
#include "emit/prefetch.h"
#include "emit/reduce.h"
#include "emit/row_numbers.h"
#include "emit/rows.h"
#include "emit/transposed_slabs.h"

namespace hilo {
namespace {

using llvm::Value;

// Rows of so few cheap steps have no loops of their own.
constexpr double short_row = KernelLimits::short_row;
// Lines that are on their way from memory while the first step is done.
constexpr int64_t max_prefetched_lines = fetched_ahead / cache_line;

class SlabWriter {
 public:
  SlabWriter(KernelBuilder& writer, std::span<const WrittenLeaf> leaves, const Rows& rows)
      : w_(writer),
        e_(writer.elements),
        b_(writer.b),
        rows_(rows),
        slab_(*rows.slab),
        leaves_(by_dims(writer.elements, leaves)),
        outer_(slab_.along + 1),
        groups_(Dims(rows.dims.begin(), rows.dims.begin() + static_cast<std::ptrdiff_t>(outer_)),
                slab_.along, slab_.lanes),
        lane_dim_(slab_.numbered[slab_.along]) {
    for (size_t d = 0; d < slab_.elements.size(); ++d)
      if (std::ranges::count(slab_.numbered, d) == 0) reduced_.push_back(d);
  }

  // [begin, end) counts groups of lanes, in the order of the rows.
  void write() {
    w_.set_count(groups_.count());
    set_accumulators(*w_.function);
    is_short_ = steps_each() <= short_row && !slab_.is_costly;
    if (!is_short_) make_frames();
    if (slab_.size() > 1) transpose_arrays();
    else if (!is_short_) find_fetched();
    loop(b_, w_.begin, w_.end, [&](Value* number) {
      first_ = groups_.first(b_, number);
      first_.resize(rows_.dims.size());
      for (const auto& [id, slabs] : read_) {
        slabs.read(first_);
        e_.bind_tile(id, slabs.tile(first_));
      }
      write_columns(outer_);
      for (const auto& [array, slabs] : written_) slabs.write(first_);
    });
  }

 private:
  // Of a group's slabs, from dimension d of the rows on.
  void write_columns(size_t d) {
    if (d < rows_.dims.size())
      return loop(b_, rows_.dims[d], [&](Value* column) {
        first_[d] = column;
        write_columns(d + 1);
      });
    if (is_short_) return write_short();
    for (size_t step = 0; step < rows_.reductions.size(); ++step) reduce(step);
    for (const std::vector<WrittenLeaf>& alike : leaves_) write_alike(alike);
  }

  // What is read and written element by element.
  void transpose_arrays() {
    const Computation& fused = e_.module[e_.module[rows_.reductions[0]].computation];
    for (InstructionId id : fused.parameters)
      if (const Shape& shape = e_.module.shape(id);
          e_.array(id) && is_read_by_rows(id) && fits_transposed(shape))
        read_.emplace_back(id, TransposedSlabs(b_, e_.array(id), shape, outer_, groups_.lanes()));
    for (const std::vector<WrittenLeaf>& alike : leaves_)
      for (const WrittenLeaf& leaf : alike)
        if (const Shape& shape = e_.leaf_shape(leaf.id, leaf.leaf);
            written_in(leaf.array) == written_.end() && fits_transposed(shape))
          written_.emplace_back(leaf.array,
                                TransposedSlabs(b_, leaf.array, shape, outer_, groups_.lanes()));
  }
  void find_fetched() {
    int64_t lines = 0;
    const Computation& fused = e_.module[e_.module[rows_.reductions[0]].computation];
    for (InstructionId id : fused.parameters)
      if (const Shape& shape = e_.module.shape(id);
          e_.array(id) && shape.dims == slab_.elements && is_read_by_rows(id)) {
        lines += storage_bytes(shape.type) * groups_.lanes() / cache_line;
        if (lines <= max_prefetched_lines) fetched_.emplace_back(e_.array(id), shape.type);
      }
  }
  // Counts its bytes where it is.
  bool fits_transposed(const Shape& shape) {
    if ((shape.dims != slab_.elements && shape.dims != rows_.dims) ||
        !TransposedSlabs::fits(shape, outer_))
      return false;
    const int64_t slabs = element_count(Dims(shape.dims.begin(), shape.dims.begin() + outer_)),
                  bytes = literal_bytes(shape) / slabs * groups_.lanes();
    // Others are read and written where they are.
    const int64_t second_cache = cache_sizes(*w_.function->getParent()).second;
    if (transposed_bytes_ + bytes > frame_bytes(second_cache, 2)) return false;
    transposed_bytes_ += bytes;
    return true;
  }
  // Whether the fusion asks for no elements of other rows than those at hand.
  bool is_read_by_rows(InstructionId id) const {
    const Module& module = e_.module;
    const auto goes_on = [&](InstructionId user, InstructionId value) {
      if (is_elementwise(module[user].op))
        return module.shape(user).dims == module.shape(value).dims;
      if (module[user].op != Op::Broadcast || module.shape(value).dims != rows_.dims) return false;
      return module.shape(user).dims == slab_.elements &&
             std::ranges::equal(module.attributes<DimensionsAttributes>(user).dimensions,
                                slab_.numbered,
                                [](auto a, auto c) { return a == static_cast<int64_t>(c); });
    };
    std::vector<InstructionId> seen = {id};
    for (size_t i = 0; i < seen.size(); ++i)
      for (InstructionId user : module.users(seen[i])) {
        const bool ends = std::ranges::count(rows_.reductions, user) > 0 ||
                          (module[user].op == Op::Tuple && !module.has_users(user));
        if (ends || std::ranges::count(seen, user) > 0) continue;
        if (!goes_on(user, seen[i]) || seen.size() > SearchBudget::max_visited) return false;
        seen.push_back(user);
      }
    return true;
  }

  // Values that all lanes have, of the held type, and which of an instruction they are.
  struct Known {
    InstructionId id;
    std::vector<LocalArray> values;
  };

  // Elements that the steps of a row read and write.
  double steps_each() const {
    auto out = static_cast<double>(rows_.reductions.size()) * static_cast<double>(slab_.lines());
    for (const std::vector<WrittenLeaf>& alike : leaves_)
      out += static_cast<double>(alike.size() * (is_number(alike[0]) ? 1 : slab_.lines()));
    return out;
  }
  const Dims& dims_of(const WrittenLeaf& leaf) const {
    return e_.leaf_shape(leaf.id, leaf.leaf).dims;
  }
  // One number of each row.
  bool is_number(const WrittenLeaf& leaf) const {
    return element_count(dims_of(leaf)) == element_count(rows_.dims);
  }

  void make_frames() {
    numbers_ = find_row_numbers(e_, rows_);
    for (const Rows::Kept& kept : rows_.kept) {
      const ElementType type = e_.module.shape(kept.id).type;
      const int64_t count = slab_.lines() * groups_.lanes();
      tiles_.push_back(type == ElementType::BF16 ? frame_array_of_bf16(b_, count)
                                                 : frame_array(b_, stored_type(b_, type), count));
    }
  }

  // All steps of one lane after the other, as straight code.
  void write_short() {
    loop(b_, groups_.lanes(), [&](Value* lane) {
      e_.forget();
      const Index row = row_at(lane);
      for (InstructionId id : rows_.reductions) {
        Reduce reduction(e_, id);
        reduction.without_loop = short_row;
        e_.bind_scalars(id, reduction.result(row));
      }
      for (const std::vector<WrittenLeaf>& alike : leaves_) {
        std::vector<Value*> at = place(dims_of(alike[0]), row);
        store_lines(alike, 0, at, [&] { store(alike, at); });
      }
    });
  }

  // One reduction of all lanes, and the numbers that wait for it.
  void reduce(size_t step) {
    const InstructionId id = rows_.reductions[step];
    Reduce reduction(e_, id);
    if (!tiles_.empty()) reduction.see = [&, step](const auto& at) { keep(step, at); };
    const std::vector<LocalArray> held = reduction.local_arrays(groups_.lanes());
    reduction.combine_side_by_side(
        held, {reduction.place(Index(b_, rows_.dims, first_)), lane_dim_, groups_.lanes()},
        [&](Value* lane) { begin_lane(lane); },
        [&](const std::vector<Value*>& at) {
          if (step == 0) fetch(at);
        });
    Known result = {id, {}};
    for (size_t k = 0; k < reduction.count(); ++k)
      result.values.push_back(frame_of(e_.leaf_shape(id, k).type));
    std::vector<Known> made;
    loop(b_, groups_.lanes(), [&](Value* lane) {
      begin_lane(lane);
      const std::vector<Value*> values = reduction.held_result(held, lane);
      for (size_t k = 0; k < values.size(); ++k) result.values[k].store(values[k], lane);
      e_.bind_scalars(id, values);
      for (const RowNumber& number : numbers_)
        if (number.step == step) made.push_back(make_number(number.id, lane));
    });
    known_.push_back(std::move(result));
    for (Known& number : made) known_.push_back(std::move(number));
    bind_tiles(step);
  }

  // The lanes' elements of a line some lines ahead, which do not follow those of this line.
  void fetch(const std::vector<Value*>& at) {
    for (const auto& [array, type] : fetched_) {
      const int64_t bytes = storage_bytes(type) * groups_.lanes(),
                    ahead = std::max<int64_t>(1, fetched_ahead / bytes);
      std::vector<Value*> there = at;
      there[reduced_.back()] = add_index(b_, there[reduced_.back()], int64(b_, ahead));
      Value* from = Index(b_, slab_.elements, there).position(b_);
      Value* first = b_.CreateGEP(stored_type(b_, type), array, from);
      for (int64_t byte = 0; byte < bytes; byte += cache_line)
        b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {first->getType()},
                           {b_.CreateGEP(b_.getInt8Ty(), first, int64(b_, byte)), b_.getInt32(0),
                            b_.getInt32(3), b_.getInt32(1)});
    }
  }
  Index row_at(Value* lane) const {
    std::vector<Value*> at = first_;
    at[slab_.along] = add_index(b_, at[slab_.along], lane);
    return Index(b_, rows_.dims, std::move(at));
  }
  LocalArray frame_of(ElementType type) const {
    return LocalArray(b_, held_type(b_, type), groups_.lanes());
  }
  Known make_number(InstructionId id, Value* lane) {
    const Shape& shape = e_.module.shape(id);
    Known out = {id, {frame_of(shape.type)}};
    Value* value = e_.at(id, Index(b_, shape.dims, place(shape.dims, row_at(lane))));
    out.values[0].store(value, lane);
    e_.bind_scalars(id, {value});
    return out;
  }

  void begin_lane(Value* lane) {
    e_.forget();
    for (const Known& known : known_) {
      std::vector<Value*> values;
      for (const LocalArray& each : known.values) values.push_back(each.load(lane));
      e_.bind_scalars(known.id, std::move(values));
    }
  }

  // The place of the row's number, or of its first element.
  std::vector<Value*> place(const Dims& dims, const Index& row) const {
    std::vector<Value*> out(dims.size(), int64(b_, 0));
    if (dims == slab_.elements) {
      for (size_t d = 0; d < rows_.dims.size(); ++d) out[slab_.numbered[d]] = row.at(b_, d);
      return out;
    }
    size_t next = 0;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (dims[d] == 1) continue;
      while (rows_.dims[next] == 1) ++next;
      out[d] = row.at(b_, next++);
    }
    return out;
  }

  void write_alike(std::span<const WrittenLeaf> alike) {
    std::vector<Value*> at = place(dims_of(alike[0]), Index(b_, rows_.dims, first_));
    store_lines(alike, 0, at, [&] {
      loop(b_, groups_.lanes(), [&](Value* lane) {
        begin_lane(lane);
        const Index row = row_at(lane);
        std::vector<Value*> here = place(dims_of(alike[0]), row);
        if (!is_number(alike[0]))
          for (size_t d : reduced_) here[d] = at[d];
        store(alike, here);
      });
    });
  }
  // body() for each line, from reduced dimension number i on.
  void store_lines(std::span<const WrittenLeaf> alike, size_t i, std::vector<Value*>& at,
                   llvm::function_ref<void()> body) {
    if (is_number(alike[0]) || i == reduced_.size()) return body();
    const int64_t size = slab_.elements[reduced_[i]];
    const auto next = [&](Value* n) {
      at[reduced_[i]] = n;
      store_lines(alike, i + 1, at, body);
    };
    if (!is_short_) return loop(b_, size, next);
    for (int64_t n = 0; n < size; ++n) next(int64(b_, n));
  }
  void store(std::span<const WrittenLeaf> alike, const std::vector<Value*>& at) {
    const Index index(b_, dims_of(alike[0]), at);
    std::vector<Value*> values;
    for (const WrittenLeaf& leaf : alike) values.push_back(e_.at(leaf.id, index, leaf.leaf));
    for (size_t i = 0; i < alike.size(); ++i) {
      const auto slabs = written_in(alike[i].array);
      const ElementEmitter::Tile tile =
          slabs == written_.end() ? ElementEmitter::Tile{} : slabs->second.tile(first_);
      store_element(b_, e_.leaf_shape(alike[i].id, alike[i].leaf).type,
                    tile.array ? tile.array : alike[i].array,
                    tile.array ? tile.place(b_, index) : index.position(b_), values[i]);
    }
  }

  using Written = std::vector<std::pair<Value*, TransposedSlabs>>;
  Written::const_iterator written_in(const Value* array) const {
    return std::ranges::find(written_, array, &Written::value_type::first);
  }

  // What several steps read is left in a tile of the lines and the lanes.
  void keep(size_t step, const std::vector<Value*>& at) {
    for (size_t i = 0; i < tiles_.size(); ++i) {
      if (rows_.kept[i].step != step) continue;
      const Shape& shape = e_.module.shape(rows_.kept[i].id);
      Value* value = e_.at(rows_.kept[i].id, Index(b_, shape.dims, at));
      store_element(b_, shape.type == ElementType::BF16 ? ElementType::F32 : shape.type, tiles_[i],
                    tile(i).place(b_, Index(b_, shape.dims, at)), value);
    }
  }
  void bind_tiles(size_t step) {
    for (size_t i = 0; i < tiles_.size(); ++i)
      if (rows_.kept[i].step == step) e_.bind_tile(rows_.kept[i].id, tile(i));
  }
  ElementEmitter::Tile tile(size_t i) const {
    const size_t rank = slab_.elements.size();
    ElementEmitter::Tile out = {tiles_[i], std::vector<Value*>(rank), Dims(rank)};
    out.first[lane_dim_] = first_[slab_.along];
    out.steps[lane_dim_] = 1;
    int64_t step = groups_.lanes();
    for (size_t k = reduced_.size(); k-- > 0; step *= slab_.elements[reduced_[k]])
      out.steps[reduced_[k]] = step;
    return out;
  }

  KernelBuilder& w_;
  ElementEmitter& e_;
  Builder& b_;
  const Rows& rows_;
  const Rows::Slab& slab_;
  const std::vector<std::vector<WrittenLeaf>> leaves_;
  const size_t outer_;  // dimensions, the lanes' the last of them
  const LaneGroups groups_;
  const size_t lane_dim_;        // of elements
  std::vector<size_t> reduced_;  // their other dimensions than those of rows
  bool is_short_ = false;
  int64_t transposed_bytes_ = 0;
  std::vector<RowNumber> numbers_;
  std::vector<Value*> tiles_;  // of what is kept
  std::vector<std::pair<InstructionId, TransposedSlabs>> read_;
  Written written_;  // by their arrays
  std::vector<std::pair<Value*, ElementType>> fetched_;
  std::vector<Value*> first_;  // the place of the group's first row
  std::vector<Known> known_;   // after the steps that are written
};

}  // namespace

void write_rows_in_slabs(KernelBuilder& w, std::span<const WrittenLeaf> leaves, const Rows& rows) {
  SlabWriter(w, leaves, rows).write();
}

}  // namespace hilo
