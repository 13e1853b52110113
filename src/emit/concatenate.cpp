#include <algorithm>
#include <bit>
#include <optional>
#include <set>

#include "emit/complex.h"
#include "emit/flattened_rows.h"
#include "emit/kernel_builder.h"
#include "emit/loop_limits.h"
#include "emit/op_functions.h"
#include "emit/partition_points.h"
#include "emit/tiles.h"

namespace hilo {
namespace {

// Tiles of each operand that is transposed are an array of the frame.
constexpr size_t max_loops = 64, max_copies = 1024, max_transposed = 8;
// Rows of a part that are copied by words of a register, in straight code.
constexpr int64_t max_bytes = 256;

// By words, of which the last one may overlap the one before it.
void copy_row(Builder& b, llvm::Value* to, llvm::Value* from, int64_t bytes) {
  for (int64_t at = 0; at < bytes;) {
    const auto left = static_cast<uint64_t>(std::min(bytes - at, widest_vector));
    auto word = static_cast<int64_t>(std::bit_ceil(left));
    if (word > bytes) word /= 2;
    if (at + word > bytes && at > 0) at = bytes - word;
    llvm::Type* type = word <= 8
                           ? static_cast<llvm::Type*>(b.getIntNTy(static_cast<unsigned>(8 * word)))
                           : llvm::FixedVectorType::get(b.getInt8Ty(), static_cast<unsigned>(word));
    const auto place = [&](llvm::Value* array) {
      return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), array, static_cast<uint64_t>(at));
    };
    b.CreateAlignedStore(b.CreateAlignedLoad(type, place(from), llvm::Align(1)), place(to),
                         llvm::Align(1));
    at += word;
  }
}

// The operands one after the other, each by loops of its own: what lies before the dimension of
// concatenation are the kernel's iterations, or, where that is little, the places of it are. A few
// operands of equal dimensions have one loop together where they are made of the same, as sines and
// cosines of the same angles, or are short. Operands that are read across their rows are transposed
// by tiles, whose blocks are iterations then.
class Concatenation {
 public:
  Concatenation(KernelBuilder& w, InstructionId id)
      : w_(w),
        b_(w.b),
        module_(w.elements.module),
        id_(id),
        shape_(module_.shape(id)),
        dim_(static_cast<size_t>(module_.attributes<DimensionsAttributes>(id).dimensions[0])),
        outer_(shape_.dims.begin(), shape_.dims.begin() + static_cast<int64_t>(dim_)) {
    for (size_t d = dim_ + 1; d < shape_.dims.size(); ++d) inner_ *= shape_.dims[d];
    int64_t start = 0;
    for (InstructionId operand : module_.operands(id)) {
      const int64_t size = module_.shape(operand).dims[dim_];
      if (size > 0) parts_.push_back({operand, memory_array(operand), start, size, {}, nullptr});
      start += size;
    }
    if (parts_.size() <= max_transposed)
      for (Part& part : parts_) part.crossing = crossing_of(part);
    has_tiles_ = std::ranges::any_of(parts_, [](const Part& part) { return !!part.crossing; });
    is_together_ = !has_tiles_ && are_together();
    if (!has_tiles_ && dim_ > 0) find_flattened();
  }

  bool has_loops() const {
    if (element_count(shape_.dims) == 0) return false;
    if (has_tiles_ || !flattened_.empty()) return true;
    if (std::ranges::all_of(parts_, [](const Part& part) { return part.array; }))
      return parts_.size() <= max_copies;
    // Of single elements side by side the loops are straight code, without a choice for each.
    const int64_t each = is_by_rows()             ? shape_.dims[dim_] * inner_
                         : has_partition_points() ? inner_
                                                  : shortest_part() * inner_;
    const bool is_single = is_by_rows() && each == static_cast<int64_t>(parts_.size());
    return parts_.size() <= max_loops &&
           (each >= KernelLimits::shortest_joined || is_single || is_together_);
  }

