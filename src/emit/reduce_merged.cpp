// Dimensions of a reduction that are taken for one.
#include <algorithm>

#include "analysis/analysis.h"
#include "emit/reduce.h"

namespace hilo {
namespace {

// Whether elements follow from their place in the array and in the dimensions before `end`.
bool keeps_columns(const ElementEmitter& e, InstructionId id, size_t end) {
  const Module& module = e.module;
  std::vector<InstructionId> seen = {id};
  for (size_t i = 0; i < seen.size(); ++i) {
    const InstructionId value = seen[i];
    const Op op = module[value].op;
    if (e.array(value) || (op == Op::Constant && module.shape(value).dims.empty())) continue;
    if (op == Op::Iota) {
      const int64_t along = module.attributes<IotaAttributes>(value).iota_dimension;
      if (module.shape(value).dims != module.shape(id).dims || along >= static_cast<int64_t>(end))
        return false;
      continue;
    }
    if (op == Op::Broadcast) {
      const Dims& to = module.attributes<DimensionsAttributes>(value).dimensions;
      if ((module.shape(value).dims != module.shape(id).dims && !to.empty()) ||
          std::ranges::any_of(to, [&](int64_t d) { return d >= static_cast<int64_t>(end); }))
        return false;
      continue;
    }
    const bool is_contiguous_slice = op == Op::Slice && contiguous_slice_start(module, value) >= 0;
    if (!is_elementwise(op) && op != Op::Reshape && !is_contiguous_slice) return false;
    for (InstructionId operand : module.operands(value)) {
      const Shape& shape = module.shape(operand);
      if (!shape.is_array()) return false;
      if (is_elementwise(op) && shape.dims != module.shape(value).dims && !shape.dims.empty())
        return false;
      if (std::ranges::count(seen, operand) == 0) seen.push_back(operand);
    }
  }
  return true;
}

}  // namespace

bool Reduce::are_columns_from(size_t first) const {
  return std::ranges::all_of(e_.module.operands(id_).first(count_), [&](InstructionId operand) {
    return keeps_columns(e_, operand, first);
  });
}

void Reduce::take_for_one(size_t first) {
  for (; dims_.size() > first + 1; dims_.pop_back()) dims_[first] *= dims_.back();
  const auto is_behind = [&](size_t d) { return d > first; };
  std::erase_if(kept_, is_behind);
  std::erase_if(reduced_, is_behind);
}

void Reduce::merge_columns() {
  if (is_row() || reduced_.empty()) return;
  const size_t first = reduced_.back() + 1;
  if (first + 1 < dims_.size() && are_columns_from(first)) take_for_one(first);
}

size_t Reduce::last_kept() const {
  for (size_t i = kept_.size(); i-- > 0;)
    if (dims_[kept_[i]] > 1) return kept_[i];
  return dims_.size();
}

int64_t Reduce::row_behind_kept() const {
  int64_t out = 1;
  for (size_t d = last_kept() + 1; d < dims_.size(); ++d) out *= dims_[d];
  return out;
}

bool Reduce::may_merge_row() const {
  return is_row() && last_kept() < dims_.size() && are_columns_from(last_kept());
}

void Reduce::merge_row() { take_for_one(last_kept()); }

std::optional<Reduce::Run> Reduce::run() const {
  const auto is_reduced = [&](size_t d) { return std::ranges::count(reduced_, d) > 0; };
  size_t first = dims_.size();
  int64_t size = 1, columns = 1;
  for (; first > 0 && (dims_[first - 1] == 1 || !is_reduced(first - 1)); --first)
    columns *= dims_[first - 1];
  size = columns;
  for (; first > 0 && (dims_[first - 1] == 1 || is_reduced(first - 1)); --first)
    size *= dims_[first - 1];
  while (first < dims_.size() && dims_[first] == 1) ++first;
  if (size == columns || !are_columns_from(first)) return std::nullopt;
  return Run{first, size, columns};
}

void Reduce::merge(const Run& run) {
  take_for_one(run.first);
  partition_points_ = {};
}

}  // namespace hilo
