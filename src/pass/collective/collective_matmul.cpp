// Products go on while what they need, or what they give, goes round a ring.
//   dot(all-gather(x), y) => the shard at hand times y, while a permute brings the next one:
//     rows of the result side by side, or, where the summed dimension was gathered, their sum
//   reduce-scatter(dot(x, y)) => the sum of a chunk goes round, and each device adds its product
// g products for groups of g, and g - 1 permutes: one after the other round the ring, or half of
// them each way at once. Only by the machine's times: where the collective lies on the longest way,
// so that nothing else hides it, and the product takes longer than its permutes. Sums of floats
// round in another order but for gathered rows. Assumes nothing. Later passes may assume nothing.
// Before collectives are joined and told when to begin.
#include <algorithm>

#include "pass/collective/device_groups.h"
#include "pass/collective/product_roles.h"
#include "pass/shard/local_code.h"

namespace hilo {
namespace {

class Rings {
 public:
  Rings(Module& module, const PassOptions& options)
      : module_(module),
        keeps_(options.rewrite.keeps),
        editor_(module),
        times_(module, *options.machine),
        devices_(count_devices(module)),
        channel_(next_channel(module)),
        memory_bytes_per_second_(memory_space(*options.machine, 0).bytes_per_second) {}

  bool run() {
    if (devices_ < 2 || !times_.is_known() || module_.header.replica_count > 1) return false;
    bool changed = false;
    for (ComputationId id : open_computations(module_)) {
      const std::vector<InstructionId> order = operands_first(module_, id);
      slack_ = slack_of(module_, order, times_);
      for (InstructionId one : order) {
        if (module_[one].removed || editor_.is_pinned(one)) continue;
        if (module_[one].op == Op::Dot) changed |= gather_along(one, 0) || gather_along(one, 1);
        else if (module_[one].op == Op::ReduceScatter) changed |= scatter_along(one);
      }
    }
    return changed;
  }

 private:
  enum class Ways : uint8_t { One, Both };
  struct Ring {
    DeviceGroups groups;
    int64_t size = 0;
    Dims position;            // of each device in its group
    Network::Pairs pairs;     // each is sent what the next member has
    Network::Pairs backward;  // what the member before has
    // Permutes by `pairs`, and the others by `backward`: size - 1 in all.
    int64_t forward_count(Ways ways) const { return ways == Ways::Both ? size / 2 : size - 1; }
    int64_t backward_count(Ways ways) const { return size - 1 - forward_count(ways); }
  };

  // What a ring does instead of one product.
  struct Work {
    double product = 0;  // seconds, of all products together
    double sent = 0;     // bytes of a permute
    double moved = 0;    // bytes of the main memory beside the products': slices, sums read again
  };
  double bytes_of(InstructionId value) const {
    return static_cast<double>(literal_bytes(module_.shape(value)));
  }

  // The first product waits for nothing; then what is longer of the products and the permutes of a
  // round hides the other.
  double seconds_round(const Ring& ring, Ways ways, const Work& work) const {
    Network::Pairs pairs = ring.pairs;
    if (ways == Ways::Both) pairs.insert(pairs.end(), ring.backward.begin(), ring.backward.end());
    const double permute = times_.network().permute(pairs, work.sent).seconds();
    const double computed = work.product + work.moved / memory_bytes_per_second_;
    const double each = computed / static_cast<double>(ring.size);
    const auto rounds = static_cast<double>(ring.forward_count(ways));
    const double in_round = ways == Ways::Both ? 2 * each : each;
    const double last = computed - each - (rounds - 1) * in_round;
    return std::max(each, permute) + (rounds - 1) * std::max(in_round, permute) + last;
  }

  // The ways in which the ring takes less than the collective and the product one after the other.
  std::optional<Ways> ways_that_pay(const Ring& ring, InstructionId collective, InstructionId dot,
                                    double sent_bytes, double moved) const {
    if (collective.value >= slack_.size() || dot.value >= slack_.size()) return std::nullopt;
    const Work work{times_.computation(dot), sent_bytes, moved};
    const double sent = times_.communication(collective);
    const double exposed = sent - std::min(sent, slack_[collective.value]);
    const double one = seconds_round(ring, Ways::One, work);
    const double both = ring.size > 2 ? seconds_round(ring, Ways::Both, work) : one;
    if (std::min(one, both) >= work.product + exposed) return std::nullopt;
    return both < one ? Ways::Both : Ways::One;
  }

