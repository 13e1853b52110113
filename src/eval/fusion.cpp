#include "eval/call.h"

namespace hilo {

Result<Literal> evaluate_Fusion(Call& call) {
  return call.apply(call.attributes<FusionAttributes>().calls,
                    {std::make_move_iterator(call.operands.begin()),
                     std::make_move_iterator(call.operands.end())});
}

}  // namespace hilo