  void write() {
    if (!flattened_.empty()) write_flattened();
    else if (is_by_rows() && !has_tiles_) write_rows();
    else write_parts();
  }

 private:
  struct Part {
    InstructionId id;
    llvm::Value* array;   // that holds it, or null
    int64_t start, size;  // in the dimension of concatenation
    std::optional<Crossing> crossing;
    llvm::Value* of_block = nullptr;  // its rows of a block in the frame, if it is tabled
  };

  // Parts side by side of as many elements a row, which one flat loop computes.
  struct FlattenedParts {
    std::span<Part> parts;
    FlattenedRows rows;
  };

  void find_flattened() {
    for (size_t i = 0, end = 0; i < parts_.size(); i = end) {
      std::vector<InstructionId> ids = {parts_[i].id};
      for (end = i + 1; end < parts_.size(); ++end) {
        if (parts_[i].array || parts_[end].array || parts_[end].size != parts_[i].size) break;
        ids.push_back(parts_[end].id);
      }
      if (parts_[i].array || std::ssize(ids) > KernelLimits::max_together) continue;
      const auto rows = find_flattened_rows(w_.elements, ids, module_.shape(ids[0]).dims, dim_);
      if (rows) flattened_.push_back({std::span(parts_).subspan(i, ids.size()), *rows});
    }
    int64_t count = 0;  // powers of two
    for (const FlattenedParts& some : flattened_) count = std::max(count, some.rows.count);
    for (FlattenedParts& some : flattened_) some.rows.count = count;
  }

  // Blocks of rows: what is costly into the frame, and then each row.
  void write_flattened() {
    w_.set_loop_kind(LoopsOver::FlattenedRows);
    const int64_t count = flattened_[0].rows.count;
    llvm::Type* type = stored_type(b_, shape_.type);
    for (const FlattenedParts& some : flattened_)
      for (Part& part : some.parts) part.of_block = frame_array(b_, type, count * some.rows.size);
    for_blocks_of_rows(w_, outer_, count, [&](const BlockOfRows& block) {
      for (const FlattenedParts& some : flattened_) compute(some, block);
      loop(b_, block.shared, int64(b_, count),
           [&](llvm::Value* row) { write_row_of_block(block, row); });
    });
  }

  void compute(const FlattenedParts& some, const BlockOfRows& block) {
    const Dims& dims = module_.shape(some.parts[0].id).dims;
    loop_over_rows(w_, dims, some.rows, block, [&](const Index& place, llvm::Value* number) {
      std::vector<llvm::Value*> values;
      for (const Part& part : some.parts) values.push_back(w_.elements.at(part.id, place));
      for (size_t i = 0; i < values.size(); ++i)
        store_element(b_, shape_.type, some.parts[i].of_block, number, values[i]);
    });
  }

  void write_row_of_block(const BlockOfRows& block, llvm::Value* number) {
    std::vector<llvm::Value*> at = block.at;
    at.push_back(add_index(b_, block.start, number));
    const Index rows(b_, outer_, at);
    llvm::Value* row = add_index(b_, block.first, number);
    for (const Part& part : parts_)
      if (part.of_block) copy(part, row, array_at(part.of_block, number, part.size, 0));
      else write_part_of_row(part, row, rows);
  }

  // Of what is an array's elements in their order.
  llvm::Value* memory_array(InstructionId id) const {
    while (!w_.elements.array(id) && module_[id].op == Op::Reshape) id = module_.operand(id, 0);
    return w_.elements.array(id);
  }

  std::optional<Crossing> crossing_of(const Part& part) const {
    if (part.array || !module_.shape(part.id).is_array()) return std::nullopt;
    const WrittenLeaf leaf = {part.id, 0, nullptr};
    return find_crossing(w_.elements, {&leaf, 1}, innermost_dim(module_.shape(part.id).dims));
  }

