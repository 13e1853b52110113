// Shardings for readers. Private to `pass/shard`.
#pragma once

#include "ir/ir.h"

namespace hilo {

std::string list_text(const Mesh& mesh, const SubAxes& axes);  // {'x', 'y':(1)2}
// [{'x'}, {'y':(1)2}] and, where there are any, unreduced={'z'}.
std::string axes_text(const AxisSharding& sharding);

}  // namespace hilo
