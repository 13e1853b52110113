// Leaves out collectives that do nothing, or what another has done.
//   all-reduce(x), groups of one => x
//   collective-permute(x), each to itself => x; to nobody => 0
//   collective-permute(collective-permute(x)) => collective-permute(x)
//   all-reduce(all-reduce(x)) => all-reduce(x) over the devices of both
//   f(x), f(x) => one f(x)
//   all-reduce(the greatest of x, as it is found with its index), where it is only compared
//     => all-reduce(maximum over x), if that is there
//   a collective that nobody uses => nothing
// One program runs on all devices, so that all leave it out alike. Channels do not tell collectives
// apart. Assumes nothing. Later passes may assume that equal collectives are one.
#include <algorithm>
#include <set>

#include "pass/collective/device_groups.h"
#include "pass/extreme_index.h"

namespace hilo {
namespace {

class Simplifier {
 public:
  Simplifier(Module& module, const PassOptions& options)
      : module_(module),
        keeps_(options.rewrite.keeps),
        editor_(module),
        devices_(count_devices(module)),
        channel_(next_channel(module)) {}

  bool run() {
    if (devices_ < 2) return false;
    bool changed = false;
    for (ComputationId id : open_computations(module_)) {
      const std::vector<InstructionId> order = operands_first(module_, id);
      std::unordered_multimap<uint64_t, InstructionId> seen;
      for (InstructionId one : order)
        if (is_plain_collective(one))
          changed |= drop(one) || compose(one) || fold(one) || share(one) || merge(one, seen);
      for (size_t i = order.size(); i-- > 0;)
        if (is_plain_collective(order[i])) {
          remove_collective(editor_, order[i]);
          changed |= module_[order[i]].removed;
        }
    }
    return changed;
  }

 private:
  bool is_plain_collective(InstructionId id) const {
    return !module_[id].removed && has_trait(module_[id].op, TraitCollective) &&
           !editor_.is_pinned(id) && module_[id].operand_count > 0 &&
           !module_.extra(module_[id]).sharding;
  }

  // Whether a value may stand for the collective, and then does.
  bool put(InstructionId collective, InstructionId value) {
    if (!editor_.can_replace(collective, value)) {
      editor_.remove_unused(value);
      return false;
    }
    editor_.replace_moved(collective, value);
    return true;
  }

  bool drop(InstructionId id) {
    if (module_[id].operand_count != 1) return false;
    const InstructionId operand = module_.operand(id, 0);
    if (module_[id].op == Op::CollectivePermute) return drop_permute(id);
    const auto groups = find_groups(module_, id, devices_);
    if (!groups || group_size(*groups) != 1) return false;
    return put(id, operand);
  }

  bool is_whole_permute(InstructionId id) const {
    return module_[id].op == Op::CollectivePermute && module_[id].operand_count == 1 &&
           module_.shape(id).is_array() && module_.header.replica_count <= 1 &&
           module_.attributes<CollectivePermuteAttributes>(id).slice_sizes.lists.empty();
  }

  bool drop_permute(InstructionId id) {
    if (!is_whole_permute(id)) return false;
    const auto& pairs =
        module_.attributes<CollectivePermuteAttributes>(id).source_target_pairs.pairs;
    if (pairs.empty()) return put(id, editor_.add_splat(id, module_.shape(id), 0));
    const bool stays =
        std::ranges::all_of(pairs, [](const auto& pair) { return pair.first == pair.second; });
    return stays && std::ssize(pairs) == devices_ && put(id, module_.operand(id, 0));
  }

  bool compose(InstructionId id) {
    if (!is_whole_permute(id)) return false;
    const InstructionId first = module_.operand(id, 0);
    if (!is_whole_permute(first) || !has_one_use(editor_, first)) return false;
    std::map<int64_t, int64_t> source_of;
    for (const auto& [source, target] :
         module_.attributes<CollectivePermuteAttributes>(first).source_target_pairs.pairs)
      source_of[target] = source;
    std::vector<std::pair<int64_t, int64_t>> pairs;
    for (const auto& [source, target] :
         module_.attributes<CollectivePermuteAttributes>(id).source_target_pairs.pairs)
      if (const auto found = source_of.find(source); found != source_of.end())
        pairs.emplace_back(found->second, target);
    std::set<int64_t> sources;  // each may send to one only
    for (const auto& [source, target] : pairs)
      if (!sources.insert(source).second) return false;
    std::ranges::sort(pairs);
    CollectivePermuteAttributes attributes;
    attributes.channel_id = channel_++;
    attributes.source_target_pairs.pairs = std::move(pairs);
    const Shape shape = module_.shape(id);
    const InstructionId both = editor_.add(id, Op::CollectivePermute, shape,
                                           std::array{module_.operand(first, 0)}, attributes);
    if (!put(id, both)) return false;
    remove_collective(editor_, first);
    return true;
  }

  std::optional<Combiner> combiner_of(InstructionId id) const {
    return find_combiner(module_, module_.attributes<AllReduceAttributes>(id).to_apply);
  }

