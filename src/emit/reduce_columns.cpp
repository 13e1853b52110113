// Reductions that keep the innermost dimension, or all but short rows: columns side by side.
#include <algorithm>
#include <bit>

#include "emit/cache_sizes.h"
#include "emit/reduce.h"
#include "emit/vector_registers.h"

namespace hilo {
namespace {

using llvm::Value;

// Columns that are reduced side by side, and fewer where that gives less than min_lines pieces.
constexpr int64_t tile = KernelLimits::tile;
constexpr int64_t min_tile = 256;
// Lines of columns that are combined in one go where an element takes few steps: memory serves
// several streams at once, and sums are loaded and stored once.
constexpr int64_t max_lines = 8;
// Whole lines of fewer bytes that lie one after the other are one stream already.
constexpr int64_t short_line_bytes = 256;
constexpr int max_cheap_steps = 4;
// Columns of a few parts, as coordinates, that are not one line: each part has straight code. So
// have the elements of short rows, which are combined with each other in the end.
// Less work is not worth the time to compile that.
constexpr int64_t max_parts = 8, min_columns = 64, min_work = 1 << 14;
// Elements of short rows and of all that stand side by side, and lines of them, of which longer
// rows want more; elements that stay in the first cache, and lines of whole vectors.
constexpr int64_t longest_row = 32, min_contiguous_columns = 16, min_row_work = 1 << 11;
constexpr int64_t min_lines = 3, min_lines_of_long_rows = 8;
constexpr int64_t max_cached_columns = 4096, min_lines_of_vectors = 32;
// Of values that are computed once for all columns, in the frame.
constexpr int64_t max_line_bytes = 1 << 16;

int64_t widest_tile(int64_t parts) {
  return tile / static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(parts)));
}

int64_t tile_of(int64_t outer, int64_t columns, int64_t parts) {
  int64_t width = widest_tile(parts);
  while (width > min_tile && outer * ((columns + width - 1) / width) < KernelLimits::min_lines)
    width /= 2;
  return std::min(columns, width);
}

// Steps from what is read to an element; more than `max_cheap_steps` where one of them is no cheap
// one.
int steps_of(const ElementEmitter& e, InstructionId id, std::span<const InstructionId> known) {
  const Op op = e.module[id].op;
  if (op == Op::Constant || e.array(id) || std::ranges::count(known, id) > 0) return 0;
  if (op != Op::Broadcast && !(is_elementwise(op) && has_trait(op, TraitCheap)))
    return max_cheap_steps + 1;
  int out = 1;
  for (InstructionId operand : e.module.operands(id))
    if (out <= max_cheap_steps) out += steps_of(e, operand, known);
  return out;
}

// width: of a tile; known: what is read from the frame.
int64_t lines_together(const ElementEmitter& e, InstructionId id, const Reduce& reduce,
                       std::span<const size_t> line_dims, int64_t width,
                       std::span<const InstructionId> known) {
  int steps = 0;
  for (size_t k = 0; k < reduce.count(); ++k) steps += steps_of(e, e.module.operand(id, k), known);
  if (steps > max_cheap_steps || line_dims.empty()) return 1;
  const auto last = static_cast<int64_t>(line_dims.back());
  const Dims behind(reduce.dims().begin() + last + 1, reduce.dims().end());
  const ElementType type = e.module.shape(e.module.operand(id, 0)).type;
  const int64_t bytes = width * storage_bytes(type);
  if (element_count(behind) == width && bytes > short_line_bytes && bytes < page) return 1;
  const int64_t size = reduce.dims()[static_cast<size_t>(last)];
  for (int64_t lines = max_lines; 2 * lines > max_lines; --lines)
    if (size % lines == 0) return lines;
  return std::min(size, max_lines);
}

// Whether the value is spread from its first dimensions, `count` of them, over the others.
bool spreads_first(const Module& module, InstructionId value, size_t count) {
  if (module[value].op != Op::Broadcast) return false;
  const Dims& to = module.attributes<DimensionsAttributes>(value).dimensions;
  if (to.size() != count) return false;
  for (size_t d = 0; d < count; ++d)
    if (to[d] != static_cast<int64_t>(d)) return false;
  return true;
}

