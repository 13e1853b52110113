#include "pass/collective/device_groups.h"

#include <algorithm>
#include <numeric>

namespace hilo {

ReplicaGroups written(const DeviceGroups& groups) {
  ReplicaGroups out;
  out.groups = groups;
  const int64_t size = group_size(groups);
  Dims all;
  for (const Dims& group : groups) all.insert(all.end(), group.begin(), group.end());
  const auto digits = size > 0 ? find_digits(all) : std::nullopt;
  if (!digits || digits->empty()) return out;
  std::vector<size_t> by_stride(digits->size());
  std::iota(by_stride.begin(), by_stride.end(), 0);
  std::ranges::sort(by_stride, {}, [&](size_t i) { return (*digits)[i].pre_size; });
  IotaDevices iota{{std::ssize(groups), size}, {}, Dims(digits->size())};
  for (size_t k = 0; k < by_stride.size(); ++k) {
    iota.dims.push_back((*digits)[by_stride[k]].size);
    iota.permutation[by_stride[k]] = static_cast<int64_t>(k);
  }
  if (iota.expand() != all) return out;
  return {.form = ReplicaGroups::Form::Iota,
          .groups = {},
          .iota = std::move(iota),
          .mesh = {},
          .axes = {}};
}

int64_t next_channel(const Module& module) {
  int64_t out = 1;
  for (uint32_t i = 0; i < module.instructions.size(); ++i)
    if (!module.instructions[i].removed)
      if (const auto channel = channel_of(module, {i})) out = std::max(out, *channel + 1);
  return out;
}

namespace {

bool is_same_reducer(const Module& module, ComputationId a, ComputationId b) {
  if (a == b) return true;
  const auto x = find_combiner(module, a), y = find_combiner(module, b);
  return x && y && module[x->instruction].op == module[y->instruction].op &&
         x->element == y->element && x->wide == y->wide;
}

}  // namespace

bool do_the_same(const Module& module, InstructionId a, InstructionId b, int64_t devices) {
  if (module[a].op != module[b].op) return false;
  return visit_attributes_type(module[a].op, [&]<class A>(std::type_identity<A>) {
    A one = module.attributes<A>(a), other = module.attributes<A>(b);
    if constexpr (requires { one.channel_id; })
      if (one.channel_id && other.channel_id) one.channel_id = other.channel_id;
    if constexpr (requires { one.replica_groups; }) {
      const auto groups = find_groups(module, a, devices);
      if (groups && groups == find_groups(module, b, devices))
        one.replica_groups = other.replica_groups;
    }
    if constexpr (requires { one.to_apply; })
      if (is_same_reducer(module, one.to_apply, other.to_apply)) one.to_apply = other.to_apply;
    return one == other;
  });
}

void remove_collective(Editor& editor, InstructionId collective) {
  const Module& module = editor.module();
  if (module[collective].removed || module.has_users(collective) || editor.is_pinned(collective) ||
      module[module[collective].computation].root == collective)
    return;
  editor.replace_moved(collective, module.operand(collective, 0));
}

bool is_only_user(const Module& module, InstructionId value, InstructionId user) {
  const std::vector<InstructionId> users = module.users(value);
  return users.size() == 1 && users[0] == user && module[module[value].computation].root != value;
}

bool has_one_use(const Editor& editor, InstructionId value) {
  const Module& module = editor.module();
  return editor.use_count(value) == 1 && !editor.is_pinned(value) &&
         module[module[value].computation].root != value;
}

bool may_reorder(Op op, ElementType type, Keeps keeps) {
  if (!is_floating(type) && !is_complex(type)) return true;
  const bool selects = op == Op::Maximum || op == Op::Minimum;
  return keeps == Keeps::Reals || (selects && keeps == Keeps::Values);
}

}  // namespace hilo
