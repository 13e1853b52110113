// Joins small collectives of one kind between the same devices into one of several arrays.
//   all-reduce(x), all-reduce(y) => all-reduce(x, y)
// Each saves the steps of one collective. It may make the one wait for the other: so only where the
// bytes of all take no longer than the steps that are saved, and where, in the order as it is, all
// have their operands before one of them is needed and no more is alive when all are there at once.
// Nor may one need another, through whatever else is joined. Without a machine whose links are
// known nothing is joined. Assumes nothing. Later passes may assume that small collectives are few.
// Behind all that looks at single collectives.
#include <algorithm>
#include <limits>
#include <ranges>
#include <unordered_map>

#include "pass/collective/device_groups.h"
#include "pass/collective/live_bytes.h"

namespace hilo {
namespace {

// Seconds from the beginning of a computation.
struct Span {
  double ready = 0, end = 0;  // when all operands are there, and when the instruction ends
  double needed = std::numeric_limits<double>::infinity();  // by the first user
};

class Combiners {
 public:
  Combiners(Module& module, const Machine& machine)
      : module_(module),
        editor_(module),
        times_(module, machine),
        devices_(count_devices(module)),
        channel_(next_channel(module)) {}

  bool run() {
    if (!times_.is_known()) return false;
    bool changed = false;
    for (ComputationId id : open_computations(module_)) changed |= combine(id);
    return changed;
  }

 private:
  struct Set {
    std::vector<InstructionId> members;
    double ready = 0;    // when the last operand is there
    double needed = 0;   // when the first result is
    double seconds = 0;  // of their bytes
  };

  bool combine(ComputationId id) {
    const std::vector<InstructionId> order = operands_first(module_, id);
    find_spans(order);
    sets_.clear(), set_of_.clear();
    for (InstructionId one : order)
      if (is_joinable(one)) join(one);
    std::erase_if(sets_, [](const Set& set) { return set.members.size() < 2; });
    if (!sets_.empty()) keep_lean(order);
    for (const Set& set : sets_) emit(set.members);
    return !sets_.empty();
  }

  // An array for one of its size, whenever it is, leaves as much alive.
  bool keeps_sizes(const Set& set) const {
    return std::ranges::all_of(set.members, [&](InstructionId member) {
      return literal_bytes(module_.shape(member)) ==
             literal_bytes(module_.shape(module_.operand(member, 0)));
    });
  }

  // Leaves out the sets with which more would be alive at some time.
  void keep_lean(std::vector<InstructionId> order) {
    const LiveBytes live(module_, order);
    int64_t peak = live.peak(order);
    std::erase_if(sets_, [&](const Set& set) {
      if (keeps_sizes(set)) return false;
      std::vector<InstructionId> joined = at_once(order, set.members);
      const int64_t after = live.peak(joined);
      if (after > peak) return true;
      peak = after;
      order = std::move(joined);
      return false;
    });
  }

  // The order in which members stand side by side, right before the first user, and before them
  // what they still need.
  std::vector<InstructionId> at_once(const std::vector<InstructionId>& order,
                                     const std::vector<InstructionId>& members) const {
    std::vector<bool> is_member(spans_.size()), is_needed(spans_.size()), is_done(spans_.size());
    for (InstructionId member : members) is_member[member.value] = true;
    for (InstructionId id : order | std::views::reverse)
      if (is_member[id.value] || is_needed[id.value])
        for (InstructionId operand : module_.operands(id)) is_needed[operand.value] = true;
    std::vector<InstructionId> out;
    const auto put = [&](InstructionId id) {
      if (!is_done[id.value]) out.push_back(id), is_done[id.value] = true;
    };
    const auto put_members = [&] {
      for (InstructionId id : order)
        if (is_needed[id.value]) put(id);
      for (InstructionId member : members) put(member);
    };
    for (InstructionId id : order) {
      const auto operands = module_.operands(id);
      if (is_member[id.value] || is_done[id.value]) continue;
      if (!is_done[members[0].value] &&
          std::ranges::any_of(operands, [&](InstructionId one) { return is_member[one.value]; }))
        put_members();
      put(id);
    }
    put_members();
    return out;
  }

  bool is_joinable(InstructionId id) const {
    const Op op = module_[id].op;
    return (op == Op::AllReduce || op == Op::AllGather || op == Op::ReduceScatter) &&
           module_[id].operand_count == 1 && module_.shape(id).is_array() &&
           !editor_.is_pinned(id) && !module_.extra(module_[id]).sharding;
  }