// What is computed of each line and the same in all its columns, as a power of a distance is for
// all coordinates: where one dimension is reduced and the columns follow it, these are spread over
// the columns by a broadcast.
std::vector<InstructionId> values_of_lines(const ElementEmitter& e, InstructionId id,
                                           const Reduce& reduce) {
  const Module& module = e.module;
  const size_t lines = reduce.reduced().empty() ? 0 : reduce.reduced()[0];
  const Dims& dims = module.shape(module.operand(id, 0)).dims;
  std::vector<InstructionId> out, seen;
  if (reduce.reduced().size() != 1 || reduce.dims().size() != lines + 2) return out;
  std::vector<InstructionId> waiting(
      module.operands(id).begin(),
      module.operands(id).begin() + static_cast<std::ptrdiff_t>(reduce.count()));
  while (!waiting.empty()) {
    const InstructionId value = waiting.back();
    waiting.pop_back();
    if (std::ranges::count(seen, value) > 0 || e.array(value)) continue;
    seen.push_back(value);
    const auto operands = module.operands(value);
    if (is_elementwise(module[value].op))
      for (InstructionId operand : operands)
        if (module.shape(operand).dims == dims) waiting.push_back(operand);
    if (!spreads_first(module, value, lines + 1)) continue;
    const InstructionId from = operands[0];
    if (is_elementwise(module[from].op) && std::ranges::count(out, from) == 0) out.push_back(from);
  }
  return out;
}

// Loops over dimensions of lines, outermost first. The body is called at so many places of the last
// one, beginning with the one in `at`.
void nest_of_lines(Builder& b, const Dims& dims, std::span<const size_t> line_dims,
                   std::vector<Value*>& at, int64_t together,
                   llvm::function_ref<void(int64_t)> body) {
  if (line_dims.empty()) return body(1);
  const size_t d = line_dims[0];
  const int64_t size = dims[d];
  if (line_dims.size() > 1)
    return loop(b, size, [&](Value* n) {
      at[d] = n;
      nest_of_lines(b, dims, line_dims.subspan(1), at, together, body);
    });
  const int64_t whole = size / together;
  loop(b, whole, [&](Value* n) {
    at[d] = multiply_index(b, n, together);
    body(together);
  });
  loop(b, size - whole * together, [&](Value* n) {
    at[d] = add_index(b, int64(b, whole * together), n);
    body(1);
  });
}

// What was combined and the elements of so many lines from `at` on, along dimension d, one after
// the other.
std::vector<Value*> combine_lines(Builder& b, Reduce& reduce, const std::vector<Value*>& at,
                                  size_t d, int64_t lines, std::vector<Value*> carried) {
  const Reducer& reducer = reduce.reducer();
  for (int64_t line = 0; line < lines; ++line) {
    std::vector<Value*> here = at;
    if (line > 0) {
      here[d] = add_index(b, here[d], int64(b, line));
    }
    const std::vector<Value*> values = reduce.elements_at(here);
    if (reducer.is_associative()) {
      carried = {reducer.combine(carried[0], reducer.widen(values[0]))};
    } else {
      carried.insert(carried.end(), values.begin(), values.end());
      carried = reducer.apply(carried);
    }
  }
  return carried;
}

class ColumnReduction {
 public:
  ColumnReduction(KernelBuilder& w, InstructionId id, Reduce& reduce)
      : w_(w), b_(w.b), id_(id), reduce_(reduce) {
    reduce.merge_columns();
    for (size_t d : reduce.kept()) dims_.push_back(reduce.dims()[d]);
    inner_ = innermost_dim(dims_);
    kept_.resize(dims_.size(), int64(b_, 0));
    const int64_t row = reduce.is_row() ? reduce.row_behind_kept() : 1;
    if (row > 1 && reduce.may_merge_row()) {
      reduce.merge_row();
      each_ = row;
    } else if (row > 1) {
      row_ = reduce.innermost();
      parts_ = row;
    } else {
      find_parts();
    }
    line_dims_ = reduce.reduced();
    if (row_) std::erase(line_dims_, *row_);
    if (row == 1) keep_lines();
  }

