#include "eval/collective.h"

namespace hilo {
namespace {

// What a member brought for the one at `position`: its slice along `dim`.
Rendezvous::Cut slice_of(const Call& call, int64_t dim, int64_t members) {
  return [&call, dim, members](const std::vector<Literal>& values, size_t position) {
    Shape shape = values[0].shape();
    shape.dims[dim] /= members;
    const int64_t offset = static_cast<int64_t>(position) * shape.dims[dim];
    std::vector<Literal> out = {call.make_held(shape)};
    copy_slice_out(call, values[0], dim, offset, out[0]);
    return out;
  };
}

std::vector<Literal> operand_of(const std::vector<Literal>& values, size_t position) {
  return {values[position]};
}

// The operand is cut along `dim`; slice i goes to member i, which puts the slices side by side in
// the order of the senders.
Result<Literal> exchange_slices(const Call& call, const DeviceGroup& group, int64_t dim,
                                std::vector<Literal> operands) {
  const int64_t members = static_cast<int64_t>(group.members.size());
  Literal out = call.make(result_shapes(call.shape())[0]);
  const int64_t size = out.shape().dims[dim];
  if (size % members != 0)
    return call.error(
        ErrorKind::Shape,
        fmt::format("dimension {} of size {} is not divisible by {}", dim, size, members));
  const Rendezvous::Cut slice = slice_of(call, dim, members);
  HILO_TRY(auto meeting, call.device.traffic.rendezvous->meet(call, group, std::move(operands), {},
                                                              Rendezvous::exchange_cuts(slice)));
  for (size_t sender = 0; sender < group.members.size(); ++sender)
    copy_slice_in(call, meeting->cut_of(sender, group.position, slice)[0], dim,
                  static_cast<int64_t>(sender) * (size / members), out);
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
  if (attributes.dimensions)
    return exchange_slices(call, group, attributes.dimensions->at(0), move_operands(call));
  HILO_TRY(auto meeting,
           call.device.traffic.rendezvous->meet(call, group, move_operands(call), {},
                                                Rendezvous::exchange_cuts(operand_of)));
  std::vector<Literal> received;
  for (size_t sender = 0; sender < group.members.size(); ++sender)
    received.push_back(meeting->cut_of(sender, group.position, operand_of)[0]);
  return pack_results(call, call.shape(), std::move(received));
}

}  // namespace hilo
