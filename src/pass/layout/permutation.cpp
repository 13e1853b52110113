#include "pass/layout/permutation.h"

namespace hilo {

Dims permuted(const Dims& dims, const Dims& order) {
  Dims out;
  for (int64_t d : order) out.push_back(dims[static_cast<size_t>(d)]);
  return out;
}

Dims inverse_order(const Dims& order) {
  Dims out(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    out[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return out;
}

bool leads(const Dims& dims) {
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != static_cast<int64_t>(i)) return false;
  return true;
}

}  // namespace hilo
