// Products of arrays over any dimensions. Private to `eval`: dot, its relatives and the custom
// calls of matrix libraries share it.
#pragma once

#include "eval/call.h"

namespace hilo {

template <class Attributes>
DotDims dot_dims(const Attributes& attributes) {
  return {attributes.lhs_batch_dims, attributes.lhs_contracting_dims, attributes.rhs_batch_dims,
          attributes.rhs_contracting_dims};
}

// Fills `out`, whose dimensions are the batch dims, then lhs's free dims, then rhs's; see matmul()
// for the arithmetic. What lies beyond a dynamic dimension's size is not summed.
void dot(const Literal& lhs, const Literal& rhs, const DotDims& dims, Literal& out,
         MatmulPrecision precision, const Call& call);

}  // namespace hilo