  // [begin, end) counts tiles, in the order of the results.
  void write() {
    const Dims outer(dims_.begin(), dims_.begin() + static_cast<int64_t>(inner_));
    const int64_t columns = dims_[inner_];
    width_ = tile_of(element_count(outer), columns, parts_ * each_);
    const int64_t least = (columns + width_ - 1) / width_, together = tiles_together(least);
    const int64_t blocks = (least + together - 1) / together, tiles = blocks * together;
    w_.set_count(element_count(outer) * tiles);
    held_ = reduce_.local_arrays(width_ * together * parts_ * each_);
    partition_points_ = reduce_.partition_points_along(reduce_.kept()[inner_]);
    if (together == 1)
      return loop(b_, w_.begin, w_.end, [&](Value* number) {
        write_tiles(Index::linear(b_, outer, b_.CreateUDiv(number, int64(b_, tiles))),
                    every_other(b_, b_.CreateURem(number, int64(b_, tiles)), tiles),
                    int64(b_, width_));
      });
    w_.set_max_chunk(together);
    Value* last = b_.CreateUDiv(b_.CreateAdd(w_.end, int64(b_, together - 1)), int64(b_, together));
    loop(b_, b_.CreateUDiv(w_.begin, int64(b_, together)), last, [&](Value* block) {
      Value* before = multiply_index(b_, block, together);
      Value* begin = greater_index(b_, w_.begin, before);
      Value* end = lesser_index(b_, w_.end, add_index(b_, before, int64(b_, together)));
      write_tiles(Index::linear(b_, outer, b_.CreateUDiv(block, int64(b_, blocks))),
                  b_.CreateURem(begin, int64(b_, tiles)),
                  multiply_index(b_, b_.CreateSub(end, begin), width_));
    });
  }

 private:
  // A few elements of each column stand side by side: loops are over columns.
  void find_parts() {
    if (inner_ == 0 || dims_[inner_] > max_parts || dims_[inner_ - 1] < min_columns ||
        element_count(reduce_.dims()) < min_work ||
        reduce_.kept()[inner_ - 1] + 1 != reduce_.kept()[inner_])
      return;
    parts_ = dims_[inner_--];
  }

