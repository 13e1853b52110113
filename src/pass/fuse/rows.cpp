// Groups that keep whole rows at hand: reductions, and what works on the same rows.
#include <algorithm>

#include "pass/fuse/groups.h"
#include "pass/loop_limits.h"

namespace hilo {
namespace {

// Rows, where there is work for threads.
constexpr int64_t min_rows = 256, small_array_elements = 1 << 15;
// Lanes of all lines stay in the second cache: slabs in an eighth of it, or pieces of lines of them
// that are not too short to come from memory; of all there is, where half of it holds that. A line
// of few columns is one vector, and a longer chain of these takes longer than to reduce lines side
// by side.
constexpr int64_t column_bytes = 1 << 10;
constexpr int64_t narrow_columns = 32, max_narrow_lines = 512, max_lines = 4096,
                  max_slab_elements = 1024;

bool fits_row(const Shape& shape, const FusedRows& rows) {
  if (rows.are_in_slabs()) return shape.dims == rows.dims || shape.dims == rows.elements;
  const int64_t count = element_count(shape);
  return begins_with(shape.dims, rows.dims) && count > 0 &&
         count / element_count(rows.dims) <= longest_kept_row;
}

// Whether dimensions before some place are as many rows, numbered in other dimensions.
bool numbers_rows(const Shape& shape, const FusedRows& rows) {
  const int64_t count = element_count(rows.dims), all = element_count(shape);
  if (rows.are_in_slabs() || count == 0 || all == 0 || all / count > longest_kept_row) return false;
  int64_t product = 1;
  for (size_t d = 0; product < count && d < shape.dims.size(); ++d) product *= shape.dims[d];
  return product == count;
}

// Whether a reshape gives the rows, whole, of an array that numbers them in other dimensions.
bool renumbers_rows(const Module& module, InstructionId reshape, const FusedRows& rows) {
  const Shape &to = module.shape(reshape), &from = module.shape(module.operand(reshape, 0));
  if (!fits_row(to, rows) || !numbers_rows(from, rows)) return false;
  const Dims row(to.dims.begin() + std::ssize(rows.dims), to.dims.end());
  return row.size() <= from.dims.size() && std::equal(row.rbegin(), row.rend(), from.dims.rbegin());
}

// What stands in memory in another shape.
bool is_given(const Module& module, InstructionId id) {
  return module[id].op == Op::Reshape && module[module.operand(id, 0)].op == Op::Parameter;
}

// Whether what is reduced is made of numbers that are spread over such rows.
bool is_computed_from_rows(const Module& module, InstructionId reduce, const FusedRows& rows) {
  std::vector<InstructionId> seen = {module.operand(reduce, 0)};
  for (size_t i = 0; i < seen.size() && seen.size() < SearchBudget::max_visited; ++i) {
    if (module[seen[i]].op == Op::Broadcast && spreads_rows(module, seen[i], rows) &&
        rows_behind(module, module.operand(seen[i], 0)) == rows)
      return true;
    if (!is_by_element(module, seen[i])) continue;
    for (InstructionId operand : module.operands(seen[i]))
      if (std::ranges::count(seen, operand) == 0) seen.push_back(operand);
  }
  return false;
}

bool are_few_lines(int64_t lines, int64_t columns, int64_t slabs, int64_t bytes,
                   int64_t second_cache) {
  if (columns < narrow_columns && lines > max_narrow_lines) return false;
  const int64_t column = lines * bytes, slab = column * columns;
  return lines <= max_lines &&
         (slab <= second_cache / 8 || column <= column_bytes || slab * slabs <= second_cache / 2);
}

// Whether as many rows as are lanes stay in the cache, and there are enough of them.
bool are_worth_it(const FusedRows& rows, int64_t bytes, int64_t second_cache) {
  const int64_t count = element_count(rows.dims), elements = element_count(rows.elements);
  if (count == 0 || elements == count || (count < min_rows && elements > small_array_elements))
    return false;
  size_t outer = 0;
  while (rows.numbered[outer] == static_cast<int64_t>(outer)) ++outer;
  const auto first = rows.dims.begin() + static_cast<std::ptrdiff_t>(outer);
  const int64_t slabs = element_count(Dims(rows.dims.begin(), first));
  if (rows.dims.back() >= LoopLimits::min_lanes)
    return are_few_lines(elements / count, count / slabs, slabs, bytes, second_cache);
  return outer > 0 && rows.dims[outer - 1] >= LoopLimits::whole_lanes && rows.dims.back() > 1 &&
         elements / slabs <= max_slab_elements;
}

}  // namespace

std::optional<FusedRows> rows_of(const Module& module, InstructionId id) {
  if (module[id].op != Op::Reduce || module[id].operand_count != 2) return std::nullopt;
  const Dims& from = module.shape(module.operand(id, 0)).dims;
  const Dims& reduced = module.attributes<ReduceAttributes>(id).dimensions;
  FusedRows out;
  for (int64_t d = 0; d < std::ssize(from); ++d)
    if (std::ranges::count(reduced, d) == 0) out.numbered.push_back(d);
  for (int64_t d : out.numbered) out.dims.push_back(from[static_cast<size_t>(d)]);
  const bool are_leading = out.numbered.empty() || out.numbered.back() + 1 == std::ssize(out.dims);
  if (are_leading) out.numbered.clear();
  else if (out.numbered.back() + 1 == std::ssize(from)) out.elements = from;
  else return std::nullopt;
  return out;
}

bool spreads_rows(const Module& module, InstructionId broadcast, const FusedRows& rows) {
  const InstructionId from = module.operand(broadcast, 0);
  const Dims& dims = module.attributes<DimensionsAttributes>(broadcast).dimensions;
  if (module.shape(from).dims != rows.dims) return false;
  if (rows.are_in_slabs())
    return dims == rows.numbered && module.shape(broadcast).dims == rows.elements;
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != static_cast<int64_t>(i)) return false;
  return true;
}

