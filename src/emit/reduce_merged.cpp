// Dimensions of a reduction that are taken for one.
#include <algorithm>

#include "emit/reduce.h"

namespace hilo {
namespace {

// Whether elements follow from their place in the array and in the dimensions before `end`.
bool keeps_columns(const Elements& e, InstructionId id, size_t end) {
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
    const bool is_piece = op == Op::Slice && first_of_piece(module, value);
    if (!is_elementwise(op) && op != Op::Reshape && !is_piece) return false;
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

void Reduce::merge_columns() {
  if (is_row() || reduced_.empty()) return;
  const size_t first = reduced_.back() + 1;
  const auto operands = e_.module.operands(id_).first(count_);
  if (first + 1 >= dims_.size() || !std::ranges::all_of(operands, [&](InstructionId operand) {
        return keeps_columns(e_, operand, first);
      }))
    return;
  for (; dims_.size() > first + 1; dims_.pop_back()) dims_[first] *= dims_.back();
  std::erase_if(kept_, [&](size_t d) { return d > first; });
}

size_t Reduce::last_kept() const {
  for (size_t i = kept_.size(); i-- > 0;)
    if (dims_[kept_[i]] > 1) return kept_[i];
  return dims_.size();
}

bool Reduce::may_merge_row() const {
  const size_t first = last_kept();
  const auto operands = e_.module.operands(id_).first(count_);
  return is_row() && first < dims_.size() &&
         std::ranges::all_of(
             operands, [&](InstructionId operand) { return keeps_columns(e_, operand, first); });
}

void Reduce::merge_row() {
  const size_t first = last_kept();
  for (; dims_.size() > first + 1; dims_.pop_back()) dims_[first] *= dims_.back();
  std::erase_if(kept_, [&](size_t d) { return d > first; });
  std::erase_if(reduced_, [&](size_t d) { return d > first; });
}

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
  const auto operands = e_.module.operands(id_).first(count_);
  if (size == columns || !std::ranges::all_of(operands, [&](InstructionId operand) {
        return keeps_columns(e_, operand, first);
      }))
    return std::nullopt;
  return Run{first, size, columns};
}

void Reduce::merge(const Run& run) {
  dims_.resize(run.first + 1);
  dims_.back() = run.size;
  std::erase_if(kept_, [&](size_t d) { return d >= run.first; });
  std::erase_if(reduced_, [&](size_t d) { return d >= run.first; });
  reduced_.push_back(run.first);
  seams_ = {};
}

}  // namespace hilo
