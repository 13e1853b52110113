#include <cstring>

#include "eval/collective.h"

namespace hilo {
namespace {

// Operands: input, output, input_offsets, send_sizes, output_offsets, recv_sizes; rows of dimension
// 0. The sender's output_offsets count in the receiver's output.
struct Rows {
  int64_t from, to, count;
};
Rows rows_of(const std::vector<Literal>& sender, int64_t update) {
  return {sender[2].integer_at(update), sender[4].integer_at(update), sender[3].integer_at(update)};
}

// Updates [first, first + each) of a sender into the output.
Result<void> receive(const Call& call, const std::vector<Literal>& sender, int64_t first,
                     int64_t each, Literal& out) {
  const std::span<std::byte> bytes = out.mutable_raw();
  const int64_t room = out.shape().dims[0], held = sender[0].shape().dims[0];
  const int64_t row = room > 0 ? static_cast<int64_t>(bytes.size()) / room : 0;
  for (int64_t update = first; update < first + each; ++update) {
    const auto [from, to, count] = rows_of(sender, update);
    if (count < 0 || from < 0 || to < 0 || from > held - count || to > room - count)
      return call.error(
          ErrorKind::Evaluation,
          fmt::format("{} rows from {} of {} do not fit at {} of {}", count, from, held, to, room));
    std::memcpy(bytes.data() + to * row, sender[0].raw().data() + from * row, count * row);
  }
  return {};
}

}  // namespace

Result<Literal> evaluate_RaggedAllToAll(Call& call) {
  const auto& attributes = call.attributes<RaggedAllToAllAttributes>();
  HILO_TRY(DeviceGroup group,
           need_group(call, attributes.replica_groups, group_mode(attributes.channel_id)));
  const int64_t members = static_cast<int64_t>(group.members.size());
  const int64_t updates = call.operands[2].count();
  if (updates % members != 0)
    return call.error(ErrorKind::Shape,
                      fmt::format("{} offsets for a group of {}", updates, members));
  Literal out = call.operands[1];
  HILO_TRY(auto meeting, call.device.traffic.rendezvous->meet(call, group, move_operands(call)));
  const int64_t each = updates / members;
  const int64_t first = static_cast<int64_t>(group.position) * each;
  for (const std::vector<Literal>& sender : meeting->brought)
    HILO_DO(receive(call, sender, first, each, out));
  return pack_results(call, call.shape(), {std::move(out)});
}

}  // namespace hilo
