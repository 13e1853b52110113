// Which instructions of some computations run as one. Private to `pass`.
#pragma once

#include <expected>
#include <map>
#include <set>
#include <unordered_map>

#include "pass/fuse/no_fusion.h"
#include "pass/pass.h"

namespace hilo {

// The rows that a group keeps at hand: the leading dimensions number them. Rows in slabs, as of
// [slabs, lines, columns] whose lines are reduced, are numbered by others of their elements'
// dimensions, the last one among them.
struct FusedRows {
  Dims dims;
  Dims elements = {}, numbered = {};  // of slabs
  bool are_in_slabs() const { return !elements.empty(); }
  bool operator==(const FusedRows&) const = default;
};

// Members follow users before operands. A group is convex: no path leaves it and comes back, so
// that it may stand where one instruction stood.
struct FusionGroup {
  FusionKind kind = FusionKind::Loop;
  std::vector<InstructionId> members;
  std::vector<InstructionId> roots;  // members that others use
  std::optional<FusedRows> rows;     // of a group that keeps whole ones at hand
  int transcendental = 0;            // members by their weights
  // Of a concatenation that has a loop for each operand, which makes that: no other loop will do.
  bool by_operands = false;
  int numbers_of_rows = 0;  // members that are computed once a row
};

// Operands of a concatenation that a loop computes where it reads them.
inline constexpr size_t max_concatenated = 4;
// Elements that are reduced where their sum is wanted: a loop over them would take longer than
// they.
inline constexpr int64_t short_reduction = 4;
// Elements of a row, and of all rows together where there is only one, that stay in the cache.
inline constexpr int64_t longest_kept_row = 65536;

// Ops that are recomputed wherever they are read, for that costs less than reading them: scalars
// and their broadcasts, iota, widening conversions.
bool is_free(const Module& module, InstructionId id);
// What a member counts for in FusionGroup::transcendental.
int transcendental_weight(const Module& module, InstructionId id);
// Arithmetic that costs little more than to read its result: an op or two on one array and numbers,
// as whether its elements are positive.
bool is_light(const Module& module, InstructionId id);
// Made of nothing: constants, iota, broadcasts of these.
bool is_sourceless(const Module& module, InstructionId id);
// An array of plain layout and fixed sizes.
bool is_dense_static_array(const Module& module, InstructionId id);
// Each element is made of those at its own place in the operands: what is elementwise, and bits
// that are taken for another type of their width.
bool is_by_element(const Module& module, InstructionId id);
// Whether `user` may compute what it reads of `value` itself, and whether it asks for elements of
// it more than once.
FusionDecision reads_elements(const Module& module, InstructionId user, InstructionId value);
bool reads_repeatedly(const Module& module, InstructionId user, InstructionId value);
// A reshape that adds or drops dimensions of one element: places need no division.
bool is_degenerate_reshape(const Module& module, InstructionId id);
// Whether an elementwise loop would look for each element in one of many operands.
bool is_choice_of_many(const Module& module, InstructionId id);
// Whether each element that is read of what stands side by side takes complex arithmetic for all of
// it.
bool is_costly_choice(const Module& module, InstructionId user, InstructionId value);
// The rows of a reduction of one array over trailing dimensions, or over lines of slabs; and those
// of the reduction that elementwise ops on its result come from.
std::optional<FusedRows> rows_of(const Module& module, InstructionId id);
std::optional<FusedRows> rows_behind(const Module& module, InstructionId id);
// Whether the instruction's row needs only rows of the same number, or what does not depend on it.
// Of broadcasts see spreads_rows.
bool keeps_rows(const Module& module, InstructionId id, const FusedRows& rows);
// Whether a broadcast is of one number for each row. Others read from memory, or are of nothing.
bool spreads_rows(const Module& module, InstructionId broadcast, const FusedRows& rows);
// Whether a reduce-window of one array asks for each of its elements once at most, and whether
// its loops may then compute this instruction where they ask for its elements.
bool reads_each_once(const Module& module, InstructionId windows);
bool can_fuse_windows(const Module& module, InstructionId windows, InstructionId id);

class FusionGroups {
 public:
#define LIMIT(name, value) static constexpr size_t name = value;
#include "pass/fuse/group_limits.def"
#undef LIMIT
  // Their code is long, and the time to compile a loop grows faster than its length.
  static constexpr int max_transcendental = 96;

