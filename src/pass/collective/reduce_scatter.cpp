// Sums only the part of an array that a device takes.
//   dynamic-slice(all-reduce(x), start of the device) => reduce-scatter(x)
// where the members of a group take different parts; where they take the same, the slice is taken
// before: all-reduce(dynamic-slice(x)); and where some take the same, both are done:
//   all-reduce over 8, slice of one in 4 => reduce-scatter over 4, all-reduce over 2
// Parts that are not all of the array, or not in its order, are put side by side before. What a
// device takes is evaluated for each device (device_values.h). Bytes fall to half and below.
// Assumes nothing. Later passes may assume that what an all-reduce gives is needed whole. Behind
// what moves slices to all-reduces, before collectives are combined.
#include <algorithm>

#include "pass/collective/shares.h"
#include "pass/shard/local_code.h"

namespace hilo {
namespace {

class Creator {
 public:
  Creator(Module& module, const PassOptions& options)
      : module_(module),
        keeps_(options.rewrite.keeps),
        editor_(module),
        values_(editor_, count_devices(module)),
        channel_(next_channel(module)) {}

  bool run() {
    bool changed = false;
    if (values_.devices() < 2) return false;
    for (ComputationId id : open_computations(module_))
      for (InstructionId one : operands_first(module_, id))
        if (module_[one].op == Op::AllReduce && !module_[one].removed) changed |= replace(one);
    return changed;
  }

 private:
  // The one slice that all users of the all-reduce take, or none.
  InstructionId slice_of(InstructionId all_reduce) const {
    const std::vector<InstructionId> users = module_.users(all_reduce);
    if (users.empty() || module_[module_[all_reduce].computation].root == all_reduce) return {};
    for (InstructionId user : users) {
      const auto mine = module_.operands(user), others = module_.operands(users[0]);
      if (module_[user].op != module_[users[0]].op || !std::ranges::equal(mine, others) ||
          module_.shape(user) != module_.shape(users[0]) || mine[0] != all_reduce)
        return {};
    }
    const bool is_static_slice = module_[users[0]].op == Op::Slice;
    return is_static_slice && users.size() > 1 ? InstructionId{} : users[0];
  }

  bool replace(InstructionId all_reduce) {
    const Instruction& old = module_[all_reduce];
    if (old.operand_count != 1 || !module_.shape(all_reduce).is_array() ||
        editor_.is_pinned(all_reduce) || module_.extra(old).sharding)
      return false;
    const InstructionId taken = slice_of(all_reduce);
    const auto combiner =
        find_combiner(module_, module_.attributes<AllReduceAttributes>(all_reduce).to_apply);
    if (!taken || !combiner) return false;
    const auto slice = device_slice(module_, taken, values_);
    const auto groups = find_groups(module_, all_reduce, values_.devices());
    if (!slice || !groups) return false;
    const bool reorders =
        may_reorder(module_[combiner->instruction].op, module_.shape(all_reduce).type, keeps_);
    const Shape from = module_.shape(all_reduce);
    std::vector<size_t> before;  // dimensions of which all members take the same
    std::optional<Share> scattered;
    for (size_t dim = 0; dim < from.dims.size(); ++dim) {
      if (slice->is_whole(dim, from)) continue;
      auto share = find_share(*groups, *slice, dim);
      if (!share) continue;
      if (share->starts == 1) before.push_back(dim);
      else if ((share->in_order || reorders) && is_less(*share, from) &&
               (!scattered || share->starts > scattered->starts))
        scattered = std::move(share);
    }
    if (before.empty() && !scattered) return false;
    return emit(all_reduce, taken, *slice, before, scattered);
  }

  // Whether a reduce-scatter and an all-reduce of what it gives send less than the all-reduce.
  static bool is_less(const Share& share, const Shape& from) {
    const auto part = static_cast<double>(share.size);
    const auto members = static_cast<double>(share.starts);
    const auto alike = static_cast<double>(share.alike[0].size());
    const double all = members * alike, whole = static_cast<double>(from.dims[share.dim]);
    return part * (members - 1) + 2 * part * (alike - 1) / alike < 2 * whole * (all - 1) / all;
  }

