#include "eval/call.h"

namespace hilo {
namespace {

Result<Literal> id_literal(const Call& call, int64_t id) {
  return call.with_shape(Literal::scalar(static_cast<uint32_t>(id)), call.result_shape());
}

}  // namespace

Result<Literal> evaluate_PartitionId(Call& call) { return id_literal(call, call.device.partition); }
Result<Literal> evaluate_ReplicaId(Call& call) { return id_literal(call, call.device.replica); }

}  // namespace hilo