  bool are_together() const {
    if (parts_.size() < 2 || std::ssize(parts_) > KernelLimits::max_together) return false;
    const int64_t each = parts_[0].size * inner_;
    const auto is_alike = [&](const Part& part) {
      return !part.array && part.size == parts_[0].size;
    };
    const bool is_short = each * std::ssize(parts_) < KernelLimits::shortest_joined;
    return each >= KernelLimits::shortest_together && std::ranges::all_of(parts_, is_alike) &&
           (is_short || share_work());
  }

  // Whether two parts are made of a value that is more than a number.
  bool share_work() const {
    std::set<InstructionId> of_others;
    for (const Part& part : parts_) {
      std::set<InstructionId> seen = {part.id};
      std::vector<InstructionId> waiting = {part.id};
      while (!waiting.empty()) {
        const InstructionId id = waiting.back();
        waiting.pop_back();
        if (of_others.contains(id)) return true;
        if (w_.elements.array(id)) continue;
        for (InstructionId read : module_.operands(id)) {
          const Shape& shape = module_.shape(read);
          if (shape.is_array() && element_count(shape) > 1 && seen.insert(read).second)
            waiting.push_back(read);
        }
      }
      of_others.merge(seen);
    }
    return false;
  }

  // Whether the loop over all elements is cut where an operand ends, and need not choose.
  bool has_partition_points() const {
    return dim_ + 1 == shape_.dims.size() &&
           find_partition_points(module_, {&id_, 1}, dim_).ends.size() > 2;
  }

  int64_t shortest_part() const { return std::ranges::min(parts_, {}, &Part::size).size; }

  bool is_by_rows() const { return element_count(outer_) >= KernelLimits::fewest_joined_rows; }

  void write_rows() {
    if (!is_by_lines()) {
      w_.set_count(element_count(outer_));
      return loop(b_, w_.begin, w_.end,
                  [&](llvm::Value* row) { write_row(row, Index::linear(b_, outer_, row)); });
    }
    const Dims before(outer_.begin(), outer_.end() - 1);
    w_.set_count(element_count(before));
    loop(b_, w_.begin, w_.end, [&](llvm::Value* line) {
      const Index lines = Index::linear(b_, before, line);
      std::vector<llvm::Value*> at;
      for (size_t d = 0; d < before.size(); ++d) at.push_back(lines.at(b_, d));
      at.push_back(nullptr);
      llvm::Value* first = multiply_index(b_, line, outer_.back());
      loop(b_, outer_.back(), [&](llvm::Value* place) {
        at.back() = place;
        write_row(add_index(b_, first, place), Index(b_, outer_, at));
      });
    });
  }

  // Where an element asks for others by its row's place among the dimensions, which would take a
  // division for each row.
  bool is_by_lines() const {
    if (outer_.size() < 2 || outer_.back() < KernelLimits::fewest_joined_rows ||
        element_count(outer_) < KernelLimits::fewest_joined_rows * outer_.back())
      return false;
    std::vector<InstructionId> seen;
    for (const Part& part : parts_)
      if (!part.array) seen.push_back(part.id);
    for (size_t i = 0; i < seen.size(); ++i) {
      if (w_.elements.array(seen[i]) || module_.shape(seen[i]).is_scalar()) continue;
      const Op op = module_[seen[i]].op;
      const bool is_broadcast =
          op == Op::Broadcast && !module_.shape(module_.operand(seen[i], 0)).is_scalar();
      if (is_broadcast || op == Op::Iota) return true;
      for (InstructionId operand : module_.operands(seen[i]))
        if (std::ranges::count(seen, operand) == 0) seen.push_back(operand);
    }
    return false;
  }

  void write_row(llvm::Value* row, const Index& rows) {
    if (is_together_) return write_range(parts_, rows, int64(b_, 0), int64(b_, parts_[0].size));
    for (const Part& part : parts_) write_part_of_row(part, row, rows);
  }

