// Gathers no more than a device takes.
//   slice(all-gather(x)), the device's own part => slice(x)
//   slice(all-gather(x)), the part of one other => collective-permute(slice(x))
//   slice(all-gather(x)), those of some members => all-gather(x) between these
//   slice along another dimension, the same for all members => all-gather(slice(x))
//   slice along another dimension, a part for each member => all-to-all(x)
// What a device takes is evaluated for each device (device_values.h). Own parts are taken at once;
// the others only where nobody else needs the gathered array. Assumes nothing. Later passes may
// assume that what is gathered is needed. Behind what moves slices to collectives.
#include <algorithm>

#include "pass/collective/shares.h"
#include "pass/shard/local_code.h"

namespace hilo {
namespace {

class Slicer {
 public:
  explicit Slicer(Module& module)
      : module_(module),
        editor_(module),
        values_(editor_, count_devices(module)),
        channel_(next_channel(module)) {}

  bool run() {
    if (values_.devices() < 2 || module_.header.replica_count > 1) return false;
    bool changed = false;
    for (ComputationId id : open_computations(module_))
      for (InstructionId one : operands_first(module_, id)) {
        const Op op = module_[one].op;
        if ((op == Op::DynamicSlice || op == Op::Slice) && !module_[one].removed)
          changed |= replace(one);
      }
    return changed;
  }

 private:
  // What stands around one slice of an all-gather.
  struct Case {
    InstructionId slice, gather, operand;
    DeviceSlice taken;
    DeviceGroups groups;
    size_t dim;     // that is gathered
    int64_t shard;  // elements of the operand along it
    bool is_alone;  // nobody else takes the gathered array
    Dims position;  // of each device in its group
  };

  bool replace(InstructionId slice) {
    const InstructionId gather = module_.operand(slice, 0);
    if (module_[gather].op != Op::AllGather || module_[gather].operand_count != 1 ||
        editor_.is_pinned(slice) || editor_.is_pinned(gather) ||
        !module_.shape(gather).is_array() || module_.extra(module_[gather]).sharding)
      return false;
    auto taken = device_slice(module_, slice, values_);
    auto groups = find_groups(module_, gather, values_.devices());
    if (!taken || !groups || group_size(*groups) < 2) return false;
    Case one{slice, gather, module_.operand(gather, 0), *std::move(taken), *std::move(groups)};
    one.dim = static_cast<size_t>(module_.attributes<AllGatherAttributes>(gather).dimensions[0]);
    one.shard = module_.shape(one.operand).dims[one.dim];
    one.is_alone = is_only_user(module_, gather, slice);
    one.position.resize(static_cast<size_t>(values_.devices()));
    for (const Dims& group : one.groups)
      for (size_t i = 0; i < group.size(); ++i)
        one.position[static_cast<size_t>(group[i])] = static_cast<int64_t>(i);
    const InstructionId value = better(one);
    if (!value) return false;
    editor_.set_shape(value, module_.shape(slice));
    editor_.replace(slice, value);
    remove_collective(editor_, gather);
    return true;
  }

  // What the slice is without all of the gather; always new. None: nothing is known.
  InstructionId better(const Case& one) {
    const Shape& whole = module_.shape(one.gather);
    if (!one.taken.is_known(one.dim) || element_count(module_.shape(one.slice)) == 0) return {};
    if (!one.taken.is_whole(one.dim, whole)) {
      if (is_within_own(one)) return own_part(one);
      if (!one.is_alone) return {};
      if (InstructionId value = part_of_another(one)) return value;
      return some_members(one);
    }
    if (!one.is_alone) return {};
    if (InstructionId value = sliced_before(one)) return value;
    return exchanged(one);
  }

  int64_t start(const Case& one, int64_t device) const {
    return one.taken.starts[one.dim][static_cast<size_t>(device)];
  }
  // The member whose shard holds all that a device takes; -1: none.
  int64_t source(const Case& one, int64_t device) const {
    const int64_t at = start(one, device);
    const int64_t position = at / one.shard;
    if (at + one.taken.sizes[one.dim] > (position + 1) * one.shard) return -1;
    return position;
  }
  bool is_within_own(const Case& one) const {
    for (int64_t device = 0; device < values_.devices(); ++device)
      if (source(one, device) != one.position[static_cast<size_t>(device)]) return false;
    return true;
  }