  bool emit(InstructionId all_reduce, InstructionId taken, const DeviceSlice& slice,
            const std::vector<size_t>& before, const std::optional<Share>& share) {
    if (share && module_.header.replica_count > 1) return false;  // tables go by partition-id
    const std::vector<InstructionId> users = module_.users(all_reduce);
    if (std::ranges::any_of(users, [&](InstructionId user) { return editor_.is_pinned(user); }))
      return false;
    LocalCode code(editor_, all_reduce);
    like_ = all_reduce;
    InstructionId value = module_.operand(all_reduce, 0);
    std::vector<bool> is_done(slice.sizes.size());
    for (size_t dim : before) is_done[dim] = true;
    value = take(value, taken, slice, is_done);
    auto attributes = module_.attributes<AllReduceAttributes>(all_reduce);
    if (share) {
      value = side_by_side(code, value, *share);
      value = scatter(value, *share, attributes.to_apply);
      is_done[share->dim] = true;
      attributes.channel_id = channel_++;
      attributes.replica_groups = written(share->alike);
      attributes.use_global_device_ids = true;
    }
    if (!share || share->alike[0].size() > 1) {
      const Shape shape = module_.shape(value);
      value = editor_.add(all_reduce, Op::AllReduce, shape, std::array{value}, attributes);
    }
    is_done.flip();
    value = take(value, taken, slice, is_done);
    editor_.set_shape(value, module_.shape(taken));
    for (InstructionId user : users) editor_.replace(user, value);
    remove_collective(editor_, all_reduce);
    return true;
  }

  // The slice of the dimensions that are marked; the value is whole in these, and what it is in the
  // others.
  InstructionId take(InstructionId value, InstructionId taken, const DeviceSlice& slice,
                     const std::vector<bool>& marked) {
    Shape shape = Shape::array(module_.shape(value).type, module_.shape(value).dims);
    const Dims whole = shape.dims;
    for (size_t dim = 0; dim < marked.size(); ++dim)
      if (marked[dim]) shape.dims[dim] = slice.sizes[dim];
    if (shape.dims == whole) return value;
    if (module_[taken].op == Op::Slice) {
      SliceDims dims = module_.attributes<SliceAttributes>(taken).slice;
      for (size_t dim = 0; dim < marked.size(); ++dim)
        if (!marked[dim]) dims.dims[dim] = {0, whole[dim], 1};
      return editor_.add(taken, Op::Slice, shape, std::array{value}, SliceAttributes{dims});
    }
    std::vector<InstructionId> operands = {value};
    const ElementType type = module_.shape(module_.operand(taken, 1)).type;
    for (size_t dim = 0; dim < marked.size(); ++dim)
      operands.push_back(marked[dim] ? module_.operand(taken, 1 + dim)
                                     : editor_.add_constant(taken, scalar_of(type, 0)));
    return editor_.add(taken, Op::DynamicSlice, shape, operands,
                       DynamicSliceAttributes{shape.dims});
  }

  // What the members of this device's group take, in the order of their starts.
  InstructionId side_by_side(LocalCode& code, InstructionId value, const Share& share) {
    const Dims whole = code.dims(value);
    const Dims& first = share.slots[0];
    bool is_adjacent = true;
    for (size_t i = 1; i < first.size(); ++i)
      for (const Dims& slots : share.slots)
        is_adjacent = is_adjacent && slots[i] == slots[i - 1] + share.size;
    if (is_adjacent && share.starts * share.size == whole[share.dim]) return value;
    std::vector<Dims> table;
    for (const Dims& slots : share.slots) table.push_back(is_adjacent ? Dims{slots[0]} : slots);
    Dims sizes = whole;
    sizes[share.dim] = is_adjacent ? share.starts * share.size : share.size;
    std::vector<InstructionId> parts;
    for (InstructionId start : code.row(table)) {
      std::vector<InstructionId> starts(whole.size(), code.number(0));
      starts[share.dim] = start;
      parts.push_back(code.dynamic_slice(value, starts, sizes));
    }
    if (parts.size() == 1) return parts[0];
    return editor_.add_inferred(like_, Op::Concatenate, parts,
                                DimensionsAttributes{{static_cast<int64_t>(share.dim)}});
  }

  InstructionId scatter(InstructionId value, const Share& share, ComputationId reducer) {
    auto attributes = between<ReduceScatterAttributes>(share.scattered, channel_++);
    attributes.dimensions = {static_cast<int64_t>(share.dim)};
    attributes.to_apply = reducer;
    Shape shape = Shape::array(module_.shape(value).type, module_.shape(value).dims);
    shape.dims[share.dim] = share.size;
    return editor_.add(like_, Op::ReduceScatter, shape, std::array{value}, std::move(attributes));
  }

  Module& module_;
  Keeps keeps_;
  Editor editor_;
  DeviceValues values_;
  int64_t channel_;
  InstructionId like_;  // what new instructions stand for
};

}  // namespace

Result<bool> create_reduce_scatters(Module& module, const PassOptions& options) {
  return Creator(module, options).run();
}

}  // namespace hilo