  void write_part_of_row(const Part& part, llvm::Value* row, const Index& rows) {
    if (part.array && part.size * inner_ > 1)
      return copy(part, row, array_at(part.array, row, part.size, 0));
    w_.elements.forget();
    write_range({&part, 1}, rows, int64(b_, 0), int64(b_, part.size));
  }

  void copy(const Part& part, llvm::Value* row, llvm::Value* from) {
    llvm::Value* to = array_at(w_.results[0], row, shape_.dims[dim_], part.start);
    const int64_t count = part.size * inner_ * bytes();
    if (count <= max_bytes) copy_row(b_, to, from, count);
    else b_.CreateMemCpy(to, {}, from, {}, static_cast<uint64_t>(count));
  }

  // Each part whole, or what of it lies in the iterations at hand: places, or blocks of tiles.
  void write_parts() {
    if (is_together_) return write_parts_together();
    int64_t count = 0;
    for (const Part& part : parts_) count += iterations(part);
    w_.set_count(count);
    int64_t start = 0;
    for (const Part& part : parts_) {
      const auto of_part = [&](llvm::Value* place) {
        return clamp_index(b_, b_.CreateNSWSub(place, int64(b_, start)), 0, iterations(part));
      };
      llvm::Value *first = of_part(w_.begin), *last = of_part(w_.end);
      where(b_, b_.CreateICmpSLT(first, last), [&] { write_part(part, first, last); });
      start += iterations(part);
    }
  }
  int64_t iterations(const Part& part) const {
    if (!part.crossing) return part.size;
    return count_tile_blocks(*part.crossing, module_.shape(part.id).dims);
  }
  void write_part(const Part& part, llvm::Value* first, llvm::Value* last) {
    if (part.crossing) return write_transposed(part, first, last);
    loop(b_, element_count(outer_), [&](llvm::Value* row) {
      w_.elements.forget();
      if (part.array) copy_range(part, row, first, last);
      else write_range({&part, 1}, Index::linear(b_, outer_, row), first, last);
    });
  }
  void write_transposed(const Part& part, llvm::Value* first, llvm::Value* last) {
    const auto store_there = [&](const Index& place) {
      llvm::Value* value = w_.elements.at(part.id, place);
      store(part, place, value);
    };
    write_tile_blocks(w_, *part.crossing, module_.shape(part.id).dims, first, last,
                      {.place = store_there});
  }
  void store(const Part& part, const Index& place, llvm::Value* value) {
    std::vector<llvm::Value*> to;
    for (size_t d = 0; d < shape_.dims.size(); ++d) to.push_back(place.at(b_, d));
    to[dim_] = add_index(b_, to[dim_], int64(b_, part.start));
    store_element(b_, shape_.type, w_.results[0], Index(b_, shape_.dims, to).position(b_), value);
  }

  void write_parts_together() {
    w_.set_count(parts_[0].size);
    loop(b_, element_count(outer_), [&](llvm::Value* row) {
      w_.elements.forget();
      write_range(parts_, Index::linear(b_, outer_, row), w_.begin, w_.end);
    });
  }

  void copy_range(const Part& part, llvm::Value* row, llvm::Value* first, llvm::Value* last) {
    const auto at = [&](llvm::Value* array, int64_t size, int64_t start) {
      return b_.CreateInBoundsGEP(b_.getInt8Ty(), array_at(array, row, size, start),
                                  multiply_index(b_, first, inner_ * bytes()));
    };
    llvm::Value* count = b_.CreateNSWSub(last, first);
    b_.CreateMemCpy(at(w_.results[0], shape_.dims[dim_], part.start), llvm::Align(1),
                    at(part.array, part.size, 0), llvm::Align(1),
                    multiply_index(b_, count, inner_ * bytes()));
  }