  FusionGroups(const Editor& editor, std::span<const ComputationId> computations,
               const PassOptions& options);
  // Joins groups of one loop over the same elements that read each other or the same array.
  void merge_outputs();
  // Takes results apart that cost less to recompute in each group that reads them.
  void rematerialize_cheap();
  // Takes parts of complex results out of the results.
  void read_parts_of_complex(Editor& editor);
  // Tells PassOptions::fusion_decided of each producer and consumer, in the order of instructions,
  // where groups become fusions as is said. Decisions are recorded only for who asks.
  using BecomesFusion = std::function<bool(const FusionGroup& group)>;
  void tell_decisions(const BecomesFusion& becomes_fusion) const;

  const std::vector<FusionGroup>& groups() const { return groups_; }
  // The group of an instruction, or -1.
  int group_of(InstructionId id) const { return id.value < of_.size() ? of_[id.value] : -1; }
  // Whether groups that read it and do not hold it make it themselves.
  bool is_rematerialized(InstructionId id) const {
    return (id.value < rematerialized_.size() && rematerialized_[id.value]) || is_free(module_, id);
  }
  // Whether this group does.
  bool rematerializes(const FusionGroup& group, InstructionId id) const {
    return is_rematerialized(id) && (module_[group.roots[0]].op != Op::ReduceWindow ||
                                     can_fuse_windows(module_, group.roots[0], id));
  }
  // Whether the group's fusion computes a value that is no member of it. An array that is written
  // over is not read by another way.
  bool may_copy_into(const FusionGroup& group, InstructionId id) const {
    const bool writes = module_[group.roots[0]].op == Op::DynamicUpdateSlice;
    return is_dense_static_array(module_, id) && !editor_.is_pinned(id) &&
           rematerializes(group, id) && (!writes || is_sourceless(module_, id));
  }

