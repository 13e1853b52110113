#include "eval/strided_copy.h"

namespace hilo {
namespace {

// 0, 1, ... in the element type; complex numbers count in their real part.
Literal counting(const Call& call, ElementType type, int64_t count) {
  Literal out = call.make_held(Shape::array(type, {count}));
  visit_storage(type, [&]<class T>(std::type_identity<T>) {
    const auto data = out.mutable_data<T>();
    for (int64_t i = 0; i < count; ++i) {
      if constexpr (requires(T z) { z.imag(); })
        data[i] = T(static_cast<typename T::value_type>(i));
      else if constexpr (std::is_integral_v<T>) data[i] = static_cast<T>(i);
      else if constexpr (requires { T(int64_t{0}).value; }) data[i] = T(i);
      else data[i] = T(static_cast<double>(i));
    }
  });
  return out;
}

}  // namespace

Result<Literal> evaluate_Iota(Call& call) {
  const int64_t dim = call.attributes<IotaAttributes>().iota_dimension;
  const Dims& dims = call.shape().dims;
  const Literal line = counting(call, call.held(call.shape().type), dims[dim]);
  Dims strides(dims.size(), 0);
  strides[dim] = 1;
  return copy_to_dense(call, line, strides, 0);
}

}  // namespace hilo