  // Where row number `row` of an array with so many places in the dimension of concatenation has
  // place `start`.
  llvm::Value* array_at(llvm::Value* array, llvm::Value* row, int64_t size, int64_t start) {
    llvm::Value* place =
        add_index(b_, multiply_index(b_, row, size * inner_), int64(b_, start * inner_));
    return b_.CreateInBoundsGEP(b_.getInt8Ty(), array, multiply_index(b_, place, bytes()));
  }

  // The elements of parts that are alike.
  void write_range(std::span<const Part> parts, const Index& row, llvm::Value* first,
                   llvm::Value* last) {
    std::vector<llvm::Value*> at;
    for (size_t d = 0; d < dim_; ++d) at.push_back(row.at(b_, d));
    at.resize(shape_.dims.size());
    const auto* end = llvm::dyn_cast<llvm::ConstantInt>(last);
    if (end && end->getSExtValue() == 1) {
      at[dim_] = int64(b_, 0);
      return write_inner(parts, at, dim_ + 1);
    }
    loop_along(parts, dim_, first, last, [&](llvm::Value* place) {
      at[dim_] = place;
      write_inner(parts, at, dim_ + 1);
    });
  }

  // The loops of the last dimension are those between the partition points of what is written.
  void loop_along(std::span<const Part> parts, size_t d, llvm::Value* first, llvm::Value* last,
                  LoopBody body) {
    std::vector<InstructionId> ids;
    for (const Part& part : parts) ids.push_back(part.id);
    const PartitionPoints partition_points =
        d + 1 < shape_.dims.size() ? PartitionPoints{} : find_partition_points(module_, ids, d);
    if (partition_points.group != 1 || partition_points.ends.size() < 3)
      return loop(b_, first, last, body);
    for (size_t i = 0; i + 1 < partition_points.ends.size(); ++i) {
      const int64_t begin = partition_points.ends[i], end = partition_points.ends[i + 1];
      w_.elements.forget();
      loop(b_, greater_index(b_, first, int64(b_, begin)), lesser_index(b_, last, int64(b_, end)),
           [&](llvm::Value* place) {
             w_.elements.bind_counter(place, begin, end);
             body(place);
           });
    }
  }

  void write_inner(std::span<const Part> parts, std::vector<llvm::Value*>& at, size_t d) {
    if (d < at.size())
      return loop_along(parts, d, int64(b_, 0), int64(b_, shape_.dims[d]), [&](llvm::Value* place) {
        at[d] = place;
        write_inner(parts, at, d + 1);
      });
    const Index place(b_, module_.shape(parts[0].id).dims, at);
    std::vector<llvm::Value*> values;
    for (const Part& part : parts) values.push_back(w_.elements.at(part.id, place));
    for (size_t i = 0; i < parts.size(); ++i) store(parts[i], place, values[i]);
  }

  int64_t bytes() const { return storage_bytes(shape_.type); }

  KernelBuilder& w_;
  Builder& b_;
  const Module& module_;
  InstructionId id_;
  const Shape& shape_;
  size_t dim_;
  Dims outer_;         // before the dimension of concatenation
  int64_t inner_ = 1;  // elements behind it
  std::vector<Part> parts_;
  bool is_together_ = false;  // all of them in one loop
  bool has_tiles_ = false;
  std::vector<FlattenedParts> flattened_;
};

}  // namespace

void write_Concatenate(KernelBuilder& w, InstructionId id) {
  Concatenation concatenation(w, id);
  if (concatenation.has_loops()) concatenation.write();
  else write_elements(w, id);
}

