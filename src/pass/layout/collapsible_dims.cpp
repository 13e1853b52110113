#include "pass/layout/collapsible_dims.h"

#include <algorithm>
#include <ranges>

namespace hilo {
namespace {

bool is_among(const Dims& dims, size_t d) {
  return std::ranges::find(dims, static_cast<int64_t>(d)) != dims.end();
}

size_t position_among(const Dims& dims, size_t d) {
  return static_cast<size_t>(std::ranges::find(dims, static_cast<int64_t>(d)) - dims.begin());
}

// Whether an instruction between equal runs begins one at dimension d > 0.
struct Beginnings {
  Op op;
  bool (*begins)(const Module&, InstructionId, size_t d);
};

bool slice_begins(const Module& module, InstructionId id, size_t d) {
  const std::vector<SliceDim>& slice = module.attributes<SliceAttributes>(id).slice.dims;
  const bool is_whole = module.shape(id).dims[d] == module.shape(module.operand(id, 0)).dims[d];
  return !is_whole || slice[d - 1].stride != 1;
}

bool pad_begins(const Module& module, InstructionId id, size_t d) {
  const std::vector<PaddingDim>& padding = module.attributes<PadAttributes>(id).padding.dims;
  return padding[d] != PaddingDim{} || padding[d - 1].interior != 0;
}

bool concatenate_begins(const Module& module, InstructionId id, size_t d) {
  return is_among(module.attributes<DimensionsAttributes>(id).dimensions, d);
}

bool reverse_begins(const Module& module, InstructionId id, size_t d) {
  const Dims& reversed = module.attributes<DimensionsAttributes>(id).dimensions;
  return is_among(reversed, d) != is_among(reversed, d - 1);
}

constexpr Beginnings all_beginnings[] = {{Op::Slice, slice_begins},
                                         {Op::Pad, pad_begins},
                                         {Op::Concatenate, concatenate_begins},
                                         {Op::Reverse, reverse_begins}};

bool asks_nothing(const Module& module, InstructionId id) {
  const Op op = module[id].op;
  return op == Op::Parameter || (op == Op::Constant && module.shape(id).dims.empty());
}

}  // namespace

CollapsibleDims::CollapsibleDims(const Module& module, std::span<const InstructionId> instructions)
    : module_(module), instructions_(instructions.begin(), instructions.end()) {
  const auto know = [&](InstructionId id) {
    cuts_.try_emplace(id.value, module_.shape(id).dims.size(), false);
  };
  for (InstructionId id : instructions_) {
    know(id);
    std::ranges::for_each(module_.operands(id), know);
  }
  settle();
}

void CollapsibleDims::cut(InstructionId value, size_t d) {
  begin(value, d);
  settle();
}

void CollapsibleDims::settle() {
  do {
    is_settled_ = true;
    for (InstructionId id : instructions_) tie(id);
    for (InstructionId id : instructions_ | std::views::reverse) tie(id);
  } while (!is_settled_);
}

void CollapsibleDims::begin(InstructionId value, size_t d) {
  std::vector<bool>& cuts = cuts_.at(value.value);
  if (!cuts[d]) is_settled_ = false;
  cuts[d] = true;
}

void CollapsibleDims::begin_everywhere(InstructionId value) {
  for (size_t d = 1; d < cuts_.at(value.value).size(); ++d) begin(value, d);
}

void CollapsibleDims::pair(InstructionId a, size_t d, InstructionId c, size_t e) {
  if (!joins(a, d)) begin(c, e);
  if (!joins(c, e)) begin(a, d);
}

void CollapsibleDims::tie(InstructionId id) {
  const Op op = module_[id].op;
  if (asks_nothing(module_, id)) return;
  if (op == Op::Broadcast) return tie_broadcast(id);
  if (op == Op::Transpose) return tie_transpose(id);
  if (op == Op::Reshape) return tie_reshape(id);
  if (op == Op::Reduce && module_[id].operand_count == 2) return tie_reduce(id);
  const auto known = std::ranges::find(all_beginnings, op, &Beginnings::op);
  const size_t rank = module_.shape(id).dims.size();
  const bool is_alike = std::ranges::all_of(module_.operands(id), [&](InstructionId operand) {
    const size_t of_operand = module_.shape(operand).dims.size();
    return of_operand == rank || of_operand == 0;
  });
  const bool keeps_dims = known != std::end(all_beginnings) || (is_elementwise(op) && is_alike);
  if (!keeps_dims) begin_everywhere(id);
  for (InstructionId operand : module_.operands(id)) {
    if (!keeps_dims) begin_everywhere(operand);
    else if (module_.shape(operand).dims.size() == rank)
      for (size_t d = 1; d < rank; ++d) pair(id, d, operand, d);
  }
  for (size_t d = 1; d < rank; ++d)
    if (known != std::end(all_beginnings) && known->begins(module_, id, d)) begin(id, d);
}

void CollapsibleDims::tie_broadcast(InstructionId id) {
  const InstructionId operand = module_.operand(id, 0);
  const Dims& to = module_.attributes<DimensionsAttributes>(id).dimensions;
  for (size_t k = 1; k < to.size(); ++k)
    if (to[k] != to[k - 1] + 1) begin(operand, k);
  for (size_t d = 1; d < module_.shape(id).dims.size(); ++d) {
    const size_t before = position_among(to, d - 1), here = position_among(to, d);
    if (before == to.size() && here == to.size()) continue;
    if (here == before + 1 && here < to.size()) pair(id, d, operand, here);
    else begin(id, d);
  }
}

// What is reduced and what is kept are apart.
void CollapsibleDims::tie_reduce(InstructionId id) {
  const InstructionId operand = module_.operand(id, 0);
  const Dims& reduced = module_.attributes<ReduceAttributes>(id).dimensions;
  size_t kept = 0;
  for (size_t d = 0; d < module_.shape(operand).dims.size(); ++d) {
    const bool is_kept = !is_among(reduced, d), is_beside = d > 0 && !is_among(reduced, d - 1);
    if (d > 0 && is_kept != is_beside) begin(operand, d);
    if (!is_kept) continue;
    if (kept > 0 && is_beside) pair(id, kept, operand, d);
    else if (kept > 0) begin(id, kept);
    ++kept;
  }
}

void CollapsibleDims::tie_transpose(InstructionId id) {
  const InstructionId operand = module_.operand(id, 0);
  const Dims& from = module_.attributes<DimensionsAttributes>(id).dimensions;
  for (size_t d = 1; d < from.size(); ++d) {
    if (from[d] == from[d - 1] + 1) pair(id, d, operand, static_cast<size_t>(from[d]));
    else begin(id, d);
    if (position_among(from, d) != position_among(from, d - 1) + 1) begin(operand, d);
  }
}

// But for dimensions of one place.
bool CollapsibleDims::is_one_run(InstructionId value, size_t first, size_t end) const {
  const Dims& dims = module_.shape(value).dims;
  bool is_behind_others = false, is_joined = true;
  for (size_t d = first; d < end; ++d) {
    is_joined &= d == first || joins(value, d);
    if (dims[d] == 1) continue;
    if (is_behind_others && !is_joined) return false;
    is_behind_others = is_joined = true;
  }
  return true;
}

// Its pieces are the fewest dimensions of the result that hold the elements of some of the
// operand's.
void CollapsibleDims::tie_reshape(InstructionId id) {
  const InstructionId operand = module_.operand(id, 0);
  const Dims &to = module_.shape(id).dims, &from = module_.shape(operand).dims;
  bool was_one = true;
  for (size_t d = 0, e = 0; d < to.size() && e < from.size();) {
    const size_t first = d, first_of_operand = e;
    int64_t here = to[d++], there = from[e++];
    while (here != there) here < there ? here *= to[d++] : there *= from[e++];
    while (d < to.size() && to[d] == 1) ++d;
    while (e < from.size() && from[e] == 1) ++e;
    const bool is_one = is_one_run(id, first, d) && is_one_run(operand, first_of_operand, e);
    if (first > 0) {
      if (!is_one || !was_one) begin(id, first);
      pair(id, first, operand, first_of_operand);
    }
    was_one = is_one;
  }
}

Dims CollapsibleDims::merged(InstructionId value) const {
  const Dims& dims = module_.shape(value).dims;
  Dims out;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (d > 0 && joins(value, d)) out.back() *= dims[d];
    else out.push_back(dims[d]);
  }
  return out;
}

