#include "eval/all_reduce.h"
#include "eval/collective.h"

namespace hilo {
namespace {

Result<void> check_sizes(const Call& call, int64_t dim, int64_t members) {
  for (size_t i = 0; i < call.operands.size(); ++i)
    if (call.operands[i].shape().dims[dim] != result_shapes(call.shape())[i].dims[dim] * members)
      return call.error(ErrorKind::Shape, fmt::format("the operand's dimension {} is not {} times "
                                                      "the result's",
                                                      dim, members));
  return {};
}

// What a member brought for the device at `position`.
Rendezvous::Cut slices_along(const Call& call, int64_t dim) {
  return [&call, dim](const std::vector<Literal>& values, size_t position) {
    std::vector<Literal> slices;
    for (size_t i = 0; i < values.size(); ++i) {
      slices.push_back(call.make(result_shapes(call.shape())[i]));
      const int64_t size = slices.back().shape().dims[dim];
      copy_slice_out(call, values[i], dim, static_cast<int64_t>(position) * size, slices.back());
    }
    return slices;
  };
}

}  // namespace

// Each device reduces its own slice over the members of the group.
Result<Literal> evaluate_ReduceScatter(Call& call) {
  const auto& attributes = call.attributes<ReduceScatterAttributes>();
  HILO_TRY(DeviceGroup group,
           need_group(call, attributes.replica_groups,
                      group_mode(attributes.channel_id, attributes.use_global_device_ids)));
  const int64_t dim = attributes.dimensions.empty() ? 0 : attributes.dimensions[0];
  HILO_DO(check_sizes(call, dim, std::ssize(group.members)));
  const Rendezvous::Cut slices = slices_along(call, dim);
  HILO_TRY(auto meeting, call.device.traffic.rendezvous->meet(call, group, move_operands(call), {},
                                                              Rendezvous::exchange_cuts(slices)));
  HILO_TRY(
      std::vector<Literal> sums,
      reduce_members(call, attributes.to_apply, std::ssize(group.members), [&](int64_t member) {
        return meeting->cut_of(static_cast<size_t>(member), group.position, slices);
      }));
  return pack_results(call, call.shape(), std::move(sums));
}

}  // namespace hilo
