// Results that cost less to recompute where they are read than to store and to read: cheap
// arithmetic on a few arrays that are no larger, parts of these and their elements in other shapes.
// Pairwise differences of points that two sums read are never stored, as little as an array less
// its mean.
#include <algorithm>
#include <map>
#include <set>

#include "pass/fuse/groups.h"

namespace hilo {
namespace {

constexpr size_t max_recomputed_ops = 8;  // elementwise ops that one result is made of
constexpr size_t max_readers = 8;         // groups

// Elementwise ops that are made more often than the result has elements, and how often.
constexpr size_t max_repeated = 4;
constexpr int64_t max_recomputations = 4;

int64_t bytes_of(const Module& module, InstructionId id) { return literal_bytes(module.shape(id)); }

// Of the loop that makes the root.
int64_t iterations_of_loop(const Module& module, InstructionId root) {
  const bool is_reduced = module[root].op == Op::Reduce || module[root].op == Op::ReduceWindow;
  return element_count(module.shape(is_reduced ? module.operand(root, 0) : root));
}

std::unexpected<FusionDecision> refused(FusionDecision decision) {
  return std::unexpected(decision);
}

}  // namespace

// What must be done for an element of the value: refused if that is more than a few cheap ops on
// what memory holds.
// Slices, reversals and reshapes ask for elements at places of their own: each is made there, and
// counts. What is small and costs more is stored in the value's stead. To read backwards takes
// longer: what stays in the second cache is better stored.
FusionGroups::RematerializationDecision FusionGroups::rematerialization_of(
    InstructionId value) const {
  Rematerialization out;
  using Asked = std::pair<InstructionId, std::vector<InstructionId>>;  // and through which movers
  std::vector<Asked> stack = {{value, {}}};
  std::set<Asked> seen = {stack[0]};
  std::map<InstructionId, int> copies;
  while (!stack.empty()) {
    const auto [id, place] = stack.back();
    stack.pop_back();
    const Op op = module_[id].op;
    const bool is_inside = id == value || rematerialized_[id.value] || is_free(module_, id) ||
                           (group_of(id) == group_of(value) && !is_root(id));
    const int count = ++copies[id];
    if (!is_inside) {
      if (count == 1) out.sources.push_back(id);
      continue;
    }
    if (count == 1) out.made.push_back(id);
    if (op == Op::Constant || op == Op::Iota) continue;
    const bool cheap = has_trait(op, TraitCheap) || op == Op::BitcastConvert,
               shifts = op == Op::Reshape || op == Op::Slice ||
                        (op == Op::Reverse && bytes_of(module_, value) >= second_cache_);
    if (cheap) out.max_code_copies = std::max(out.max_code_copies, count);
    if (!cheap && !shifts && op != Op::Broadcast && is_part_to_store(id, value)) {
      if (count == 1) {
        out.made.pop_back();
        out.sources.push_back(id);
        out.stored.push_back(id);
      }
      continue;
    }
    if (!cheap && !shifts && op != Op::Broadcast) return refused(NoFusion::CostlyOp);
    out.arithmetic += cheap;
    if (const size_t ops = std::max(out.arithmetic, place.size()); ops > max_recomputed_ops)
      return refused({NoFusion::ManyOps, static_cast<int64_t>(ops), max_recomputed_ops});
    std::vector<InstructionId> next = place;
    if (shifts) next.push_back(id);
    for (InstructionId operand : module_.operands(id))
      if (seen.emplace(operand, next).second) stack.emplace_back(operand, next);
  }
  return out;
}

// Whether something in the value's group would take little room: keys of which the value is all
// pairs.
bool FusionGroups::is_part_to_store(InstructionId id, InstructionId value) const {
  return id != value && group_of(id) == group_of(value) && !is_rematerialized(id) &&
         module_[id].op != Op::Reduce && is_dense_static_array(module_, id) &&
         bytes_of(module_, id) <= bytes_of(module_, value) / 16;
}

bool FusionGroups::is_root(InstructionId id) const {
  const int group = group_of(id);
  return group < 0 || std::ranges::count(groups_[group].roots, id) > 0;
}

// Whether some member of the group reads the value.
bool FusionGroups::reads(int group, InstructionId value) const {
  return std::ranges::any_of(users(value),
                             [&](InstructionId user) { return group_of(user) == group; });
}

// Of what is made for each of the readers, as many bytes must come and go as if it were stored, or
// fewer, where none comes again to a loop that reads it anyway; and what is kept in its stead must
// not be more than an eighth larger.
FusionDecision FusionGroups::is_less_traffic(InstructionId value,
                                             const Rematerialization& candidate,
                                             const std::set<int>& readers) const {
  int64_t read = 0, reread_bytes = 0, kept = 0;
  for (InstructionId source : candidate.sources) {
    const bool is_given =
        module_[source].op == Op::Parameter && module_[source].computation == module_.entry;
    read += bytes_of(module_, source);
    kept += is_given ? 0 : bytes_of(module_, source);
    for (int reader : readers)
      if (!reads(reader, source)) reread_bytes += bytes_of(module_, source);
  }
  const int64_t stored = bytes_of(module_, value), times = std::ssize(readers);
  const int64_t may_keep = stored + stored / 8, may_reread = read + stored * (times + 1);
  if (kept > may_keep) return {NoFusion::KeepsMoreBytes, kept, may_keep};
  if (reread_bytes > may_reread) return {NoFusion::ReadsMoreBytes, reread_bytes, may_reread};
  return {};
}

// Refused where the user's loop asks for more elements than the value has, and more often than is
// cheaper than to store and to read them: an array and one of its columns spread over it ask twice.
FusionDecision FusionGroups::is_repetition_cheap(const Rematerialization& candidate,
                                                 InstructionId value, InstructionId user) const {
  const FusionGroup& group = groups_[group_of(user)];
  if (!repeated_[user.value] &&
      (!reads_repeatedly(module_, user, value) || is_of_reduced_rows(value, user)))
    return {};
  const int64_t asked =
      code_copies_[user.value].count * iterations_of_loop(module_, group.roots[0]);
  const int64_t own = element_count(module_.shape(value));
  if (group.rows) return NoFusion::RepeatedInReduction;
  if (candidate.arithmetic > max_repeated)
    return {NoFusion::ManyOps, static_cast<int64_t>(candidate.arithmetic), max_repeated};
  if (asked > max_recomputations * own)
    return {NoFusion::Repeated, own > 0 ? (asked + own - 1) / own : asked, max_recomputations};
  return {};
}

FusionDecision FusionGroups::can_rematerialize(const Rematerialization& candidate,
                                               InstructionId value, InstructionId user) const {
  const FusionGroup& group = groups_[group_of(user)];
  const InstructionId root = group.roots[0];
  if (group.kind == FusionKind::Output) return NoFusion::IntoProduct;
  if (const auto cheap = is_repetition_cheap(candidate, value, user); !cheap) return cheap;
  if (const auto reads = reads_elements(module_, user, value); !reads) return reads;
  if (is_costly_choice(module_, user, value)) return NoFusion::ComplexOperand;
  if (const int copies = code_copies_[user.value].count; copies > 2)
    return {NoFusion::ManyCodeCopies, copies, 2};
  if (const size_t members = group.members.size() + candidate.made.size(); members > max_members)
    return {NoFusion::ManyMembers, static_cast<int64_t>(members), max_members};
  if (module_[root].op == Op::DynamicUpdateSlice) return NoFusion::IntoUpdate;
  if (module_[root].op == Op::ReduceWindow &&
      !std::ranges::all_of(candidate.made,
                           [&](InstructionId id) { return can_fuse_windows(module_, root, id); }))
    return NoFusion::WindowsReadOtherwise;
  const auto is_of_rows = [&](InstructionId id) {
    return keeps_rows(module_, id, *group.rows) &&
           (module_[id].op != Op::Broadcast || is_sourceless(module_, id) ||
            std::ranges::count(candidate.sources, module_.operand(id, 0)) > 0);
  };
  if (group.rows && !std::ranges::all_of(candidate.made, is_of_rows)) return NoFusion::OtherRows;
  return {};
}

// Where all of them can make it.
FusionGroups::RematerializationDecision FusionGroups::rematerialization_for_readers(
    InstructionId value) const {
  const int own = group_of(value);
  if (module_[module_[value].computation].root == value) return refused(NoFusion::IsResult);
  if (module_.shape(value).is_tuple() || groups_[own].rows || groups_[own].kind != FusionKind::Loop)
    return refused(NoFusion::OfRows);
  auto candidate = rematerialization_of(value);
  if (!candidate) return candidate;
  if (candidate->max_code_copies > 2)
    return refused({NoFusion::ManyCodeCopies, candidate->max_code_copies, 2});
  // The group makes what is stored, and nothing else.
  const size_t results = groups_[own].roots.size() + candidate->stored.size();
  if (!candidate->stored.empty() && results > 2)
    return refused({NoFusion::StoresMore, static_cast<int64_t>(results) - 1, 1});
  std::set<int> readers;
  for (InstructionId user : users(value)) {
    const int group = group_of(user);
    if (group == own) continue;
    if (group < 0) return refused(NoFusion::ReaderOutside);
    if (const auto can = can_rematerialize(*candidate, value, user); !can) return refused(can);
    // In a ladder of slices each step would double the places.
    const bool is_read_repeatedly =
        !readers.insert(group).second || code_copies_[user.value].count > 1;
    if (is_read_repeatedly && candidate->max_code_copies > 1)
      return refused({NoFusion::ManyCodeCopies, 2 * candidate->max_code_copies, 2});
  }
  if (readers.size() > max_readers)
    return refused({NoFusion::ManyReaders, std::ssize(readers), max_readers});
  if (const auto less = is_less_traffic(value, *candidate, readers); !less) return refused(less);
  return candidate;
}

void FusionGroups::rematerialize_cheap() {
  for (InstructionId id : order_) {
    const int number = group_of(id);
    if (number < 0 || !is_root(id)) continue;
    const auto candidate = rematerialization_for_readers(id);
    if (!candidate) {
      record_recompute(id, candidate.error());
      continue;
    }
    for (InstructionId made : candidate->made) rematerialized_[made.value] = true;
    FusionGroup& group = groups_[number];
    std::erase(group.roots, id);
    group.roots.insert(group.roots.end(), candidate->stored.begin(), candidate->stored.end());
    leave_unread(group);
  }
}

// Of a complex value that is stored anyway, parts are not stored once more.
//   c = complex(a, b), a, f(a) => c, f(real(c))
void FusionGroups::read_parts_of_complex(Editor& editor) {
  for (const FusionGroup& group : groups_)
    for (InstructionId whole : std::vector(group.roots))  // some are taken out meanwhile
      if (module_[whole].op == Op::Complex) {
        read_part(editor, whole, 0, Op::Real);
        read_part(editor, whole, 1, Op::Imag);
      }
}

void FusionGroups::read_part(Editor& editor, InstructionId whole, int64_t place, Op op) {
  const InstructionId part = module_.operand(whole, place);
  const int own = group_of(whole);
  if (group_of(part) != own || !is_root(part) || module_[module_[part].computation].root == part)
    return;
  std::vector<InstructionId> readers;
  for (InstructionId user : module_.users(part)) {
    const int group = group_of(user);
    if (group == own) {
      if (is_rematerialized(user)) return;
      continue;
    }
    if (group < 0 || groups_[group].kind == FusionKind::Output || !is_by_element(module_, user))
      return;
    readers.push_back(user);
  }
  const Shape shape = module_.shape(part);
  const InstructionId projection = editor.add(part, op, shape, std::span(&whole, 1));
  for (InstructionId user : readers)
    for (size_t i = 0; i < module_.operands(user).size(); ++i)
      if (module_.operand(user, i) == part) editor.set_operand(user, i, projection);
  rematerialized_.resize(projection.value + 1);
  rematerialized_[projection.value] = true;
  std::erase(groups_[own].roots, part);
}

// Takes out of a group what none of its results needs any more.
void FusionGroups::leave_unread(FusionGroup& group) {
  std::erase_if(group.members, [&](InstructionId member) {
    const bool is_needed = std::ranges::count(group.roots, member) > 0 ||
                           std::ranges::any_of(users(member), [&](InstructionId user) {
                             return of_[user.value] == of_[member.value];
                           });
    if (!is_needed) of_[member.value] = -1;
    return !is_needed;
  });
}

}  // namespace hilo