  // One instruction after the other, in the order as it is. What takes no time, as to name an
  // element does, is there as soon as its operands are.
  void find_spans(const std::vector<InstructionId>& order) {
    spans_.assign(module_.instructions.size(), {});
    double now = 0;
    for (InstructionId id : order) {
      for (InstructionId operand : module_.operands(id)) {
        spans_[id.value].ready = std::max(spans_[id.value].ready, spans_[operand.value].end);
        spans_[operand.value].needed = std::min(spans_[operand.value].needed, now);
      }
      const double taken = seconds(id);
      now += taken;
      spans_[id.value].end = taken > 0 ? now : spans_[id.value].ready;
    }
  }
  double seconds(InstructionId id) const {
    return times_.communication(id) + times_.computation(id);
  }

  void join(InstructionId id) {
    const auto bytes = collective_bytes(module_, id);
    if (!bytes || bytes->group < 2) return;
    const double sent = times_.use(id).transfer, saved = times_.use(id).latency;
    const Span& span = spans_[id.value];
    for (size_t s = 0; s < sets_.size(); ++s) {
      Set& set = sets_[s];
      const double ready = std::max(set.ready, span.ready);
      const double needed = std::min(set.needed, span.needed);
      if (sent + set.seconds > saved || !is_alike(set.members[0], id) || ready > needed ||
          needs({&id, 1}, set.members) || needs(set.members, {&id, 1}))
        continue;
      set.members.push_back(id);
      set.ready = ready;
      set.needed = needed;
      set.seconds += sent;
      set_of_[id.value] = s;
      return;
    }
    set_of_[id.value] = sets_.size();
    sets_.push_back({{id}, span.ready, span.needed, sent});
  }

  // Whether one of `these` needs one of `those`. What is joined waits for all operands of all
  // members.
  bool needs(std::span<const InstructionId> these, std::span<const InstructionId> those) const {
    std::vector<bool> is_seen(spans_.size()), is_one_of_those(spans_.size());
    for (InstructionId one : those) is_one_of_those[one.value] = true;
    std::vector<InstructionId> stack(these.begin(), these.end());
    while (!stack.empty()) {
      const InstructionId top = stack.back();
      stack.pop_back();
      if (is_seen[top.value]) continue;
      is_seen[top.value] = true;
      if (is_one_of_those[top.value]) return true;
      if (const auto set = set_of_.find(top.value); set != set_of_.end())
        for (InstructionId member : sets_[set->second].members) stack.push_back(member);
      for (InstructionId operand : module_.operands(top)) stack.push_back(operand);
      for (InstructionId before : module_.extra(module_[top]).control_predecessors)
        stack.push_back(before);
    }
    return false;
  }

  bool is_alike(InstructionId a, InstructionId b) const {
    const bool reduces = !has_trait(module_[a].op, TraitMoves);
    return do_the_same(module_, a, b, devices_) &&
           (!reduces || module_.shape(a).type == module_.shape(b).type);
  }

  void emit(const std::vector<InstructionId>& members) {
    std::vector<InstructionId> operands;
    std::vector<Shape> shapes;
    for (InstructionId member : members) {
      operands.push_back(module_.operand(member, 0));
      shapes.push_back(module_.shape(member));
    }
    const InstructionId all = editor_.clone(members[0], module_[members[0]].computation, operands);
    editor_.set_shape(all, Shape::tuple(std::move(shapes)));
    visit_attributes_type(module_[all].op, [&]<class A>(std::type_identity<A>) {
      if constexpr (requires(A a) { a.channel_id; })
        if (auto& channel = module_.mutable_attributes<A>(all).channel_id) channel = channel_++;
    });
    for (size_t i = 0; i < members.size(); ++i)
      editor_.replace_moved(members[i],
                            editor_.add_element(members[i], all, static_cast<int64_t>(i)));
  }

  Module& module_;
  Editor editor_;
  StepTimes times_;
  int64_t devices_, channel_;
  std::vector<Span> spans_;
  std::vector<Set> sets_;                        // of one computation
  std::unordered_map<uint32_t, size_t> set_of_;  // by member
};

}  // namespace

Result<bool> combine_collectives(Module& module, const PassOptions& options) {
  if (!options.machine || count_devices(module) < 2) return false;
  return Combiners(module, *options.machine).run();
}

}  // namespace hilo
