#include "eval/storage.h"

#include <algorithm>

#include "eval/evaluation.h"

namespace hilo {
namespace {

void fill_zeros(Literal& value) {
  for (Literal& element : value.mutable_elements()) fill_zeros(element);
  if (value.shape().is_array()) std::ranges::fill(value.mutable_raw(), std::byte{0});
}

}  // namespace

Literal make_zeros(const Call& call, const Shape& held) {
  Literal out = call.make_held(held);
  fill_zeros(out);
  return out;
}

Literal writable(const Call& call, Literal array) {
  if (array.is_unique()) return array;
  Literal out = Literal::uninitialized(array.shared_shape(), call.device.evaluation->allocate());
  std::ranges::copy(array.raw(), out.mutable_raw().begin());
  for (size_t d = 0; d < array.dynamic_sizes().size(); ++d) out.set_size(d, array.size(d));
  return out;
}

}  // namespace hilo