namespace {

// What all operands are slices of that differ in dimension `dim` alone, as those of a rotation, or
// nothing. Slices that stand in arrays are read there: what they were of may be gone.
std::optional<InstructionId> sliced_by_all(const ElementEmitter& e, InstructionId id, size_t dim) {
  const Module& module = e.module;
  const InstructionId first = module.operand(id, 0);
  for (InstructionId operand : module.operands(id)) {
    if (module[operand].op != Op::Slice || module[first].op != Op::Slice) return std::nullopt;
    if (e.array(operand) || module.operand(operand, 0) != module.operand(first, 0))
      return std::nullopt;
    const auto& of_first = module.attributes<SliceAttributes>(first).slice.dims;
    const auto& slice = module.attributes<SliceAttributes>(operand).slice.dims;
    for (size_t d = 0; d < slice.size(); ++d)
      if (slice[d].stride != 1 || (d != dim && slice[d].start != of_first[d].start))
        return std::nullopt;
  }
  return module.operand(first, 0);
}

// The place is chosen, and one element read.
llvm::Value* element_of_slices(ElementEmitter& e, InstructionId id, InstructionId from,
                               const Index& index, size_t dim) {
  Builder& b = e.b;
  std::vector<llvm::Value*> at;
  const auto& first = e.module.attributes<SliceAttributes>(e.module.operand(id, 0)).slice.dims;
  for (size_t d = 0; d < first.size(); ++d)
    at.push_back(d == dim ? index.at(b, d)
                          : add_index(b, index.at(b, d), int64(b, first[d].start)));
  llvm::Value *place = at[dim], *chosen = nullptr;
  const Bounds bounds = e.bounds(place, index.dims()[dim]);
  int64_t start = 0;
  for (InstructionId operand : e.module.operands(id)) {
    const auto& slice = e.module.attributes<SliceAttributes>(operand).slice.dims;
    const int64_t first = start, size = e.module.shape(operand).dims[dim];
    start += size;
    if (!bounds.meet(first, start)) continue;
    llvm::Value* here = add_index(b, place, int64(b, slice[dim].start - first));
    chosen = chosen ? b.CreateSelect(b.CreateICmpSGE(place, int64(b, first)), here, chosen) : here;
  }
  at[dim] = chosen;
  return e.at(from, Index(b, e.module.shape(from).dims, std::move(at)));
}

}  // namespace

// Each operand is read at the nearest place that it has, or only where it has one, and the value
// chosen afterwards.
llvm::Value* element_Concatenate(ElementEmitter& e, InstructionId id, const Index& index, size_t) {
  Builder& b = e.b;
  const auto dim = static_cast<size_t>(e.module.attributes<DimensionsAttributes>(id).dimensions[0]);
  const bool is_masked = e.reads_masked(index.at(b, dim), e.module.shape(id).type);
  if (const auto from = sliced_by_all(e, id, dim); from && index.dims()[dim] > 0 && !is_masked)
    return element_of_slices(e, id, *from, index, dim);
  const Bounds bounds = e.bounds(index.at(b, dim), index.dims()[dim]);
  llvm::Value* chosen = nullptr;
  int64_t start = 0;
  for (size_t i = 0; i < e.module.operands(id).size(); ++i) {
    const Dims& dims = e.module.shape(e.module.operand(id, i)).dims;
    const int64_t first = start;
    start += dims[dim];
    if (!bounds.meet(first, start)) continue;
    llvm::Value* from = b.CreateNSWSub(index.at(b, dim), int64(b, first));
    const Bounds met = {bounds.first - first, bounds.last - first};
    const auto value_at = [&](llvm::Value* place) {
      std::vector<llvm::Value*> at;
      for (size_t d = 0; d < dims.size(); ++d) at.push_back(d == dim ? place : index.at(b, d));
      return e.operand(id, i, Index(b, dims, std::move(at)));
    };
    llvm::Value* value =
        is_masked && dims[dim] > 1 && !met.are_in(0, dims[dim])
            ? e.read_where(is_in_bounds(b, from, dims[dim]), [&] { return value_at(from); })
            : value_at(nearest_index(b, from, met, dims[dim]));
    llvm::Value* reached = b.CreateICmpSGE(from, int64(b, 0));
    chosen = chosen ? select_held(b, e.module.shape(id).type, reached, value, chosen) : value;
  }
  check(chosen, "concatenate: the command has elements");
  return chosen;
}

}  // namespace hilo
