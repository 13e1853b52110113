// Products go on while what they need, or what they give, goes round a ring.
//   dot(all-gather(x), y) => the shard at hand times y, while a permute brings the next one:
//     rows of the result side by side, or, where the summed dimension was gathered, their sum
//   reduce-scatter(dot(x, y)) => the sum of a chunk goes round, and each device adds its product
// g steps for groups of g. Only by the machine's times: where the collective lies on the longest
// way, so that nothing else hides it, and the product takes longer than its permutes. Sums of
// floats round in another order but for gathered rows. Assumes nothing. Later passes may assume
// nothing. Before collectives are joined and told when to begin.
#include <algorithm>

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
        channel_(next_channel(module)) {}

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
  // Whether the steps take less than one after the other: the first product waits for nothing, and
  // what is longer of a product and a permute hides the other in the steps that follow.
  bool pays(InstructionId collective, InstructionId dot, double bytes, int64_t size) const {
    if (collective.value >= slack_.size() || dot.value >= slack_.size()) return false;
    const double sent = times_.communication(collective), product = times_.computation(dot);
    const double exposed = sent - std::min(sent, slack_[collective.value]);
    const double permute = seconds_of({Op::CollectivePermute, 2, bytes}, times_.links());
    const auto steps = static_cast<double>(size);
    return product / steps + (steps - 1) * std::max(product / steps, permute) < product + exposed;
  }

  struct Ring {
    DeviceGroups groups;
    int64_t size = 0;
    Dims position;                                   // of each device in its group
    std::vector<std::pair<int64_t, int64_t>> pairs;  // each is sent what the next member has
  };
  std::optional<Ring> ring_of(InstructionId collective) const {
    auto groups = find_groups(module_, collective, devices_);
    if (!groups || group_size(*groups) < 2) return std::nullopt;
    Ring out{*std::move(groups), 0, Dims(static_cast<size_t>(devices_)), {}};
    out.size = group_size(out.groups);
    for (const Dims& group : out.groups)
      for (size_t i = 0; i < group.size(); ++i) {
        out.position[static_cast<size_t>(group[i])] = static_cast<int64_t>(i);
        out.pairs.emplace_back(group[(i + 1) % group.size()], group[i]);
      }
    std::ranges::sort(out.pairs);
    return out;
  }
  // By step: where the shard begins that a device has `ahead` of its own, in elements.
  std::vector<InstructionId> offsets(LocalCode& code, const Ring& ring, int64_t ahead,
                                     int64_t shard) const {
    std::vector<Dims> table;
    for (int64_t position : ring.position) {
      Dims& row = table.emplace_back();
      for (int64_t step = 0; step < ring.size; ++step)
        row.push_back((position + step + ahead) % ring.size * shard);
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
        (role->is_summed && !may_reorder(Op::Add, module_.shape(dot).type, keeps_)) ||
        !pays(gather, dot, static_cast<double>(literal_bytes(module_.shape(shard))), ring->size))
      return false;
    LocalCode code(editor_, dot);
    const int64_t size = module_.shape(shard).dims[dim];
    const std::vector<InstructionId> starts = offsets(code, *ring, 0, size);
    const Shape whole = module_.shape(dot);
    InstructionId at_hand = shard, sum;
    if (!role->is_summed) sum = code.zeros(whole.type, whole.dims);
    for (int64_t step = 0; step < ring->size; ++step) {
      const InstructionId next =
          step + 1 < ring->size ? code.permute(at_hand, ring->pairs, channel_++) : at_hand;
      const InstructionId start = starts[static_cast<size_t>(step)];
      sum = role->is_summed ? added(code, sum, dot, side, at_hand, role->other, start, size)
                            : updated(code, sum, dot, side, at_hand, role->result, start, size);
      at_hand = next;
    }
    editor_.set_shape(sum, whole);
    editor_.replace(dot, sum);
    remove_collective(editor_, gather);
    return true;
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
          if (!pays(scatter, dot, static_cast<double>(literal_bytes(chunk)), ring->size))
            return false;
          send_sums(scatter, dot, side, d, *ring);
          return true;
        }
    return false;
  }

  void send_sums(InstructionId scatter, InstructionId dot, size_t side, size_t dim,
                 const Ring& ring) {
    LocalCode code(editor_, scatter);
    const Shape chunk = module_.shape(scatter);
    const InstructionId mine = module_.operand(dot, side);
    const int64_t size = module_.shape(mine).dims[dim] / ring.size;
    const std::vector<InstructionId> starts = offsets(code, ring, 1, size);
    InstructionId sum;
    for (InstructionId start : starts) {
      const InstructionId part =
          product_of(editor_, dot, side, slice(code, mine, dim, start, size), chunk);
      if (!sum) {
        sum = part;
        continue;
      }
      const InstructionId before = code.permute(sum, ring.pairs, channel_++);
      sum = editor_.add(scatter, Op::Add, chunk, std::array{before, part});
    }
    editor_.replace_moved(scatter, sum);
  }

  Module& module_;
  Keeps keeps_;
  Editor editor_;
  StepTimes times_;
  int64_t devices_, channel_;
  std::vector<double> slack_;  // by instruction of one computation, seconds
};

}  // namespace

Result<bool> unroll_into_rings(Module& module, const PassOptions& options) {
  if (!options.machine) return false;
  return Rings(module, options).run();
}

}  // namespace hilo