  std::optional<Ring> ring_of(InstructionId collective) const {
    auto groups = find_groups(module_, collective, devices_);
    if (!groups || group_size(*groups) < 2) return std::nullopt;
    Ring out{*std::move(groups), 0, Dims(static_cast<size_t>(devices_)), {}, {}};
    out.size = group_size(out.groups);
    for (const Dims& group : out.groups)
      for (size_t i = 0; i < group.size(); ++i) {
        out.position[static_cast<size_t>(group[i])] = static_cast<int64_t>(i);
        out.pairs.emplace_back(group[(i + 1) % group.size()], group[i]);
      }
    std::ranges::sort(out.pairs);
    for (const auto& [source, target] : out.pairs) out.backward.emplace_back(target, source);
    std::ranges::sort(out.backward);
    return out;
  }
  // Where the shards begin that stand so many members ahead of a device's own, in elements.
  std::vector<InstructionId> offsets(LocalCode& code, const Ring& ring, const Dims& ahead,
                                     int64_t shard) const {
    std::vector<Dims> table;
    for (int64_t position : ring.position) {
      Dims& row = table.emplace_back();
      for (int64_t members : ahead)
        row.push_back((position + members + ring.size) % ring.size * shard);
    }
    return code.row(table);
  }
  InstructionId slice(LocalCode& code, InstructionId value, size_t dim, InstructionId start,
                      int64_t shard) {
    std::vector<InstructionId> starts(code.dims(value).size(), code.number(0));
    starts[dim] = start;
    Dims sizes = code.dims(value);
    sizes[dim] = shard;
    return code.dynamic_slice(value, starts, sizes);
  }

  bool gather_along(InstructionId dot, size_t side) {
    const InstructionId gather = module_.operand(dot, side);
    if (module_[gather].op != Op::AllGather || module_[gather].operand_count != 1 ||
        !has_one_use(editor_, gather) || !is_plain_dot(module_, dot))
      return false;
    const auto dim =
        static_cast<size_t>(module_.attributes<AllGatherAttributes>(gather).dimensions[0]);
    const auto role = role_of(module_, dot, side, dim);
    const auto ring = ring_of(gather);
    const InstructionId shard = module_.operand(gather, 0);
    if (!role || !ring ||
        (role->is_summed && !may_reorder(Op::Add, module_.shape(dot).type, keeps_)))
      return false;
    // Sums are read once more, and the other operand is sliced; rows are put into the whole.
    const double others = static_cast<double>(ring->size - 1);
    const double moved = role->is_summed
                             ? others * bytes_of(dot) + 2 * bytes_of(module_.operand(dot, 1 - side))
                             : 3 * bytes_of(dot);
    const auto ways = ways_that_pay(*ring, gather, dot, bytes_of(shard), moved);
    if (!ways) return false;
    LocalCode code(editor_, dot);
    const auto [ahead, shards] = sent_round(code, *ring, *ways, shard);
    const int64_t size = module_.shape(shard).dims[dim];
    const std::vector<InstructionId> starts = offsets(code, *ring, ahead, size);
    const Shape whole = module_.shape(dot);
    InstructionId sum;
    if (!role->is_summed) sum = code.zeros(whole.type, whole.dims);
    for (size_t i = 0; i < shards.size(); ++i)
      sum = role->is_summed
                ? added(code, sum, dot, side, shards[i], role->other, starts[i], size)
                : updated(code, sum, dot, side, shards[i], role->result, starts[i], size);
    editor_.set_shape(sum, whole);
    editor_.replace(dot, sum);
    remove_collective(editor_, gather);
    return true;
  }

  // The shards of all members as they come: a device's own, then those ahead of it, or in turns
  // those ahead and those before it; and how far ahead each stands.
  std::pair<Dims, std::vector<InstructionId>> sent_round(LocalCode& code, const Ring& ring,
                                                         Ways ways, InstructionId shard) {
    Dims ahead = {0};
    std::vector<InstructionId> shards = {shard};
    InstructionId from_next = shard, from_before = shard;
    for (int64_t round = 1; round <= ring.forward_count(ways); ++round) {
      from_next = code.permute(from_next, ring.pairs, channel_++);
      ahead.push_back(round);
      shards.push_back(from_next);
      if (round > ring.backward_count(ways)) continue;
      from_before = code.permute(from_before, ring.backward, channel_++);
      ahead.push_back(-round);
      shards.push_back(from_before);
    }
    return {ahead, shards};
  }