namespace {

// For each run of dimensions the first one, and how many elements one place along it holds.
struct Run {
  size_t first;
  int64_t inner = 1;
};

std::vector<Run> runs_of(const CollapsibleDims& all, const Module& module, InstructionId value) {
  const Dims& dims = module.shape(value).dims;
  std::vector<Run> out;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (d > 0 && all.joins(value, d)) out.back().inner *= dims[d];
    else out.push_back({d});
  }
  return out;
}

// The numbers of the runs that begin at these dimensions.
Dims numbers_of(const std::vector<Run>& runs, const Dims& dims) {
  Dims out;
  for (int64_t dim : dims) {
    const auto run = std::ranges::find(runs, static_cast<size_t>(dim), &Run::first);
    if (run != runs.end()) out.push_back(run - runs.begin());
  }
  return out;
}

}  // namespace

void CollapsibleDims::merge_attributes(InstructionId from, Module& module, InstructionId to) const {
  const Op op = module[from].op;
  const std::vector<Run> runs = runs_of(*this, module_, from);
  if (op == Op::Slice) {
    auto& slice = module.mutable_attributes<SliceAttributes>(to).slice.dims;
    std::vector<SliceDim> out;
    for (const Run& run : runs)
      out.push_back({slice[run.first].start * run.inner, slice[run.first].limit * run.inner,
                     slice[run.first].stride});
    slice = std::move(out);
  } else if (op == Op::Pad) {
    auto& padding = module.mutable_attributes<PadAttributes>(to).padding.dims;
    std::vector<PaddingDim> out;
    for (const Run& run : runs)
      out.push_back({padding[run.first].low * run.inner, padding[run.first].high * run.inner,
                     padding[run.first].interior});
    padding = std::move(out);
  } else if (op == Op::Concatenate || op == Op::Reverse) {
    Dims& dims = module.mutable_attributes<DimensionsAttributes>(to).dimensions;
    dims = numbers_of(runs, dims);
  } else if (op == Op::Broadcast) {
    Dims& dims = module.mutable_attributes<DimensionsAttributes>(to).dimensions;
    dims = numbers_of(runs, dims);
  } else if (op == Op::Transpose || op == Op::Reduce) {
    const std::vector<Run> source = runs_of(*this, module_, module_.operand(from, 0));
    Dims& dims = op == Op::Reduce ? module.mutable_attributes<ReduceAttributes>(to).dimensions
                                  : module.mutable_attributes<DimensionsAttributes>(to).dimensions;
    dims = numbers_of(source, dims);
  } else if (op == Op::Reshape) {
    module.mutable_attributes<ReshapeAttributes>(to) = {};
  }
}

}  // namespace hilo
