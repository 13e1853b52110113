#include "eval/collective.h"
#include "eval/storage.h"

namespace hilo {

// Every member of a group gets the operands of its root: its first member, or with has_dynamic_root
// the one at the position that the last operand gives. Devices in no group get zeros.
Result<Literal> evaluate_CollectiveBroadcast(Call& call) {
  const auto& attributes = call.attributes<CollectiveBroadcastAttributes>();
  HILO_TRY(DeviceGroup group,
           find_group(call, attributes.replica_groups, group_mode(attributes.channel_id)));
  if (group.members.empty()) return make_zeros(call, call.held(call.shape()));
  HILO_TRY(auto meeting, call.device.traffic.rendezvous->meet(call, group, move_operands(call)));
  int64_t root = 0;
  if (attributes.has_dynamic_root) {
    root = meeting->brought[group.position].back().integer_at(0);
    if (root < 0 || root >= static_cast<int64_t>(group.members.size()))
      return call.error(ErrorKind::Evaluation,
                        fmt::format("root {} in a group of {}", root, group.members.size()));
  }
  std::vector<Literal> values = meeting->brought[root];
  if (attributes.has_dynamic_root) values.pop_back();
  return pack_results(call, call.shape(), std::move(values));
}

}  // namespace hilo
