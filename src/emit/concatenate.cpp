#include <optional>

#include "emit/op_functions.h"
#include "emit/writer.h"

namespace hilo {
namespace {

constexpr size_t most_loops = 64;
// Fewer iterations of a kernel are too few for several threads, shorter ones too short.
constexpr int64_t fewest_rows = 16, shortest = 64;

// The operands one after the other, each by loops of its own: what lies before the dimension of
// concatenation are the kernel's iterations, or, where that is little, its places are too.
class Concatenation {
 public:
  Concatenation(Writer& w, InstructionId id)
      : w_(w),
        b_(w.b),
        id_(id),
        module_(w.elements.module),
        shape_(module_.shape(id)),
        dim_(static_cast<size_t>(module_.attributes<DimensionsAttributes>(id).dimensions[0])),
        outer_(shape_.dims.begin(), shape_.dims.begin() + static_cast<int64_t>(dim_)) {
    if (element_count(outer_) < fewest_rows) outer_.push_back(shape_.dims[dim_]);
    for (size_t d = outer_.size(); d < shape_.dims.size(); ++d) each_ *= shape_.dims[d];
  }

  bool has_loops() const {
    const size_t count = module_.operands(id_).size();
    // Of single elements side by side the loops are straight code, without a choice for each.
    const bool single = outer_.size() == dim_ && each_ == static_cast<int64_t>(count);
    return count <= most_loops && (each_ >= shortest || single) && element_count(outer_) > 0;
  }

  void write() {
    w_.set_count(element_count(outer_), static_cast<double>(each_));
    loop(b_, w_.begin, w_.end, [&](llvm::Value* row) {
      const Index rows = Index::linear(b_, outer_, row);
      at_.clear();
      for (size_t d = 0; d < outer_.size(); ++d) at_.push_back(rows.at(b_, d));
      at_.resize(shape_.dims.size());
      int64_t start = 0;
      for (size_t i = 0; i < module_.operands(id_).size(); ++i) {
        const Dims dims = module_.shape(module_.operand(id_, i)).dims;
        w_.elements.forget();
        write_operand(i, dims, start);
        start += dims[dim_];
      }
    });
  }

 private:
  void write_operand(size_t i, const Dims& dims, int64_t start) {
    if (outer_.size() == dim_) return write_places(dim_, i, dims, start);
    llvm::Value* place = at_[dim_];
    at_[dim_] = b_.CreateNSWSub(place, int64(b_, start));
    where(b_, is_place(b_, at_[dim_], dims[dim_]), [&] { write_places(dim_ + 1, i, dims, start); });
    at_[dim_] = place;
  }

  void write_places(size_t d, size_t i, const Dims& dims, int64_t start) {
    if (d < dims.size())
      return loop(b_, dims[d], [&](llvm::Value* place) {
        at_[d] = place;
        write_places(d + 1, i, dims, start);
      });
    llvm::Value* value = w_.elements.operand(id_, i, Index(b_, dims, at_));
    if (w_.elements.error()) return;
    std::vector<llvm::Value*> to = at_;
    to[dim_] = add_index(b_, at_[dim_], int64(b_, start));
    store_element(b_, shape_.type, w_.results[0], Index(b_, shape_.dims, to).position(b_), value);
  }

  Writer& w_;
  Builder& b_;
  InstructionId id_;
  const Module& module_;
  const Shape& shape_;
  size_t dim_;
  Dims outer_;                    // dimensions of the kernel's iterations
  int64_t each_ = 1;              // elements of an iteration
  std::vector<llvm::Value*> at_;  // in the operand
};

}  // namespace

Result<void> write_Concatenate(Writer& w, InstructionId id) {
  Concatenation concatenation(w, id);
  if (concatenation.has_loops()) {
    concatenation.write();
    return {};
  }
  write_elements(w, id);
  return {};
}

namespace {

// What all operands are slices of that differ in dimension `dim` alone, as those of a rotation, or
// nothing. Slices that stand in arrays are read there: what they were of may be gone.
std::optional<InstructionId> sliced_by_all(const Elements& e, InstructionId id, size_t dim) {
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
llvm::Value* element_of_slices(Elements& e, InstructionId id, InstructionId from,
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
llvm::Value* element_Concatenate(Elements& e, InstructionId id, const Index& index, size_t) {
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
        is_masked && !met.are_in(0, dims[dim])
            ? e.read_where(is_place(b, from, dims[dim]), [&] { return value_at(from); })
            : value_at(nearest_index(b, from, met, dims[dim]));
    llvm::Value* reached = b.CreateICmpSGE(from, int64(b, 0));
    chosen = chosen ? b.CreateSelect(reached, value, chosen) : value;
  }
  return chosen ? chosen : e.unsupported(id, "no elements");
}

}  // namespace hilo