 private:
  // Instructions that a value is made of, and what they read.
  struct Rematerialization {
    std::vector<InstructionId> made, sources;
    std::vector<InstructionId> stored = {};  // of the sources: parts of the value's group till now
    int max_code_copies = 1;                 // at which an element of one of them is computed
    size_t arithmetic = 0;                   // elementwise ops among them
  };
  // As Module::users, which makes a list of them: questions of one value are many.
  std::span<const InstructionId> users(InstructionId id) const {
    return std::span(users_).subspan(first_user_[id.value],
                                     first_user_[id.value + 1] - first_user_[id.value]);
  }
  void find_users();
  FusionDecision is_fusible(InstructionId id) const;
  void assign_group(InstructionId id);
  int only_group_of_users(InstructionId id) const;
  bool is_read_by_groups(InstructionId id) const;
  bool is_computed_from_other_parts(InstructionId update) const;
  bool may_choose_update(InstructionId id, const FusionGroup& group) const;
  bool is_chosen(InstructionId id, InstructionId user, const FusionGroup& group) const;
  FusionDecision fits_group(InstructionId id, const FusionGroup& group) const;
  FusionDecision can_fuse(InstructionId id, FusionGroup& group);
  bool is_computed_by_operand(InstructionId id, InstructionId user, const FusionGroup& group) const;
  FusionDecision count_code_copies(InstructionId id, const FusionGroup& group);
  int max_code_copies(InstructionId id, const FusionGroup& group) const;
  bool can_fuse_rows(InstructionId id, const FusionGroup& group) const;
  bool starts_slabs(InstructionId id, const FusedRows& rows, const FusionGroup& group) const;
  bool starts_rows(InstructionId id, const FusedRows& rows, const FusionGroup& group) const;
  FusionDecision is_duplication_cheap(InstructionId id, const FusionGroup& group) const;
  bool is_computed_once_per_line(InstructionId id, InstructionId broadcast) const;
  bool is_computed_once_per_row(InstructionId id, InstructionId broadcast) const;
  FusionDecision can_fuse_row_scalars(InstructionId id, const FusionGroup& group) const;
  bool can_fuse_product(InstructionId id, const FusionGroup& group) const;
  void merge_once();
  void merge_with_producers(int consumer);
  void merge_readers(const std::vector<int>& readers);
  FusionDecision may_merge(int a, int b);
  FusionDecision may_merge_producer(int consumer, int producer);
  bool keeps_operands(int consumer, int producer) const;
  bool reaches(int from, int to);
  bool needs_carried(int writer, int reader) const;
  bool reads_elsewhere(int group, InstructionId value) const;
  void find_controlled();
  void find_carried(ComputationId body);
  bool is_needed_outside(InstructionId root, int a, int b) const;
  size_t count_roots(int a, int b) const;
  void merge(int into, int from);
  using RematerializationDecision = std::expected<Rematerialization, FusionDecision>;
  RematerializationDecision rematerialization_of(InstructionId value) const;
  bool is_part_to_store(InstructionId id, InstructionId value) const;
  bool is_root(InstructionId id) const;
  bool reads(int group, InstructionId value) const;
  FusionDecision is_less_traffic(InstructionId value, const Rematerialization& candidate,
                                 const std::set<int>& readers) const;
  FusionDecision is_repetition_cheap(const Rematerialization& candidate, InstructionId value,
                                     InstructionId user) const;
  FusionDecision can_rematerialize(const Rematerialization& candidate, InstructionId value,
                                   InstructionId user) const;
  RematerializationDecision rematerialization_for_readers(InstructionId value) const;
  void read_part(Editor& editor, InstructionId whole, int64_t place, Op op);
  bool is_of_reduced_rows(InstructionId value, InstructionId broadcast) const;
  void leave_unread(FusionGroup& group);
  void record_join(InstructionId producer, const FusionDecision& decision);
  void record_merge(int consumer, int producer, const FusionDecision& decision);
  void record_recompute(InstructionId producer, const FusionDecision& decision);
  FusionDecision readers_decision(InstructionId producer) const;
  bool is_told(InstructionId producer, InstructionId consumer) const;
  bool recomputes(InstructionId consumer, InstructionId producer) const;
  std::vector<FusionPair::Refusal> refusals_of(InstructionId producer,
                                               InstructionId consumer) const;
  FusionPair explain(InstructionId producer, InstructionId consumer,
                     const BecomesFusion& becomes_fusion) const;

  const Editor& editor_;
  const Module& module_;
  const FusionOptions options_;
  const int64_t second_cache_;  // bytes
  const decltype(PassOptions::fusion_decided)& decided_;
  std::vector<size_t> first_user_;  // by instruction, and behind the last one
  std::vector<InstructionId> users_;
  std::vector<InstructionId> order_;
  std::vector<FusionGroup> groups_;
  std::vector<int> of_;               // group by instruction
  std::vector<bool> repeated_;        // its elements are computed more than once in its group
  std::vector<bool> by_rows_;         // its elements are computed once for each row of the group
  std::vector<bool> rematerialized_;  // by groups that do not hold it
  // At how many places the code of its group computes an element, and who asks for them.
  struct CodeCopies {
    int count = 0;
    std::vector<InstructionId> askers;
  };
  std::vector<CodeCopies> code_copies_;
  std::vector<int64_t> position_;  // in the order
  std::vector<int> chain_;         // functions one after the other that an element comes from
  // What must wait for an instruction without using it.
  std::unordered_map<uint32_t, std::vector<InstructionId>> controlled_;
  // What a loop's body had in the place of its result: see find_carried().
  std::unordered_map<uint32_t, InstructionId> carried_before_;
  size_t merges_ = 0;               // so far
  std::vector<uint32_t> searched_;  // by instruction: the last search for a path that saw it
  uint32_t searches_ = 0;           // so far
  // The last answers, by producer, and by producer and consumer.
  struct Refusals {
    std::map<InstructionId, FusionDecision> joins, recomputes;
    std::map<std::pair<InstructionId, InstructionId>, FusionDecision> merges;
  };
  std::optional<Refusals> refusals_;  // where `decided_` asks
};

}  // namespace hilo