  // Elements from `starts`, by device, along the gathered dimension; of the others what the slice
  // takes.
  InstructionId own_slice(const Case& one, InstructionId value, const Dims& starts) {
    LocalCode code(editor_, one.slice);
    Dims sizes = code.dims(value);
    if (one.taken.sizes[one.dim] != sizes[one.dim]) {
      const bool is_same = std::ranges::count(starts, starts[0]) == std::ssize(starts);
      std::vector<Dims> table;
      for (int64_t start : starts) table.push_back({start});
      std::vector<InstructionId> at(sizes.size(), code.number(0));
      at[one.dim] = is_same ? code.number(starts[0]) : code.row(table)[0];
      sizes[one.dim] = one.taken.sizes[one.dim];
      value = code.dynamic_slice(value, at, sizes);
    }
    return other_dims(one, value);
  }

  // The slice of all dimensions but the gathered one; a new instruction in any case.
  InstructionId other_dims(const Case& one, InstructionId value) {
    const Shape shape = Shape::array(module_.shape(value).type, one.taken.sizes);
    const Dims dims = module_.shape(value).dims;
    if (dims == shape.dims) return editor_.add(one.slice, Op::Copy, shape, std::array{value});
    if (module_[one.slice].op == Op::Slice) {
      SliceDims slice = module_.attributes<SliceAttributes>(one.slice).slice;
      slice.dims[one.dim] = {0, dims[one.dim], 1};
      return editor_.add(one.slice, Op::Slice, shape, std::array{value}, SliceAttributes{slice});
    }
    std::vector<InstructionId> operands = {value};
    const ElementType type = module_.shape(module_.operand(one.slice, 1)).type;
    for (size_t dim = 0; dim < dims.size(); ++dim)
      operands.push_back(dim == one.dim ? editor_.add_constant(one.slice, scalar_of(type, 0))
                                        : module_.operand(one.slice, 1 + dim));
    return editor_.add(one.slice, Op::DynamicSlice, shape, operands,
                       DynamicSliceAttributes{shape.dims});
  }

  InstructionId own_part(const Case& one) {
    Dims starts;
    for (int64_t device = 0; device < values_.devices(); ++device)
      starts.push_back(start(one, device) - one.position[static_cast<size_t>(device)] * one.shard);
    return own_slice(one, one.operand, starts);
  }

  // Each device takes from one other, and each gives to one: the giver cuts what is taken.
  InstructionId part_of_another(const Case& one) {
    std::vector<std::pair<int64_t, int64_t>> pairs;
    Dims starts(static_cast<size_t>(values_.devices()), -1);
    for (const Dims& group : one.groups)
      for (int64_t device : group) {
        const int64_t from = source(one, device);
        if (from < 0) return {};
        const int64_t giver = group[static_cast<size_t>(from)];
        if (starts[static_cast<size_t>(giver)] >= 0) return {};
        starts[static_cast<size_t>(giver)] = start(one, device) - from * one.shard;
        pairs.emplace_back(giver, device);
      }
    std::ranges::sort(pairs);
    LocalCode code(editor_, one.gather);
    InstructionId value = one.operand;
    Dims sizes = code.dims(value);
    if (one.taken.sizes[one.dim] < one.shard) {
      std::vector<Dims> table;
      for (int64_t start : starts) table.push_back({start});
      std::vector<InstructionId> at(sizes.size(), code.number(0));
      at[one.dim] = code.row(table)[0];
      sizes[one.dim] = one.taken.sizes[one.dim];
      value = code.dynamic_slice(value, at, sizes);
    }
    return other_dims(one, code.permute(value, pairs, channel_++));
  }

