// Sums that are held as summands pass through what adds. Private to `pass/shard`.
#pragma once

#include "rewrite/rewrite.h"

namespace hilo {

// An instruction that gives summands of what operands are summands of becomes a manual region along
// the axes that both state: each device works on its own summands, and nothing is sent.
//   f(x_0 + x_1 + ...) = f(x_0) + f(x_1) + ...
// Operands of which nothing is stated are whole on each device. What does not fit stays as it is.
void work_on_summands(Module& module, const SharedMesh& mesh);

}  // namespace hilo
