// Collectives: who takes part, and how much each gives.
#include "verify/report.h"

namespace hilo {
namespace {

// Whose numbers the groups hold. channel_id and use_global_device_ids decide (XLA's collective
// group modes); all-to-all, broadcasts and permutes have no use_global_device_ids, and with a
// channel_id hold partitions. A module that states no counts may yet run on any number of devices:
// then numbers are only bounded.
struct Mode {
  int64_t ids;      // numbers are in [0, ids)
  int64_t members;  // devices of one group that names all ids; 0: unknown
};

constexpr int64_t max_devices = int64_t{1} << 24;

Mode mode_of(const ModuleHeader& header, bool channel, bool global) {
  const int64_t replicas = header.replica_count, partitions = header.num_partitions;
  int64_t devices;
  if (__builtin_mul_overflow(replicas, partitions, &devices)) devices = INT64_MAX;
  if (devices == 1) return {max_devices, 0};
  if (!channel) return {replicas, replicas};
  if (global) return {devices, devices};
  return {replicas, devices};
}

Mode partition_mode_of(const ModuleHeader& header, bool channel) {
  if (header.replica_count == 1 && header.num_partitions == 1) return {max_devices, 0};
  const int64_t ids = channel ? header.num_partitions : header.replica_count;
  return {ids, ids};
}

// How many devices the groups name, and how many each of them.
struct Groups {
  int64_t devices = 0, size = 0;  // of the first group, where the op allows that they differ
  bool may_differ = false;
};

// Iota and mesh forms name each device once by their nature; they are not expanded.
std::string iota_groups(const IotaDevices& iota, int64_t ids, Groups& out) {
  if (iota.reshape.size() != 2)
    return fmt::format("expected [groups,size], found {}", listed(iota.reshape));
  out.devices = element_count(iota.dims), out.size = iota.reshape[1];
  return iota_fault(iota, ids);
}

std::string mesh_groups(const ReplicaGroups& groups, int64_t ids, Groups& out) {
  std::string fault = mesh_fault(groups.mesh, ids);
  if (fault.empty()) fault = axes_fault(groups.mesh, groups.axes);
  if (!fault.empty()) return fault;
  out.devices = out.size = 1;
  for (const MeshAxis& axis : groups.mesh.axes) {
    out.devices *= axis.size;
    for (const AxisRef& ref : groups.axes)
      if (ref.name == axis.name) out.size *= ref.sub ? ref.sub->second : axis.size;
  }
  return "";
}

std::string explicit_groups(const std::vector<Dims>& groups, int64_t ids, Groups& out) {
  Dims all;
  for (const Dims& group : groups) {
    if (group.empty()) return "a group is empty";
    if (!out.may_differ && group.size() != groups[0].size())
      return fmt::format("groups differ in size: {} and {}", groups[0].size(), group.size());
    all.insert(all.end(), group.begin(), group.end());
  }
  out.devices = static_cast<int64_t>(all.size());
  out.size = groups.empty() ? 0 : static_cast<int64_t>(groups[0].size());
  return numbers_fault(all, ids, "device");
}

std::string groups_fault(const ReplicaGroups& groups, int64_t ids, Groups& out) {
  if (groups.form == ReplicaGroups::Form::Iota) return iota_groups(groups.iota, ids, out);
  if (groups.form == ReplicaGroups::Form::Mesh) return mesh_groups(groups, ids, out);
  return explicit_groups(groups.groups, ids, out);
}

// The size of every group, or nothing when it is unknown or after a report.
std::optional<int64_t> verify_groups(const Subject& subject, const ReplicaGroups& groups,
                                     const Mode& mode, bool may_differ = false) {
  Groups found{.may_differ = may_differ};
  std::string fault = groups_fault(groups, mode.ids, found);
  if (fault.empty() && found.devices > 0 && mode.members > 0 && found.devices != mode.ids)
    fault = fmt::format("expected all {} devices, found {}", mode.ids, found.devices);
  if (!fault.empty()) {
    subject.fault("replica_groups: " + fault);
    return std::nullopt;
  }
  if (found.devices == 0) return mode.members ? std::optional(mode.members) : std::nullopt;
  return mode.members == 0 ? found.size : found.size * (mode.members / mode.ids);
}

void verify_channel(const Subject& subject, const std::optional<int64_t>& channel) {
  if (channel && *channel <= 0)
    subject.fault(fmt::format("expected a positive channel_id, found {}", *channel));
}

template <class A>
std::optional<int64_t> verify_global_groups(const Subject& subject, bool may_differ = false) {
  const auto& a = subject.attributes<A>();
  verify_channel(subject, a.channel_id);
  if (a.use_global_device_ids && !a.channel_id) {
    subject.fault("use_global_device_ids needs a channel_id");
    return std::nullopt;
  }
  return verify_groups(
      subject, a.replica_groups,
      mode_of(subject.module.header, a.channel_id.has_value(), a.use_global_device_ids),
      may_differ);
}

template <class A>
std::optional<int64_t> verify_partition_groups(const Subject& subject) {
  const auto& a = subject.attributes<A>();
  verify_channel(subject, a.channel_id);
  return verify_groups(subject, a.replica_groups,
                       partition_mode_of(subject.module.header, a.channel_id.has_value()));
}

// `large` is `size` times `small` along the dimension. Groups of one take part in no exchange.
void need_ratio(const Subject& subject, const Shape& large, const Shape& small, int64_t dim,
                int64_t size) {
  if (size == 1 || large.dims[dim] / size * size == large.dims[dim]) {
    if (size == 1 || large.dims[dim] / size == small.dims[dim]) return;
  }
  subject.misfit(fmt::format("expected dimension {} of {} to be {} times that of {}", dim,
                             shown(large), size, shown(small)));
}

const Shape& part(const Shape& shape, size_t i) {
  return shape.is_tuple() ? shape.elements[i] : shape;
}

void verify_all_gather(const Subject& subject) {
  const auto size = verify_global_groups<AllGatherAttributes>(subject);
  const bool start = subject.instruction.op == Op::AllGatherStart;
  const Shape& result = start ? subject.shape().elements[1] : subject.shape();
  const int64_t dim = subject.attributes<AllGatherAttributes>().dimensions[0];
  for (size_t i = 0; size && i < subject.count(); ++i)
    need_ratio(subject, part(result, i), subject.operand(i), dim, *size);
}

void verify_reduce_scatter(const Subject& subject) {
  const auto size = verify_global_groups<ReduceScatterAttributes>(subject);
  const int64_t dim = subject.attributes<ReduceScatterAttributes>().dimensions[0];
  for (size_t i = 0; size && i < subject.count(); ++i)
    need_ratio(subject, subject.operand(i), part(subject.shape(), i), dim, *size);
}

// Shapes say nothing of the groups: these may be of any sizes.
void verify_all_reduce(const Subject& subject) {
  verify_global_groups<AllReduceAttributes>(subject, true);
}

void verify_all_to_all(const Subject& subject) {
  const auto size = verify_partition_groups<AllToAllAttributes>(subject);
  if (!size) return;
  const auto& dims = subject.attributes<AllToAllAttributes>().dimensions;
  if (dims && subject.operand(0).dims[(*dims)[0]] % *size != 0)
    return subject.misfit(fmt::format("dimension {} of {} does not divide into {} pieces",
                                      (*dims)[0], shown(subject.operand(0)), *size));
  if (!dims && static_cast<int64_t>(subject.count()) != *size)
    subject.misfit(fmt::format("expected {} operand{}, one for each device of a group, found {}",
                               *size, *size == 1 ? "" : "s", subject.count()));
}

void verify_broadcast(const Subject& subject) {
  const auto& a = subject.attributes<CollectiveBroadcastAttributes>();
  verify_channel(subject, a.channel_id);
  const Mode mode = partition_mode_of(subject.module.header, a.channel_id.has_value());
  Groups found{.may_differ = true};  // devices outside all groups get zeros
  const std::string fault = groups_fault(a.replica_groups, mode.ids, found);
  if (!fault.empty()) subject.fault("replica_groups: " + fault);
}

void verify_ragged_all_to_all(const Subject& subject) {
  verify_partition_groups<RaggedAllToAllAttributes>(subject);
}

void verify_permute(const Subject& subject) {
  const auto& a = subject.attributes<CollectivePermuteAttributes>();
  verify_channel(subject, a.channel_id);
  const Mode mode = partition_mode_of(subject.module.header, a.channel_id.has_value());
  Dims sources, targets;
  for (const auto& [source, target] : a.source_target_pairs.pairs) {
    sources.push_back(source);
    targets.push_back(target);
  }
  std::string fault = numbers_fault(sources, mode.ids, "source");
  if (fault.empty()) fault = numbers_fault(targets, mode.ids, "target");
  if (!fault.empty()) subject.fault("source_target_pairs: " + fault);
}

constexpr OpRule rules[] = {
    {Op::AllGather, verify_all_gather},          {Op::AllGatherStart, verify_all_gather},
    {Op::ReduceScatter, verify_reduce_scatter},  {Op::AllReduce, verify_all_reduce},
    {Op::AllReduceStart, verify_all_reduce},     {Op::AllToAll, verify_all_to_all},
    {Op::CollectiveBroadcast, verify_broadcast}, {Op::RaggedAllToAll, verify_ragged_all_to_all},
    {Op::CollectivePermute, verify_permute},     {Op::CollectivePermuteStart, verify_permute}};

}  // namespace

std::span<const OpRule> collective_rules() { return rules; }

}  // namespace hilo
