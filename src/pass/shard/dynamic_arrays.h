// Arrays whose sizes are found when the program runs, below a bound: a tile of one would be of the
// bound. They are whole on every device. Private to `pass/shard`.
#pragma once

#include "ir/ir.h"

namespace hilo {

// Unsupported where the array, if it has dynamic dimensions, is cut or held as summands.
Result<void> check_whole(const Shape& shape, const AxisSharding& sharding);
// The error of such an array, of which devices would have something else each.
std::unexpected<Error> fault_of_dynamic(const Shape& shape, std::string_view sharding);

}  // namespace hilo
