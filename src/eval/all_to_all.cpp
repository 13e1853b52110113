#include "eval/collective.h"

namespace hilo {
namespace {

// The operand is cut along `dim`; piece i goes to member i, which puts the pieces side by side in
// the order of the senders.
Result<Literal> exchange_slices(const Call& call, const DeviceGroup& group, int64_t dim,
                                const Rendezvous::Meeting& meeting) {
  const int64_t members = static_cast<int64_t>(group.members.size());
  Literal out = call.make(result_shapes(call.shape())[0]);
  const int64_t size = out.shape().dims[dim];
  if (size % members != 0)
    return call.error(
        ErrorKind::Shape,
        fmt::format("dimension {} of size {} is not divisible by {}", dim, size, members));
  Shape slice_shape = out.shape();
  slice_shape.dims[dim] = size / members;
  for (int64_t sender = 0; sender < members; ++sender) {
    Literal piece = call.make_held(slice_shape);
    const int64_t mine = static_cast<int64_t>(group.position) * slice_shape.dims[dim];
    copy_slice_out(call, meeting.brought[sender][0], dim, mine, piece);
    copy_slice_in(call, piece, dim, sender * slice_shape.dims[dim], out);
  }
  return pack_results(call, call.shape(), {std::move(out)});
}

}  // namespace

Result<Literal> evaluate_AllToAll(Call& call) {
  const auto& attributes = call.attributes<AllToAllAttributes>();
  HILO_TRY(DeviceGroup group,
           need_group(call, attributes.replica_groups, group_mode(attributes.channel_id)));
  const size_t operands = call.operands.size();
  if (!attributes.dimensions && operands != group.members.size())
    return call.error(ErrorKind::Shape,
                      fmt::format("{} operands for a group of {}", operands, group.members.size()));
  HILO_TRY(auto meeting, call.device.traffic.rendezvous->meet(call, group, move_operands(call)));
  if (attributes.dimensions)
    return exchange_slices(call, group, attributes.dimensions->at(0), *meeting);
  std::vector<Literal> received;
  for (const std::vector<Literal>& sender : meeting->brought)
    received.push_back(sender[group.position]);
  return pack_results(call, call.shape(), std::move(received));
}

}  // namespace hilo