  // Tiles of a line, of so many, that are combined together at most. Larger arrays than the
  // caches that are near come from memory, which gives more of longer pieces of lines: tiles side
  // by side that one thread has are combined together, as one as wide as tiles may be.
  int64_t tiles_together(int64_t tiles) const {
    const int64_t large_array = cache_sizes(*w_.function->getParent()).near;
    const ElementType type = w_.elements.module.shape(w_.elements.module.operand(id_, 0)).type;
    if (parts_ * each_ > 1 || element_count(reduce_.dims()) * storage_bytes(type) < large_array)
      return 1;
    return std::min(widest_tile(1) / width_,
                    static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(tiles))));
  }

  // Columns [first tile * width, that + width) of what there is, of results at `outer`.
  void write_tiles(const Index& outer, Value* first_tile, Value* width) {
    first_ = multiply_index(b_, first_tile, width_);
    const int64_t columns = dims_[inner_];
    size_ = columns <= width_
                ? int64(b_, columns)
                : lesser_index(b_, b_.CreateNSWSub(int64(b_, columns), first_), width);
    // Known to be a whole number of vectors, so that loops have no rests.
    if (columns % KernelLimits::whole_lanes == 0 && width_ % KernelLimits::whole_lanes == 0)
      size_ = multiply_index(b_, b_.CreateSDiv(size_, int64(b_, KernelLimits::whole_lanes)),
                             KernelLimits::whole_lanes);
    for (size_t d = 0; d < inner_; ++d) kept_[d] = outer.at(b_, d);
    make_lines();
    write_tile(lines_of_code());
  }

  // Lines that the code of one round combines, of all parts.
  int64_t lines_of_code() const {
    const int64_t lines =
        lines_together(w_.elements, id_, reduce_, line_dims_, width_ * parts_ * each_, lines_);
    return std::max<int64_t>(1, lines / parts_);
  }

  Index place(Value* i, int64_t part) {
    kept_[inner_] = add_index(b_, first_, i);
    if (parts_ > 1 && !row_) kept_[inner_ + 1] = int64(b_, part);
    return Index(b_, dims_, kept_);
  }

  // Values of the lines of one tile, in the frame.
  void keep_lines() {
    if (dims_.empty() || inner_ + 1 != dims_.size()) return;
    int64_t bytes = 0;
    for (InstructionId value : values_of_lines(w_.elements, id_, reduce_)) {
      const Shape& shape = w_.elements.module.shape(value);
      bytes += shape.dims.back() * storage_bytes(shape.type);
      if (bytes > max_line_bytes) return;
      lines_.push_back(value);
      in_frame_.push_back(frame_array(b_, stored_type(b_, shape.type), shape.dims.back()));
    }
  }

  void make_lines() {
    if (lines_.empty()) return;
    std::vector<Value*> at(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(inner_));
    at.push_back(nullptr);
    loop(b_, reduce_.dims()[inner_], [&](Value* i) {
      at.back() = i;
      std::vector<Value*> values;
      for (InstructionId value : lines_)
        values.push_back(
            w_.elements.at(value, Index(b_, w_.elements.module.shape(value).dims, at)));
      for (size_t k = 0; k < lines_.size(); ++k)
        store_element(b_, w_.elements.module.shape(lines_[k]).type, in_frame_[k], i, values[k]);
    });
    w_.elements.forget();
    for (size_t k = 0; k < lines_.size(); ++k)
      w_.elements.bind_row(lines_[k], in_frame_[k], inner_);
  }

  // Of column `i` of the tile: those of one part lie side by side.
  Value* local_index(Value* i, int64_t part) { return add_index(b_, i, int64(b_, part * width_)); }
  void store(const std::vector<Value*>& values, Value* i, int64_t part) {
    for (size_t k = 0; k < held_.size(); ++k) held_[k].store(values[k], local_index(i, part));
  }
  std::vector<Value*> load(Value* i, int64_t part) {
    std::vector<Value*> out;
    for (const LocalArray& each : held_) out.push_back(each.load(local_index(i, part)));
    return out;
  }

  void write_tile(int64_t together) {
    const Reducer& reducer = reduce_.reducer();
    const std::vector<Value*> inits = reduce_.inits();
    loop(b_, int64(b_, 0), multiply_index(b_, size_, each_), [&](Value* i) {
      for (int64_t part = 0; part < parts_; ++part)
        store(reducer.is_associative() ? std::vector{reducer.identity()} : inits, i, part);
    });
    std::vector<Value*> at = reduce_.place(place(int64(b_, 0), 0));
    nest_of_lines(b_, reduce_.dims(), line_dims_, at, together,
                  [&](int64_t lines) { add_lines(at, lines); });
    loop(b_, int64(b_, 0), size_, [&](Value* i) {
      for (int64_t part = 0; part < (row_ ? 1 : parts_); ++part) {
        std::vector<Value*> values = row_ || each_ > 1 ? combined_row(i) : load(i, part);
        if (reducer.is_associative()) values = {reducer.finish(inits[0], values[0])};
        store_results(w_, id_, place(i, part).position(b_), values);
      }
    });
  }

  std::vector<Value*> combined_row(Value* i) {
    const auto element = [&](int64_t n) {
      if (row_) return load(i, n)[0];
      return load(add_index(b_, multiply_index(b_, i, each_), int64(b_, n)), 0)[0];
    };
    Value* out = element(0);
    for (int64_t n = 1; n < parts_ * each_; ++n) out = reduce_.reducer().combine(out, element(n));
    return {out};
  }

  // By loops between the partition points.
  void add_lines(const std::vector<Value*>& at, int64_t lines) {
    const auto in_tile = [&](int64_t column) -> Value* {
      if (column == 0) return int64(b_, 0);
      if (column == dims_[inner_]) return multiply_index(b_, size_, each_);
      Value* from_first = b_.CreateNSWSub(int64(b_, column), first_);
      Value* begun = greater_index(b_, from_first, int64(b_, 0));
      return lesser_index(b_, begun, size_);
    };
    std::vector<int64_t> ends = partition_points_.ends;
    if (ends.size() < 3) ends = {0, dims_[inner_]};
    for (size_t s = 0; s + 1 < ends.size(); ++s) {
      if (s > 0) w_.elements.forget();
      loop(b_, in_tile(ends[s]), in_tile(ends[s + 1]), [&](Value* i) {
        std::vector<Value*> here = at;
        Value*& column = here[reduce_.kept()[inner_]];
        column = add_index(b_, multiply_index(b_, first_, each_), i);
        if (ends.size() > 2) w_.elements.bind_counter(column, ends[s], ends[s + 1]);
        add_parts(here, lines, i);
      });
    }
  }

  void add_parts(std::vector<Value*>& at, int64_t lines, Value* i) {
    for (int64_t part = 0; part < parts_; ++part) {
      if (parts_ > 1) at[row_ ? *row_ : reduce_.kept()[inner_ + 1]] = int64(b_, part);
      const size_t last = line_dims_.empty() ? 0 : line_dims_.back();
      store(combine_lines(b_, reduce_, at, last, lines, load(i, part)), i, part);
    }
  }

  KernelBuilder& w_;
  Builder& b_;
  InstructionId id_;
  Reduce& reduce_;
  Dims dims_;                      // of the results
  size_t inner_ = 0;               // the one of the columns
  int64_t parts_ = 1, width_ = 0;  // of a column, and columns of a tile
  // A short row is reduced with what stands before it: its elements are parts, of a dimension of
  // their own, or so many columns each.
  std::optional<size_t> row_;
  int64_t each_ = 1;
  std::vector<size_t> line_dims_;     // the other reduced ones
  std::vector<InstructionId> lines_;  // values of lines
  std::vector<Value*> in_frame_;      // and their places
  std::vector<LocalArray> held_;
  PartitionPoints partition_points_;
  Value *first_ = nullptr, *size_ = nullptr;  // of the tile's columns
  std::vector<Value*> kept_;                  // the place of the results
};

}  // namespace

