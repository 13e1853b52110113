#include "eval/collective.h"
#include "eval/storage.h"

namespace hilo {

// Every member of a group gets the operands of its root: its first member, or with has_dynamic_root
// of each operand the one at the position that the last operand gives for it. Devices in no group
// get zeros.
Result<Literal> evaluate_CollectiveBroadcast(Call& call) {
  const auto& attributes = call.attributes<CollectiveBroadcastAttributes>();
  HILO_TRY(DeviceGroup group,
           find_group(call, attributes.replica_groups, group_mode(attributes.channel_id)));
  if (group.members.empty()) return make_zeros(call, call.held(call.shape()));
  HILO_TRY(auto meeting, call.device.traffic.rendezvous->meet(call, group, move_operands(call)));
  const Literal* roots =
      attributes.has_dynamic_root ? &meeting->brought[group.position].back() : nullptr;
  std::vector<Literal> values;
  for (size_t i = 0; i + (roots ? 1 : 0) < call.operands.size(); ++i) {
    const bool has_own = roots && element_count(roots->shape()) > static_cast<int64_t>(i);
    const int64_t root = roots ? roots->integer_at(has_own ? static_cast<int64_t>(i) : 0) : 0;
    if (root < 0 || root >= static_cast<int64_t>(group.members.size()))
      return call.error(ErrorKind::Evaluation,
                        fmt::format("root {} in a group of {}", root, group.members.size()));
    values.push_back(meeting->brought[root][i]);
  }
  return pack_results(call, call.shape(), std::move(values));
}

}  // namespace hilo
