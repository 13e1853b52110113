#include "eval/collective.h"
#include "eval/storage.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace hilo {
namespace {

DeviceGrid grid_of(const Call& call) { return call.device.traffic.rendezvous->grid(); }

// Ids that a mode counts.
int64_t ids_in_mode(DeviceGrid grid, GroupMode mode) {
  if (mode == GroupMode::Flattened) return grid.count();
  return mode == GroupMode::CrossPartition ? grid.partitions : grid.replicas;
}

std::string_view named_in_mode(GroupMode mode) {
  return mode == GroupMode::Flattened        ? "devices"
         : mode == GroupMode::CrossPartition ? "partitions"
                                             : "replicas";
}

// Which ids are in no group, said in the same words by each of them.
std::string left_out(const Call& call, const ReplicaGroups& groups, GroupMode mode) {
  const int64_t ids = ids_in_mode(grid_of(call), mode);
  std::vector<bool> named(static_cast<size_t>(ids));
  for (const Dims& group : groups.expand())
    for (const int64_t id : group)
      if (id >= 0 && id < ids) named[static_cast<size_t>(id)] = true;
  return fmt::format("its replica groups name {} of {} {}: {} is the first in none",
                     std::ranges::count(named, true), ids, named_in_mode(mode),
                     std::ranges::find(named, false) - named.begin());
}

void append_members(const Call& call, int64_t id, GroupMode mode, std::vector<int64_t>& members) {
  if (mode != GroupMode::CrossReplicaAndPartition) {
    members.push_back(device_in_mode(call, id, mode));
    return;
  }
  const int64_t partitions = grid_of(call).partitions;
  for (int64_t partition = 0; partition < partitions; ++partition)
    members.push_back(id * partitions + partition);
}

// Rows of `dim` and what is below it: outer times, `size * inner` bytes.
struct Rows {
  int64_t outer, inner;
};
Rows rows_of(const Shape& shape, int64_t dim) {
  const std::span dims(shape.dims);
  return {element_count(dims.first(dim)),
          element_count(dims.subspan(dim + 1)) * storage_bytes(shape.type)};
}

void copy_rows(const Call& call, const std::byte* from, int64_t from_step, std::byte* to,
               int64_t to_step, int64_t bytes, int64_t rows) {
  const int64_t grain = std::max<int64_t>(1, (1 << 18) / std::max<int64_t>(1, bytes));
  call.parallel(rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      std::memcpy(to + row * to_step, from + row * from_step, bytes);
  });
}

}  // namespace

GroupMode group_mode(std::optional<int64_t> channel_id, bool use_global_device_ids) {
  if (use_global_device_ids) return GroupMode::Flattened;
  return channel_id ? GroupMode::CrossReplicaAndPartition : GroupMode::CrossReplica;
}

GroupMode group_mode(std::optional<int64_t> channel_id) {
  return channel_id ? GroupMode::CrossPartition : GroupMode::CrossReplica;
}

int64_t id_in_mode(const Device& device, GroupMode mode) {
  if (mode == GroupMode::Flattened) return device.id;
  return mode == GroupMode::CrossPartition ? device.partition : device.replica;
}

int64_t device_in_mode(const Call& call, int64_t id, GroupMode mode) {
  if (mode == GroupMode::Flattened) return id;
  const int64_t partitions = grid_of(call).partitions;
  return mode == GroupMode::CrossPartition ? call.device.replica * partitions + id
                                           : id * partitions + call.device.partition;
}

Result<DeviceGroup> find_group(const Call& call, const ReplicaGroups& groups, GroupMode mode) {
  const int64_t ids = ids_in_mode(grid_of(call), mode), mine = id_in_mode(call.device, mode);
  std::vector<Dims> listed = groups.expand();
  if (listed.empty()) {
    listed.emplace_back(ids);
    std::iota(listed[0].begin(), listed[0].end(), 0);
  }
  DeviceGroup group;
  for (size_t g = 0; g < listed.size(); ++g) {
    if (std::ranges::find(listed[g], mine) == listed[g].end()) continue;
    for (int64_t id : listed[g]) {
      if (id < 0 || id >= ids)
        return call.error(ErrorKind::Evaluation,
                          fmt::format("a replica group names {}, but there are {} {}; the module "
                                      "runs as {} replica(s) of {} partition(s)",
                                      id, ids, named_in_mode(mode), grid_of(call).replicas,
                                      grid_of(call).partitions));
      append_members(call, id, mode, group.members);
    }
    // Groups of different replicas or partitions share their place in the list.
    const int64_t beside = mode == GroupMode::CrossPartition ? call.device.replica
                           : mode == GroupMode::CrossReplica ? call.device.partition
                                                             : 0;
    group.index = static_cast<int64_t>(g) * grid_of(call).count() + beside;
    break;
  }
  group.position = std::ranges::find(group.members, call.device.id) - group.members.begin();
  return group;
}

