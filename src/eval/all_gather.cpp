#include "eval/collective.h"

namespace hilo {
namespace {

Result<Literal> gather(const Call& call, const Shape& stated, std::vector<Literal> operands) {
  const auto& attributes = call.attributes<AllGatherAttributes>();
  HILO_TRY(DeviceGroup group,
           need_group(call, attributes.replica_groups,
                      group_mode(attributes.channel_id, attributes.use_global_device_ids)));
  const int64_t dim = attributes.dimensions[0];
  // The members' results are the same: one array serves all.
  const auto conclude = [&](Rendezvous::Meeting& meeting) -> Result<void> {
    for (size_t i = 0; i < result_shapes(stated).size(); ++i) {
      Literal whole = call.make(result_shapes(stated)[i]);
      int64_t offset = 0;
      for (std::vector<Literal>& member : meeting.brought) {
        if (offset + member[i].shape().dims[dim] > whole.shape().dims[dim])
          return call.error(ErrorKind::Shape, "the pieces are larger than the result");
        copy_slice_in(call, member[i], dim, offset, whole);
        offset += member[i].shape().dims[dim];
        member[i] = {};
      }
      if (offset != whole.shape().dims[dim])
        return call.error(
            ErrorKind::Shape,
            fmt::format("{} pieces fill {} of {} elements of dimension {}", meeting.brought.size(),
                        offset, whole.shape().dims[dim], dim));
      meeting.common.push_back(std::move(whole));
    }
    return {};
  };
  HILO_TRY(auto meeting,
           call.device.traffic.rendezvous->meet(call, group, std::move(operands), conclude));
  return pack_results(call, stated, meeting->common);
}

}  // namespace

Result<Literal> evaluate_AllGather(Call& call) {
  return gather(call, call.shape(), move_operands(call));
}

Result<Literal> evaluate_AllGatherStart(Call& call) {
  HILO_TRY(Literal results,
           gather(call, call.shape().elements[1], {call.operands.begin(), call.operands.end()}));
  return pack_start(call, std::move(results));
}

Result<Literal> evaluate_AllGatherDone(Call& call) {
  return std::move(call.operands[0].mutable_elements()[1]);
}

}  // namespace hilo