  bool fold(InstructionId id) {
    if (module_[id].op != Op::AllReduce || module_[id].operand_count != 1) return false;
    const InstructionId first = module_.operand(id, 0);
    if (module_[first].op != Op::AllReduce || module_[first].operand_count != 1 ||
        !has_one_use(editor_, first))
      return false;
    const auto outer = combiner_of(id), inner = combiner_of(first);
    if (!outer || !inner) return false;
    const Op op = module_[outer->instruction].op;
    if (op != module_[inner->instruction].op || outer->wide != inner->wide ||
        !may_reorder(op, module_.shape(id).type, keeps_))
      return false;
    const auto groups = united(id, first, op);
    if (!groups) return false;
    auto attributes = between<AllReduceAttributes>(*groups, channel_++);
    attributes.to_apply = module_.attributes<AllReduceAttributes>(id).to_apply;
    const Shape shape = module_.shape(id);
    const InstructionId both =
        editor_.add(id, Op::AllReduce, shape, std::array{module_.operand(first, 0)}, attributes);
    if (!put(id, both)) return false;
    remove_collective(editor_, first);
    return true;
  }

  // The groups over which both together reduce; nothing where they form none, or where some
  // summand would count twice.
  std::optional<DeviceGroups> united(InstructionId outer, InstructionId inner, Op op) const {
    const auto outside = find_groups(module_, outer, devices_);
    const auto inside = find_groups(module_, inner, devices_);
    if (!outside || !inside) return std::nullopt;
    const bool counts_once =
        op == Op::Maximum || op == Op::Minimum || op == Op::And || op == Op::Or;
    std::vector<size_t> group_of(static_cast<size_t>(devices_));
    for (size_t g = 0; g < inside->size(); ++g)
      for (int64_t device : (*inside)[g]) group_of[static_cast<size_t>(device)] = g;
    std::map<std::set<size_t>, size_t> reached;  // by inner groups, from outer groups
    for (const Dims& group : *outside) {
      std::set<size_t> met;
      for (int64_t device : group)
        if (!met.insert(group_of[static_cast<size_t>(device)]).second && !counts_once)
          return std::nullopt;
      ++reached[met];
    }
    DeviceGroups out;
    std::set<size_t> taken;
    for (const auto& [met, times] : reached) {
      Dims& all = out.emplace_back();
      for (size_t g : met) {
        if (!taken.insert(g).second) return std::nullopt;
        all.insert(all.end(), (*inside)[g].begin(), (*inside)[g].end());
      }
      std::ranges::sort(all);
    }
    return out;
  }

  uint64_t hash_of(InstructionId id) const {
    uint64_t out = static_cast<uint64_t>(module_[id].op) + 31 * module_[id].shape.value;
    for (InstructionId operand : module_.operands(id)) out = out * 1'000'003 + operand.value;
    return out;
  }

  bool merge(InstructionId id, std::unordered_multimap<uint64_t, InstructionId>& seen) {
    const uint64_t hash = hash_of(id);
    const auto [begin, end] = seen.equal_range(hash);
    for (auto it = begin; it != end; ++it)
      if (!module_[it->second].removed && is_same(it->second, id)) return put(id, it->second);
    seen.emplace(hash, id);
    return false;
  }

  // The two may differ in the sign of a zero.
  bool share(InstructionId id) {
    const auto is_compared = [&](InstructionId user) {
      return module_[user].op == Op::Compare &&
             module_.attributes<CompareAttributes>(user).order == ComparisonOrder::Default;
    };
    if (module_[id].op != Op::AllReduce || module_[id].operand_count != 1 ||
        !std::ranges::all_of(module_.users(id), is_compared))
      return false;
    const auto found = find_extreme_of(module_.operand(id, 0));
    if (!found) return false;
    for (InstructionId reduce : module_.users(module_.operand(*found, 0)))
      if (reduces_alike(reduce, *found))
        for (InstructionId other : module_.users(reduce))
          if (module_[other].op == Op::AllReduce && module_[other].operand_count == 1 &&
              do_the_same(module_, id, other, devices_) && put(id, other))
            return true;
    return false;
  }

  // The reduction to the greatest value with its index whose value this is.
  std::optional<InstructionId> find_extreme_of(InstructionId value) const {
    if (module_[value].op != Op::GetTupleElement ||
        module_.attributes<GetTupleElementAttributes>(value).index != 0)
      return std::nullopt;
    const InstructionId out = module_.operand(value, 0);
    return module_[out].op == Op::Reduce && module_[out].operand_count == 4 ? std::optional(out)
                                                                            : std::nullopt;
  }

  bool reduces_alike(InstructionId reduce, InstructionId with_index) const {
    if (module_[reduce].op != Op::Reduce || module_[reduce].operand_count != 2 ||
        module_.operand(reduce, 0) != module_.operand(with_index, 0))
      return false;
    const auto& plain = module_.attributes<ReduceAttributes>(reduce);
    const auto& other = module_.attributes<ReduceAttributes>(with_index);
    const Literal* const initial = constant_of(module_, module_.operand(reduce, 1));
    const Literal* const as_initial = constant_of(module_, module_.operand(with_index, 2));
    const auto combiner = find_combiner(module_, plain.to_apply);
    return plain.dimensions == other.dimensions && initial && as_initial &&
           std::ranges::equal(initial->raw(), as_initial->raw()) && combiner &&
           find_extreme(module_, other.to_apply) == module_[combiner->instruction].op;
  }

  bool is_same(InstructionId a, InstructionId b) const {
    return module_[a].shape == module_[b].shape &&
           std::ranges::equal(module_.operands(a), module_.operands(b)) &&
           do_the_same(module_, a, b, devices_);
  }

  Module& module_;
  Keeps keeps_;
  Editor editor_;
  int64_t devices_, channel_;
};

}  // namespace

Result<bool> simplify_collectives(Module& module, const PassOptions& options) {
  return Simplifier(module, options).run();
}

}  // namespace hilo
