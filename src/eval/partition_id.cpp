#include "eval/call.h"

namespace hilo {
namespace {

Literal id_literal(const Call& call, int64_t id) {
  Literal out = Literal::scalar(static_cast<uint32_t>(id));
  return out.with_shape(call.shape());
}

}  // namespace

Result<Literal> evaluate_PartitionId(Call& call) { return id_literal(call, call.device.partition); }
Result<Literal> evaluate_ReplicaId(Call& call) { return id_literal(call, call.device.replica); }

}  // namespace hilo