Result<DeviceGroup> need_group(const Call& call, const ReplicaGroups& groups, GroupMode mode) {
  HILO_TRY(DeviceGroup group, find_group(call, groups, mode));
  if (group.members.empty()) return call.error(ErrorKind::Evaluation, left_out(call, groups, mode));
  return group;
}

void copy_slice_out(const Call& call, const Literal& from, int64_t dim, int64_t offset,
                    Literal& to) {
  const Rows rows = rows_of(from.shape(), dim);
  const int64_t bytes = to.shape().dims[dim] * rows.inner;
  copy_rows(call, from.raw().data() + offset * rows.inner, from.shape().dims[dim] * rows.inner,
            to.mutable_raw().data(), bytes, bytes, rows.outer);
}

void copy_slice_in(const Call& call, const Literal& from, int64_t dim, int64_t offset,
                   Literal& to) {
  const Rows rows = rows_of(to.shape(), dim);
  const int64_t bytes = from.shape().dims[dim] * rows.inner;
  copy_rows(call, from.raw().data(), bytes, to.mutable_raw().data() + offset * rows.inner,
            to.shape().dims[dim] * rows.inner, bytes, rows.outer);
}

std::span<const Shape> result_shapes(const Shape& stated) {
  if (stated.is_tuple()) return stated.elements;
  return {&stated, 1};
}

Result<Literal> pack_results(const Call& call, const Shape& stated, std::vector<Literal> results) {
  std::span<const Shape> shapes = result_shapes(stated);
  for (size_t i = 0; i < results.size() && i < shapes.size(); ++i) {
    const auto shape = std::make_shared<const Shape>(call.held(shapes[i]));
    HILO_TRY(results[i], call.with_shape(results[i], shape));
  }
  if (stated.is_tuple()) return Literal::tuple(std::move(results));
  return std::move(results[0]);
}

std::vector<Literal> kept(const Call& call, std::vector<Literal> values) {
  if (!call.options().place) return values;
  std::vector<Literal*> waiting;
  for (Literal& value : values) waiting.push_back(&value);
  while (!waiting.empty()) {
    Literal& value = *waiting.back();
    waiting.pop_back();
    for (Literal& element : value.mutable_elements()) waiting.push_back(&element);
    if (value.shape().is_array()) value.mutable_raw();
  }
  return values;
}

void remember_operands(const Call& call) {
  for (InstructionId user : call.module.users(call.id)) {
    const Instruction& taker = call.module[user];
    if (taker.op != Op::CustomCall ||
        call.module.attributes<CustomCallAttributes>(taker).custom_call_target !=
            "AsyncCollectiveStart")
      continue;
    std::vector<Literal>& started = call.device.traffic.started[call.id.value];
    started = {call.operands.begin(), call.operands.end()};
    if (call.into.empty()) continue;
    for (Literal& value : started) value.mutable_raw();  // a copy of what may be written over
  }
}

std::vector<Literal> move_operands(const Call& call) {
  remember_operands(call);
  return kept(call, {std::make_move_iterator(call.operands.begin()),
                     std::make_move_iterator(call.operands.end())});
}

Literal pack_start(const Call& call, Literal results) {
  const Shape& stated = call.shape();
  std::vector<Literal> parts;
  if (stated.elements[0].is_tuple() &&
      !(call.operands.size() == 1 && call.operands[0].shape().is_tuple()))
    parts.push_back(Literal::tuple({call.operands.begin(), call.operands.end()}));
  else parts.push_back(call.operands[0]);
  parts.push_back(std::move(results));
  for (size_t i = 2; i < stated.elements.size(); ++i)
    parts.push_back(make_zeros(call, call.held(stated.elements[i])));
  return Literal::tuple(std::move(parts));
}

}  // namespace hilo
