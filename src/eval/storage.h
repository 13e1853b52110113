// Values in the evaluation's storage, where their bytes are counted. Private to `eval`.
#pragma once

#include "eval/call.h"

namespace hilo {

// Zeros in each leaf; the types as they are.
Literal make_zeros(const Call& call, const Shape& held);
// The array as one that may be written: itself where nobody else holds it, else a copy.
Literal writable(const Call& call, Literal array);

}  // namespace hilo
