// send, recv and their done ops between devices. A channel's pairs stand in the frontend attribute
// _xla_send_recv_source_target_pairs; values of one channel between two devices keep their order.
// send never waits; recv-done waits for what its recv asked for. A device that nobody sends to gets
// zeros.
#include <cstdlib>

#include "eval/collective.h"
#include "eval/storage.h"

namespace hilo {
namespace {

using Pairs = std::vector<std::pair<int64_t, int64_t>>;

Result<Pairs> pairs_of(const Call& call) {
  const TransferAttributes& attributes = call.attributes<TransferAttributes>();
  if (attributes.is_host_transfer)
    return call.error(ErrorKind::Unsupported, "a transfer to or from the host");
  const FrontendAttributes& all = call.module.extra(call.instruction).frontend_attributes;
  auto found = all.find("_xla_send_recv_source_target_pairs");
  Pairs pairs;
  if (found == all.end()) {
    if (call.device.traffic.rendezvous->grid().count() > 1)
      return call.error(ErrorKind::Unsupported,
                        "a transfer between devices without the frontend attribute "
                        "_xla_send_recv_source_target_pairs");
    pairs.emplace_back(0, 0);
    return pairs;
  }
  std::vector<int64_t> numbers;
  for (const char* at = found->second.text.c_str(); *at != 0;) {
    char* end = nullptr;
    const int64_t number = std::strtoll(at, &end, 10);
    if (end != at) numbers.push_back(number);
    at = end != at ? end : at + 1;
  }
  const int64_t devices = call.device.traffic.rendezvous->grid().count();
  for (int64_t number : numbers)
    if (number < 0 || number >= devices || numbers.size() % 2 != 0)
      return call.error(ErrorKind::Evaluation, fmt::format("source-target pairs '{}' on {} devices",
                                                           found->second.text, devices));
  for (size_t i = 0; i + 1 < numbers.size(); i += 2) pairs.emplace_back(numbers[i], numbers[i + 1]);
  return pairs;
}

int64_t channel_of(const Call& call) {
  return call.attributes<TransferAttributes>().channel_id.value_or(0);
}

GroupMode mode_of(const Call& call) {
  return call.device.traffic.rendezvous->grid().partitions > 1 ? GroupMode::CrossPartition
                                                               : GroupMode::CrossReplica;
}

// Both ends count for themselves, also where a device sends to itself.
int64_t next_sent(const Call& call, int64_t target) {
  return call.device.traffic.transfers[{channel_of(call), call.device.id, target}]++;
}
int64_t next_received(const Call& call, int64_t source) {
  return call.device.traffic.transfers[{channel_of(call), source, ~call.device.id}]++;
}

// (data, context, token)
Literal pack(const Call& call, Literal data, int64_t context) {
  const Shape& stated = call.shape();
  std::vector<Literal> parts{std::move(data)};
  parts.push_back(Literal::scalar(static_cast<uint32_t>(context)));
  if (stated.elements.size() > 2) parts.push_back(Literal::token());
  return Literal::tuple(std::move(parts));
}

}  // namespace

Result<Literal> evaluate_Send(Call& call) {
  HILO_TRY(Pairs pairs, pairs_of(call));
  const int64_t mine = id_in_mode(call.device, mode_of(call));
  for (auto [source, target] : pairs) {
    if (source != mine) continue;
    const int64_t to = device_in_mode(call, target, mode_of(call));
    call.device.traffic.rendezvous->post(
        {true, channel_of(call), call.device.id, to, next_sent(call, to)},
        kept(call, {call.operands[0]}));
  }
  return pack(call, std::move(call.operands[0]), 0);
}

Result<Literal> evaluate_SendDone(Call&) { return Literal::token(); }

Result<Literal> evaluate_Recv(Call& call) {
  HILO_TRY(Pairs pairs, pairs_of(call));
  Traffic& traffic = call.device.traffic;
  const int64_t mine = id_in_mode(call.device, mode_of(call));
  int64_t context = 0;
  for (auto [source, target] : pairs) {
    if (target != mine || context != 0) continue;
    const int64_t from = device_in_mode(call, source, mode_of(call));
    traffic.receives.push_back({from, channel_of(call), next_received(call, from)});
    context = static_cast<int64_t>(traffic.receives.size());
  }
  return pack(call, make_zeros(call, call.held(call.shape().elements[0])), context);
}

Result<Literal> evaluate_RecvDone(Call& call) {
  std::vector<Literal>& parts = call.operands[0].mutable_elements();
  Traffic& traffic = call.device.traffic;
  const int64_t context = parts.at(1).integer_at(0);
  if (context < 0 || context > static_cast<int64_t>(traffic.receives.size()))
    return call.error(ErrorKind::Evaluation, "the operand does not come from a recv");
  Literal data = std::move(parts[0]);
  if (context > 0) {
    const Traffic::Receive& receive = traffic.receives[context - 1];
    const auto shape = std::make_shared<const Shape>(call.held(call.shape().elements[0]));
    HILO_TRY(std::vector<Literal> values,
             traffic.rendezvous->take(
                 call, {true, receive.channel, receive.source, call.device.id, receive.ordinal},
                 {&shape, 1}));
    data = std::move(values.at(0));
    if (!same_dims(data.shape(), call.held(call.shape().elements[0])))
      return call.error(ErrorKind::Evaluation,
                        fmt::format("device {} sent {}; expected {}", receive.source,
                                    to_string_without_layout(data.shape()),
                                    to_string_without_layout(call.shape().elements[0])));
  }
  return Literal::tuple({std::move(data), Literal::token()});
}

}  // namespace hilo