std::optional<FusedRows> rows_behind(const Module& module, InstructionId id) {
  std::vector<InstructionId> stack = {id};
  for (size_t steps = 0; !stack.empty() && steps < SearchBudget::max_visited; ++steps) {
    const InstructionId top = stack.back();
    stack.pop_back();
    if (module.shape(top).dims != module.shape(id).dims) continue;
    if (module[top].op == Op::Reduce)
      if (const auto rows = rows_of(module, top)) return rows;
    if (is_elementwise(module[top].op))
      for (InstructionId operand : module.operands(top)) stack.push_back(operand);
  }
  return std::nullopt;
}

bool keeps_rows(const Module& module, InstructionId id, const FusedRows& rows) {
  if (is_sourceless(module, id) || is_given(module, id)) return true;
  const Op op = module[id].op;
  if (op == Op::Reshape) return renumbers_rows(module, id, rows);
  if (is_by_element(module, id) || op == Op::Broadcast)
    return fits_row(module.shape(id), rows) || numbers_rows(module.shape(id), rows);
  return fits_row(module.shape(id), rows) && rows_of(module, id) == rows;
}

// Whether the broadcast gives each row of a reduction one number, which is made once a row.
bool FusionGroups::is_of_reduced_rows(InstructionId value, InstructionId broadcast) const {
  const FusionGroup& group = groups_[group_of(broadcast)];
  const FusedRows rows = {module_.shape(value).dims};
  return module_[broadcast].op == Op::Broadcast && group.roots.size() == 1 && !group.rows &&
         rows_of(module_, group.roots[0]) == rows && spreads_rows(module_, broadcast, rows);
}

bool FusionGroups::can_fuse_rows(InstructionId id, const FusionGroup& group) const {
  if (module_[id].op == Op::Reduce)
    return rows_of(module_, id) == group.rows &&
           fits_row(module_.shape(module_.operand(id, 0)), *group.rows);
  return keeps_rows(module_, id, *group.rows);
}

// Whether a reduction of slabs, or what follows it, is spread over what the group has, or what is
// reduced is made of what is spread: else the loops of the reduction alone will do.
bool FusionGroups::starts_slabs(InstructionId id, const FusedRows& rows,
                                const FusionGroup& group) const {
  if (!options_.slabs || !are_worth_it(rows, storage_bytes(module_.shape(id).type), second_cache_))
    return false;
  const bool spreads_row = std::ranges::any_of(group.members, [&](InstructionId member) {
    return module_[member].op == Op::Broadcast && spreads_rows(module_, member, rows);
  });
  return spreads_row || (module_[id].op == Op::Reduce && is_computed_from_rows(module_, id, rows));
}

// A reduction, or what follows it, whose row is at hand where its value is wanted: everything
// between works on the same rows.
bool FusionGroups::starts_rows(InstructionId id, const FusedRows& rows,
                               const FusionGroup& group) const {
  if (group.kind == FusionKind::Output) return false;
  if (rows.are_in_slabs() && !starts_slabs(id, rows, group)) return false;
  if (module_[id].op == Op::Reduce && !fits_row(module_.shape(module_.operand(id, 0)), rows))
    return false;
  for (InstructionId user : users(id)) {
    const bool is_broadcast = module_[user].op == Op::Broadcast;
    if (repeated_[user.value] || (is_broadcast && !spreads_rows(module_, user, rows))) return false;
  }
  return std::ranges::all_of(group.members, [&](InstructionId member) {
    if (!keeps_rows(module_, member, rows)) return false;
    if (module_[member].op != Op::Broadcast) return true;
    const InstructionId from = module_.operand(member, 0);
    return group_of(from) != group_of(member) || is_sourceless(module_, from) ||
           is_given(module_, from) || spreads_rows(module_, member, rows);
  });
}

}  // namespace hilo
