#include "pass/shard/dynamic_arrays.h"

#include "pass/shard/sharding_text.h"

namespace hilo {

Result<void> check_whole(const Shape& shape, const AxisSharding& sharding) {
  if (!shape.has_dynamic_dims() || (!sharding.is_sharded() && sharding.unreduced.empty()))
    return {};
  return fault_of_dynamic(shape, axes_text(sharding));
}

std::unexpected<Error> fault_of_dynamic(const Shape& shape, std::string_view sharding) {
  return fail(ErrorKind::Unsupported,
              "an array with dynamic dimensions is whole on every device: {} cannot be sharded {}",
              to_string_without_layout(shape), sharding);
}

}  // namespace hilo
