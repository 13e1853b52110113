// Orders of dimensions: the d-th one of the result is number order[d]. Private to `pass`.
#pragma once

#include "shape/shape.h"

namespace hilo {

Dims permuted(const Dims& dims, const Dims& order);
Dims inverse_order(const Dims& order);
// Whether these are the first dimensions, in their order.
bool leads(const Dims& dims);

}  // namespace hilo