  InstructionId added(LocalCode& code, InstructionId sum, InstructionId dot, size_t side,
                      InstructionId shard, size_t other_dim, InstructionId start, int64_t size) {
    const InstructionId other = slice(code, module_.operand(dot, 1 - side), other_dim, start, size);
    const Shape shape = module_.shape(dot);
    const InstructionId part = product_of(editor_, dot, side, shard, shape, other);
    return sum ? editor_.add(dot, Op::Add, shape, std::array{sum, part}) : part;
  }

  InstructionId updated(LocalCode& code, InstructionId whole, InstructionId dot, size_t side,
                        InstructionId shard, size_t dim, InstructionId start, int64_t size) {
    Shape shape = Shape::array(module_.shape(dot).type, module_.shape(dot).dims);
    shape.dims[dim] = size;
    const InstructionId part = product_of(editor_, dot, side, shard, shape);
    std::vector<InstructionId> starts(shape.dims.size(), code.number(0));
    starts[dim] = start;
    return code.update(whole, part, starts);
  }

  bool scatter_along(InstructionId scatter) {
    const InstructionId dot = module_.operand(scatter, 0);
    if (module_[scatter].operand_count != 1 || module_[dot].op != Op::Dot ||
        !has_one_use(editor_, dot) || !is_plain_dot(module_, dot) ||
        module_.extra(module_[scatter]).sharding)
      return false;
    const auto& attributes = module_.attributes<ReduceScatterAttributes>(scatter);
    const auto combiner = find_combiner(module_, attributes.to_apply);
    const auto dim = static_cast<size_t>(attributes.dimensions[0]);
    const auto ring = ring_of(scatter);
    const Shape chunk = module_.shape(scatter);
    if (!combiner || module_[combiner->instruction].op != Op::Add || !ring ||
        !may_reorder(Op::Add, chunk.type, keeps_))
      return false;
    for (const size_t side : {0, 1})
      for (size_t d = 0; d < module_.shape(module_.operand(dot, side)).dims.size(); ++d)
        if (const auto role = role_of(module_, dot, side, d);
            role && !role->is_summed && role->result == dim) {
          // The operand is sliced; of two sums one is made.
          const double moved = 2 * bytes_of(module_.operand(dot, side)) +
                               3 * static_cast<double>(ring->size - 1) * bytes_of(scatter);
          const auto ways = ways_that_pay(*ring, scatter, dot, bytes_of(scatter), moved);
          if (ways) send_sums(scatter, dot, side, d, *ring, *ways);
          return ways.has_value();
        }
    return false;
  }

  // The sum of a chunk comes to its device from both sides: from as many members ahead of it as
  // there are permutes by `pairs`, and from those before it.
  void send_sums(InstructionId scatter, InstructionId dot, size_t side, size_t dim,
                 const Ring& ring, Ways ways) {
    LocalCode code(editor_, scatter);
    const Shape chunk = module_.shape(scatter);
    const InstructionId mine = module_.operand(dot, side);
    const int64_t size = module_.shape(mine).dims[dim] / ring.size;
    const auto product = [&](InstructionId start) {
      return product_of(editor_, dot, side, slice(code, mine, dim, start, size), chunk);
    };
    const auto add = [&](InstructionId a, InstructionId b) {
      return editor_.add(scatter, Op::Add, chunk, std::array{a, b});
    };
    // The first of `ahead` begins; each is sent on with what comes next.
    const auto sum_sent = [&](Dims ahead, const Network::Pairs& pairs) {
      InstructionId sum;
      for (InstructionId start : offsets(code, ring, ahead, size)) {
        if (sum) sum = code.permute(sum, pairs, channel_++);
        sum = sum ? add(sum, product(start)) : product(start);
      }
      return sum;
    };
    Dims ahead, before;
    for (int64_t i = ring.forward_count(ways); i >= 0; --i) ahead.push_back(-i);
    for (int64_t i = ring.backward_count(ways); i > 0; --i) before.push_back(i);
    InstructionId sum = sum_sent(std::move(ahead), ring.pairs);
    if (!before.empty())
      sum = add(
          sum, code.permute(sum_sent(std::move(before), ring.backward), ring.backward, channel_++));
    editor_.replace_moved(scatter, sum);
  }

  Module& module_;
  Keeps keeps_;
  Editor editor_;
  StepTimes times_;
  int64_t devices_, channel_;
  double memory_bytes_per_second_;
  std::vector<double> slack_;  // by instruction of one computation, seconds
};

}  // namespace

Result<bool> unroll_into_rings(Module& module, const PassOptions& options) {
  if (!options.machine) return false;
  return Rings(module, options).run();
}

}  // namespace hilo