  // Members take the parts of as many of them, which take the same.
  InstructionId some_members(const Case& one) {
    const int64_t size = one.taken.sizes[one.dim];
    if (size % one.shard != 0) return {};
    const auto count = static_cast<size_t>(size / one.shard);
    DeviceGroups smaller;
    for (const Dims& group : one.groups) {
      if (group.size() % count != 0) return {};
      for (size_t i = 0; i < group.size(); i += count) {
        const int64_t begin = static_cast<int64_t>(i) * one.shard;
        smaller.emplace_back(group.begin() + static_cast<int64_t>(i),
                             group.begin() + static_cast<int64_t>(i + count));
        for (int64_t device : smaller.back())
          if (start(one, device) != begin) return {};
      }
    }
    return other_dims(one, gathered(one, one.operand, smaller));
  }

  InstructionId gathered(const Case& one, InstructionId value, const DeviceGroups& groups) {
    auto attributes = between<AllGatherAttributes>(groups, channel_++);
    attributes.dimensions = {static_cast<int64_t>(one.dim)};
    Shape shape = Shape::array(module_.shape(value).type, module_.shape(value).dims);
    shape.dims[one.dim] *= group_size(groups);
    return editor_.add(one.gather, Op::AllGather, shape, std::array{value}, std::move(attributes));
  }

  // Where all that is sliced is the same for the members of a group.
  InstructionId sliced_before(const Case& one) {
    const Shape& whole = module_.shape(one.gather);
    for (size_t dim = 0; dim < whole.dims.size(); ++dim) {
      if (one.taken.is_whole(dim, whole)) continue;
      const auto share = find_share(one.groups, one.taken, dim);
      if (!share || share->starts != 1) return {};
    }
    Case inner = one;
    inner.taken.sizes[one.dim] = one.shard;
    return gathered(one, other_dims(inner, one.operand), one.groups);
  }

  // Each member takes, along one other dimension, the part of its position.
  InstructionId exchanged(const Case& one) {
    const Shape whole = module_.shape(one.gather);
    size_t other = whole.dims.size();
    for (size_t dim = 0; dim < whole.dims.size(); ++dim)
      if (!one.taken.is_whole(dim, whole)) {
        if (other < whole.dims.size()) return {};
        other = dim;
      }
    const int64_t size = group_size(one.groups);
    if (other == whole.dims.size() || !one.taken.is_known(other)) return {};
    const int64_t part = one.taken.sizes[other];
    if (part * size != whole.dims[other]) return {};
    for (int64_t device = 0; device < values_.devices(); ++device)
      if (one.taken.starts[other][static_cast<size_t>(device)] !=
          one.position[static_cast<size_t>(device)] * part)
        return {};
    return exchange(one, other, part, size);
  }

  // The members' parts come side by side along the dimension that they were cut along, and go to
  // the front of the gathered one.
  InstructionId exchange(const Case& one, size_t other, int64_t part, int64_t size) {
    LocalCode code(editor_, one.gather);
    auto attributes = between<AllToAllAttributes>(one.groups, channel_++);
    attributes.dimensions = Dims{static_cast<int64_t>(other)};
    const Dims dims = code.dims(one.operand);
    InstructionId value =
        editor_.add(one.gather, Op::AllToAll, Shape::array(code.type(one.operand), dims),
                    std::array{one.operand}, std::move(attributes));
    Dims split = dims;
    split[other] = part;
    split.insert(split.begin() + static_cast<int64_t>(other), size);
    value = code.reshape(value, split);
    Dims order;  // without the members' dimension, which goes before the gathered one
    for (size_t dim = 0; dim < dims.size(); ++dim) {
      if (dim == one.dim) order.push_back(static_cast<int64_t>(other));
      order.push_back(static_cast<int64_t>(dim >= other ? dim + 1 : dim));
    }
    value = code.transpose(value, order);
    return editor_.add(one.gather, Op::Reshape, module_.shape(one.slice), std::array{value});
  }

  Module& module_;
  Editor editor_;
  DeviceValues values_;
  int64_t channel_;
};

}  // namespace

Result<bool> slice_gathers(Module& module, const PassOptions&) { return Slicer(module).run(); }

}  // namespace hilo