bool is_costly(const ElementEmitter& elements, InstructionId id, const Reduce& reduce) {
  int steps = 0;
  for (size_t k = 0; k < reduce.count(); ++k)
    steps += steps_of(elements, elements.module.operand(id, k), {});
  return steps > max_cheap_steps;
}

void write_columns(KernelBuilder& w, InstructionId id, Reduce& reduce) {
  ColumnReduction(w, id, reduce).write();
}

bool write_short_rows(KernelBuilder& w, InstructionId id, Reduce& reduce) {
  const Dims& dims = reduce.dims();
  if (reduce.last_kept() == dims.size() || !reduce.reducer().is_associative()) return false;
  const int64_t row = reduce.row_behind_kept(), columns = dims[reduce.last_kept()] * row;
  const auto lines = static_cast<int64_t>(reduce.reduced_elements()) / row;
  if (row == 1 || columns < min_contiguous_columns || element_count(dims) < min_row_work)
    return false;
  const bool is_one_dim = dims[reduce.innermost()] == row;
  if (!reduce.may_merge_row() && (row > max_parts || !is_one_dim)) return false;
  if (lines < (row <= max_parts ? min_lines : min_lines_of_long_rows) || row > longest_row)
    return false;
  // Rows that are whole vectors are read well as they are, from memory.
  const ElementType type = w.elements.module.shape(w.elements.module.operand(id, 0)).type;
  const VectorRegisters registers = vector_registers(*w.function->getParent());
  if (row * storage_bytes(type) % registers.bytes == 0 &&
      (columns > max_cached_columns || lines < min_lines_of_vectors))
    return false;
  write_columns(w, id, reduce);
  return true;
}

}  // namespace hilo
