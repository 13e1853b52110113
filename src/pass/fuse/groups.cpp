// Groups grow from users to operands: an instruction joins the group that all its users are in,
// which keeps groups convex without looking for paths.
#include "pass/fuse/groups.h"

#include <algorithm>
#include <numeric>

#include "pass/loop_limits.h"
#include "pass/second_cache.h"

namespace hilo {
namespace {

// Columns of lines whose other dimensions are reduced, the elements of a line in one of them that
// are computed together, and lines.
constexpr int64_t max_columns = 256, min_line = 32, longest_kept_line = 8192, min_lines = 16;

// How often a group computes an element of cheap arithmetic, and members of such a group.
constexpr int64_t max_duplicates = 2;
constexpr size_t max_repeated = 16;
// Ops that a group computes once a row.
constexpr int max_ops_per_row = 12;

// Of so many elements of a table one: where single ones are asked for, each is found by itself.
constexpr int64_t sparse_lookup_ratio = 4;

// Elements come from other places, each result from one.
bool is_mover(Op op) {
  const bool is_source = op == Op::Iota || op == Op::Constant;
  return has_trait(op, TraitByDimension) || op == Op::Reshape || is_source ||
         op == Op::DynamicSlice;
}

// Arrays, and reductions that give several.
bool has_dense_static_result(const Module& module, InstructionId id, bool several) {
  const Shape& shape = module.shape(id);
  if (!several || module[id].op != Op::Reduce || !shape.is_tuple())
    return is_dense_static_array(module, id);
  return is_plain(shape) && is_static(shape);
}

// The element of an update that a place chooses, or does not, is computed for each place.
bool is_chosen_update(const Module& module, InstructionId id, InstructionId user) {
  return module[user].op == Op::DynamicUpdateSlice && module.operand(user, 1) == id;
}

// A group that writes into an array reads of it only what it writes over.
bool reads_what_is_written(const Module& module, InstructionId id, InstructionId root) {
  if (module[root].op != Op::DynamicUpdateSlice) return false;
  const auto written = module.operands(root), operands = module.operands(id);
  if (std::ranges::find(operands, written[0]) == operands.end()) return false;
  return !reads_only_updated_slice(module, id, root);
}

// A reduction of a few elements to one, which other loops compute as they do elementwise ops.
bool is_short_reduction(const Module& module, InstructionId id) {
  if (module[id].op != Op::Reduce || module[id].operand_count != 2) return false;
  int64_t count = 1;
  for (int64_t d : module.attributes<ReduceAttributes>(id).dimensions)
    count *= module.shape(module.operand(id, 0)).dims[static_cast<size_t>(d)];
  return count > 0 && count <= short_reduction;
}

bool is_expanded(const Module& module, InstructionId id) {
  for (InstructionId user : module.users(id))
    if (is_elementwise(module[id].op) && reads_repeatedly(module, user, id)) return true;
  return false;
}

// A broadcast or a conversion that may be one loop with what it reads.
bool is_computed_from_arrays(const Module& module, InstructionId id) {
  const Op op = module[id].op;
  return (op == Op::Broadcast || op == Op::Convert) && !is_sourceless(module, id) &&
         !module.shape(module.operand(id, 0)).is_scalar();
}

// What finds its elements by divisions, or in one of a few arrays.
bool is_moved_with_choices(const Module& module, InstructionId id) {
  const Op op = module[id].op;
  return op == Op::Reshape ||
         (op == Op::Concatenate && module.operands(id).size() <= max_concatenated);
}

// Whether an element is as easily made at any place as in the order of the array: no row that a
// reduction would have at hand is asked for again. Where few or slices are asked for, as well with
// choices.
bool is_computed_anywhere(const Module& module, InstructionId id, bool with_choices) {
  std::vector<InstructionId> seen = {id};
  for (size_t i = 0; i < seen.size(); ++i) {
    const Op op = module[seen[i]].op;
    const bool is_computed_here = is_by_element(module, seen[i]) ||
                                  (has_trait(op, TraitByDimension) && op != Op::Concatenate) ||
                                  (with_choices && is_moved_with_choices(module, seen[i])) ||
                                  is_degenerate_reshape(module, seen[i]);
    if (op == Op::Reduce || seen.size() > SearchBudget::max_visited ||
        (i == 0 && !is_computed_here))
      return false;
    if (!is_computed_here) continue;
    for (InstructionId operand : module.operands(seen[i]))
      if (std::ranges::find(seen, operand) == seen.end()) seen.push_back(operand);
  }
  return true;
}

// Transposes into what is repeated or converted: they are better made in tiles by themselves,
// unless lines stay whole.
bool is_transposed_for_copies(const Module& module, InstructionId id, InstructionId root) {
  if (module[id].op != Op::Transpose || !is_computed_from_arrays(module, root)) return false;
  const Dims& from = module.attributes<DimensionsAttributes>(id).dimensions;
  return from.back() + 1 != std::ssize(from) ||
         module.shape(id).dims.back() < LoopLimits::short_row;
}

// Whether a value is cheap arithmetic on arrays that are no larger together, what others read of
// it included; arguments are there anyway.
bool is_computed_from_no_more(const Module& module, InstructionId value) {
  std::vector<InstructionId> made = {value}, stored;
  for (size_t i = 0; i < made.size(); ++i)
    for (InstructionId operand : module.operands(made[i])) {
      const Op op = module[operand].op;
      if (is_sourceless(module, operand) || module.shape(operand).is_scalar()) continue;
      const bool is_recomputed =
          has_trait(op, TraitCheap) || (is_mover(op) && op != Op::Concatenate);
      std::vector<InstructionId>& list = is_recomputed ? made : stored;
      if (std::ranges::count(list, operand) == 0) list.push_back(operand);
      if (made.size() > max_repeated) return false;
    }
  int64_t bytes = 0;
  const auto is_inside = [&](InstructionId user) { return std::ranges::count(made, user) > 0; };
  for (InstructionId id : made)
    if (id != value && !std::ranges::all_of(module.users(id), is_inside))
      bytes += literal_bytes(module.shape(id));
  for (InstructionId id : stored)
    if (module[id].op != Op::Parameter || module[id].computation != module.entry)
      bytes += literal_bytes(module.shape(id));
  return bytes <= literal_bytes(module.shape(value));
}

// Whether a concatenation that is a loop's result has a loop for each operand, or one for all of
// them (emit/concatenate.cpp, emit/partition_points.h).
bool has_loops_by_operand(const Module& module, InstructionId joined) {
  const auto parts = module.operands(joined);
  const Dims &dims = module.shape(joined).dims, &first = module.shape(parts[0]).dims;
  const auto dim = module.attributes<DimensionsAttributes>(joined).dimensions[0];
  const auto each_from = [](const Dims& dims, int64_t d) {
    return element_count(Dims(dims.begin() + d, dims.end()));
  };
  const auto is_alike = [&](InstructionId part) { return module.shape(part).dims == first; };
  const auto count = std::ssize(parts);
  if (is_choice_of_many(module, joined)) return false;
  if (count <= LoopLimits::max_together && std::ranges::all_of(parts, is_alike) &&
      each_from(first, dim) >= LoopLimits::shortest_together)
    return true;
  if (element_count(Dims(dims.begin(), dims.begin() + dim)) < LoopLimits::fewest_joined_rows)
    return each_from(dims, dim + 1) >= LoopLimits::shortest_joined;
  return each_from(dims, dim) >= LoopLimits::shortest_joined || each_from(dims, dim) == count;
}

}  // namespace

FusionDecision reads_elements(const Module& module, InstructionId user, InstructionId value) {
  const Op op = module[user].op;
  if (op == Op::Dot) return NoFusion::ReadByProduct;
  // Of a table only what is asked for, where that is no more than all of it.
  if (op == Op::Gather && module.operand(user, 0) == value) {
    const int64_t asked = element_count(module.shape(user)),
                  all = element_count(module.shape(value));
    const bool in_slices = !module.attributes<GatherAttributes>(user).offset_dims.empty();
    if (asked > all) return {NoFusion::LookedUpOften, asked, all};
    if (module.operand(user, 1) == value ||
        !is_computed_anywhere(module, value, in_slices || asked * sparse_lookup_ratio <= all))
      return NoFusion::LookedUpSlowly;
    return {};
  }
  // A loop over what stands side by side computes all of it for each element.
  if (op == Op::Concatenate) {
    const Op value_op = module[value].op;
    if (module.operands(user).size() > max_concatenated)
      return {NoFusion::ManyOperands, std::ssize(module.operands(user)), max_concatenated};
    if (value_op == Op::Reduce || (is_elementwise(value_op) && !has_trait(value_op, TraitCheap)))
      return NoFusion::CostlyOperand;
  }
  // Written in place, and the scalars that say where.
  if (op == Op::DynamicUpdateSlice &&
      (module.operand(user, 1) != value || module.operand(user, 0) == value))
    return NoFusion::WrittenInPlace;
  return {};
}

FusionGroups::FusionGroups(const Editor& editor, std::span<const ComputationId> computations,
                           const PassOptions& options)
    : editor_(editor),
      module_(editor.module()),
      options_(options.fusion),
      second_cache_(second_cache_bytes(options)),
      decided_(options.fusion_decided),
      of_(editor.module().instructions.size(), -1),
      repeated_(of_.size()),
      by_rows_(of_.size()),
      rematerialized_(of_.size()),
      code_copies_(of_.size()),
      position_(of_.size()),
      chain_(of_.size()),
      searched_(of_.size()) {
  if (decided_) refusals_.emplace();
  find_users();
  for (ComputationId computation : computations) {
    find_carried(computation);
    const std::vector<InstructionId> order = operands_first(module_, computation);
    order_.insert(order_.end(), order.begin(), order.end());
  }
  for (size_t i = 0; i < order_.size(); ++i) position_[order_[i].value] = static_cast<int64_t>(i);
  for (InstructionId id : order_) {
    const Op op = module_[id].op;
    if (op == Op::Broadcast || (!is_by_element(module_, id) && !is_mover(op)) || !is_fusible(id))
      continue;
    for (InstructionId operand : module_.operands(id))
      chain_[id.value] = std::max(chain_[id.value], chain_[operand.value]);
    chain_[id.value] += is_elementwise(op);
  }
  for (size_t i = order_.size(); i-- > 0;)
    if (const FusionDecision decision = is_fusible(order_[i])) assign_group(order_[i]);
    else record_join(order_[i], decision);
}

void FusionGroups::find_users() {
  const size_t count = module_.instructions.size();
  first_user_.resize(count + 1);
  const auto for_each_use = [&](auto visit) {
    for (uint32_t i = 0; i < count; ++i)
      if (!module_.instructions[i].removed)
        for (InstructionId operand : module_.operands({i})) visit(operand, InstructionId{i});
  };
  for_each_use([&](InstructionId value, InstructionId) { ++first_user_[value.value]; });
  std::exclusive_scan(first_user_.begin(), first_user_.end(), first_user_.begin(), size_t{0});
  users_.resize(first_user_.back());
  std::vector<size_t> next = first_user_;
  for_each_use(
      [&](InstructionId value, InstructionId user) { users_[next[value.value]++] = user; });
}

FusionDecision FusionGroups::is_fusible(InstructionId id) const {
  const Op op = module_[id].op;
  const bool known = (is_by_element(module_, id) && op != Op::Gather) || is_mover(op) ||
                     op == Op::Reduce || op == Op::DynamicUpdateSlice ||
                     (op == Op::Dot && options_.products) ||
                     (op == Op::Gather && options_.gathers) ||
                     (op == Op::ReduceWindow && options_.windows && reads_each_once(module_, id));
  if (!known) return NoFusion::NoLoop;
  if (!has_dense_static_result(module_, id, options_.several_reduced))
    return NoFusion::SparseOrDynamic;
  if (editor_.is_pinned(id) || editor_.effects().has(id)) return NoFusion::OrderedByEffects;
  if (op == Op::Constant && !module_.shape(id).is_scalar()) return NoFusion::ConstantArray;
  if (!options_.complex && is_complex(module_.shape(id).type)) return NoFusion::ComplexNumbers;
  for (InstructionId operand : module_.operands(id))
    if (!is_dense_static_array(module_, operand)) return NoFusion::ReadsNoArray;
  return {};
}

void FusionGroups::assign_group(InstructionId id) {
  const bool is_root = module_[module_[id].computation].root == id;
  if (!is_root && !module_.has_users(id)) return;
  const Op op = module_[id].op;
  const int number = only_group_of_users(id);
  const FusionDecision decision =
      number >= 0 ? can_fuse(id, groups_[number]) : FusionDecision(NoFusion::ReadersApart);
  if (decision) {
    FusionGroup& group = groups_[number];
    if (op == Op::Dot) group.kind = FusionKind::Output;
    if (op == Op::Reduce && group.rows) group.kind = FusionKind::Input;
    group.members.push_back(id);
    group.transcendental += transcendental_weight(module_, id);
    of_[id.value] = number;
    return;
  }
  if (refusals_) record_join(id, number >= 0 ? decision : readers_decision(id));
  repeated_[id.value] = by_rows_[id.value] = false;
  if (number < 0 && !is_read_by_groups(id)) {
    if (op == Op::Reshape || (is_free(module_, id) && !is_computed_from_arrays(module_, id)))
      return;
  } else if (is_free(module_, id)) {
    return;
  }
  code_copies_[id.value] = {1, {id}};
  of_[id.value] = static_cast<int>(groups_.size());
  const FusionKind kind = op == Op::Reduce || op == Op::ReduceWindow ? FusionKind::Input
                          : op == Op::Dot                            ? FusionKind::Output
                                                                     : FusionKind::Loop;
  groups_.push_back({kind, {id}, {id}, std::nullopt, transcendental_weight(module_, id)});
}

// -1 where a user is in none, or they are in more than one.
int FusionGroups::only_group_of_users(InstructionId id) const {
  if (module_[module_[id].computation].root == id) return -1;
  int out = -1;
  for (InstructionId user : users(id)) {
    const int group = group_of(user);
    if (group < 0 || (out >= 0 && out != group)) return -1;
    out = group;
  }
  return out;
}

bool FusionGroups::is_read_by_groups(InstructionId id) const {
  return std::ranges::any_of(users(id), [&](InstructionId user) { return group_of(user) >= 0; });
}

// Whether one loop with the update would leave out slices that it is made of: those that take
// another part of what is written over. Then the update is better made whole before it is written.
bool FusionGroups::is_computed_from_other_parts(InstructionId update) const {
  std::vector<InstructionId> seen = {module_.operand(update, 1)};
  for (size_t i = 0; i < seen.size() && seen.size() < max_members; ++i) {
    if (!is_fusible(seen[i]) || module_[seen[i]].op == Op::DynamicUpdateSlice) continue;
    if (reads_what_is_written(module_, seen[i], update)) return true;
    for (InstructionId operand : module_.operands(seen[i]))
      if (std::ranges::count(seen, operand) == 0) seen.push_back(operand);
  }
  return false;
}

// What the group takes from no reader.
FusionDecision FusionGroups::fits_group(InstructionId id, const FusionGroup& group) const {
  const InstructionId root = group.roots[0];
  const Op op = module_[id].op, root_op = module_[root].op;
  const int weight = transcendental_weight(module_, id);
  if (group.members.size() >= max_members)
    return {NoFusion::ManyMembers, std::ssize(group.members) + 1, max_members};
  if (weight > 0 && group.transcendental >= max_transcendental)
    return {NoFusion::ManyTranscendentals, group.transcendental + weight, max_transcendental};
  if (op == Op::ReduceWindow) return NoFusion::OwnWindows;
  if (is_choice_of_many(module_, id))
    return {NoFusion::ChoiceOfMany, std::ssize(module_.operands(id))};
  if (op == Op::DynamicUpdateSlice && !may_choose_update(id, group))
    return NoFusion::UpdateNoChoice;
  if (root_op == Op::ReduceWindow && !can_fuse_windows(module_, root, id))
    return NoFusion::WindowsReadOtherwise;
  if (reads_what_is_written(module_, id, root)) return NoFusion::ReadsWhatIsWritten;
  if (is_transposed_for_copies(module_, id, root)) return NoFusion::TransposedForCopies;
  if (root_op == Op::DynamicUpdateSlice && module_.operand(root, 1) == id &&
      is_computed_from_other_parts(root))
    return NoFusion::UpdateOfOtherSlices;
  return {};
}

FusionDecision FusionGroups::can_fuse(InstructionId id, FusionGroup& group) {
  const InstructionId root = group.roots[0];
  if (const FusionDecision fits = fits_group(id, group); !fits) return fits;
  if (!group.rows && (module_[id].op == Op::Reduce || is_expanded(module_, id))) {
    const auto rows = rows_behind(module_, id);
    if (rows && starts_rows(id, *rows, group)) {
      group.rows = rows;
      return {};
    }
    if (module_[id].op == Op::Reduce && !is_short_reduction(module_, id))
      return NoFusion::ReductionOfOtherRows;
  }
  bool is_repeated = false, by_operands = false, by_rows = false;
  for (InstructionId user : users(id)) {
    const bool by_operand = is_computed_by_operand(id, user, group);
    if (!by_operand && !is_chosen(id, user, group))
      if (const FusionDecision reads = reads_elements(module_, user, id); !reads) return reads;
    if (user != root && is_costly_choice(module_, user, id)) return NoFusion::ComplexOperand;
    by_operands |= by_operand;
    const bool is_broadcast =
        group.rows && module_[user].op == Op::Broadcast && spreads_rows(module_, user, *group.rows);
    if (group.rows && module_[user].op == Op::Broadcast && !is_broadcast &&
        !is_sourceless(module_, id))
      return NoFusion::BroadcastOfOtherRows;
    is_repeated = is_repeated || repeated_[user.value] ||
                  (user != root && is_chosen_update(module_, id, user)) ||
                  (reads_repeatedly(module_, user, id) && !is_broadcast &&
                   !is_computed_once_per_line(id, user) && !is_computed_once_per_row(id, user));
    by_rows |= by_rows_[user.value] || is_computed_once_per_row(id, user);
  }
  repeated_[id.value] = is_repeated;
  by_rows_[id.value] = by_rows;
  if (const FusionDecision copies = count_code_copies(id, group); !copies) return copies;
  if (by_rows)
    if (const FusionDecision scalars = can_fuse_row_scalars(id, group); !scalars) return scalars;
  if (module_[id].op == Op::Dot) {
    if (is_repeated) return NoFusion::ProductRepeated;
    return can_fuse_product(id, group) ? FusionDecision() : NoFusion::NoEpilogue;
  }
  if (group.rows) return can_fuse_rows(id, group) ? FusionDecision() : NoFusion::OtherRows;
  const bool is_computed =
      is_elementwise(module_[id].op) || is_lookup(module_, id) || module_[id].op == Op::Reduce;
  if (is_repeated && is_computed)
    if (const FusionDecision cheap = is_duplication_cheap(id, group); !cheap) return cheap;
  group.by_operands |= by_operands;
  group.numbers_of_rows += by_rows;
  return {};
}

// Whether the value is an operand of the concatenation that the group gives, whose loops make it
// alone: it may then cost more than others, and there may be many.
bool FusionGroups::is_computed_by_operand(InstructionId id, InstructionId user,
                                          const FusionGroup& group) const {
  return group.roots.size() == 1 && group.roots[0] == user && !group.rows &&
         module_[user].op == Op::Concatenate && module_[id].op != Op::Reduce &&
         (module_[id].op != Op::Concatenate || is_moved_with_choices(module_, id)) &&
         has_loops_by_operand(module_, user);
}

// Whether the group computes no more elements of cheap arithmetic for all its copies than it would
// store and read.
FusionDecision FusionGroups::is_duplication_cheap(InstructionId id,
                                                  const FusionGroup& group) const {
  const InstructionId root = group.roots[0];
  const int64_t own = element_count(module_.shape(id)), all = element_count(module_.shape(root));
  if (!has_trait(module_[id].op, TraitCheap)) return NoFusion::CostlyRepeated;
  if (module_[root].op == Op::Reduce || group.kind != FusionKind::Loop)
    return NoFusion::RepeatedInReduction;
  if (group.members.size() > 2 * max_repeated)
    return {NoFusion::RepeatedInLongLoop, std::ssize(group.members), 2 * max_repeated};
  if (all > max_duplicates * own)
    return {NoFusion::Repeated, own > 0 ? (all + own - 1) / own : all, max_duplicates};
  const auto is_repeated_too = [&](InstructionId user) {
    return repeated_[user.value] && is_elementwise(module_[user].op);
  };
  if (std::ranges::any_of(users(id), is_repeated_too)) return {};
  return is_computed_from_no_more(module_, id) ? FusionDecision() : NoFusion::RepeatedFromMore;
}

// Whether the group reduces lines of a few columns each and the broadcast spreads the value over
// these: the loops make it once for all columns. Lines are long, so that lanes are full, and there
// are enough of them for all threads.
bool FusionGroups::is_computed_once_per_line(InstructionId id, InstructionId broadcast) const {
  const FusionGroup& group = groups_[group_of(broadcast)];
  const InstructionId root = group.roots[0];
  if (group.rows || module_[root].op != Op::Reduce || module_[root].operand_count != 2 ||
      !is_by_element(module_, id) || code_copies_[broadcast.value].askers != std::vector{root})
    return false;
  const Dims& dims = module_.shape(module_.operand(root, 0)).dims;
  if (dims.size() < 3 || module_.shape(broadcast).dims != dims ||
      module_.attributes<ReduceAttributes>(root).dimensions !=
          Dims{static_cast<int64_t>(dims.size()) - 2})
    return false;
  const Dims lines(dims.begin(), dims.end() - 1);
  const int64_t line = lines.back();
  return spreads_rows(module_, broadcast, {lines}) && dims.back() <= max_columns &&
         line >= min_line && line <= longest_kept_line && element_count(lines) >= min_lines * line;
}

// Whether the broadcast spreads the value over long rows of an elementwise loop, which makes it
// once a row: vectors make and store it for short ones in less time.
bool FusionGroups::is_computed_once_per_row(InstructionId id, InstructionId broadcast) const {
  if (module_[broadcast].op != Op::Broadcast || !is_elementwise(module_[id].op)) return false;
  const FusionGroup& group = groups_[group_of(broadcast)];
  const InstructionId root = group.roots[0];
  return group.kind == FusionKind::Loop && !group.rows && is_by_element(module_, root) &&
         module_.shape(broadcast).dims == module_.shape(root).dims &&
         element_count(module_.shape(id)) * min_line <= element_count(module_.shape(root)) &&
         code_copies_[broadcast.value].askers == std::vector{root} && !repeated_[broadcast.value] &&
         spreads_rows(module_, broadcast, {module_.shape(id).dims});
}

// One number at a time, without vectors.
FusionDecision FusionGroups::can_fuse_row_scalars(InstructionId id,
                                                  const FusionGroup& group) const {
  if (!is_elementwise(module_[id].op)) return {};
  if (!has_trait(module_[id].op, TraitCheap)) return NoFusion::CostlyOfRow;
  if (group.numbers_of_rows >= max_ops_per_row)
    return {NoFusion::ManyOfRow, group.numbers_of_rows + 1, max_ops_per_row};
  return {};
}

// A matrix product with what follows element by element.
bool FusionGroups::can_fuse_product(InstructionId id, const FusionGroup& group) const {
  if (group.kind != FusionKind::Loop || group.rows) return false;
  const Dims& dims = module_.shape(id).dims;
  for (InstructionId member : group.members)
    if (!is_elementwise(module_[member].op) && module_[member].op != Op::Broadcast) return false;
  for (InstructionId user : users(id))
    if (!is_elementwise(module_[user].op) || module_.shape(user).dims != dims) return false;
  return module_.shape(group.roots[0]).dims == dims;
}

}  // namespace hilo
