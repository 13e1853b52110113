#include <algorithm>

#include "eval/dynamic_sizes.h"
#include "eval/strided_copy.h"

namespace hilo {
namespace {

// Along one dimension: which elements of the operand land inside the result, and where the first
// does. Element i goes to low + i * step; one element alone has no interior, whatever is said.
struct Landing {
  int64_t first = 0, count = 0, at = 0, step = 1;
};
Landing landing(const PaddingDim& padding, int64_t operand_size, int64_t result_size) {
  const int64_t step = operand_size > 1 ? padding.interior + 1 : 1;
  Landing out;
  out.step = step;
  if (padding.low < 0) out.first = (-padding.low + step - 1) / step;
  out.at = padding.low + out.first * step;
  const int64_t room = out.at < result_size ? (result_size - out.at + step - 1) / step : 0;
  out.count = std::max<int64_t>(0, std::min(operand_size - out.first, room));
  return out;
}

// Elements of a dimension that has `size` of them now, and of its padding.
int64_t padded(const PaddingDim& padding, int64_t size) {
  const int64_t between = size > 1 ? (size - 1) * padding.interior : 0;
  return std::max<int64_t>(0, padding.low + size + between + padding.high);
}

}  // namespace

// low and high add (or, when negative, take away) at the ends, interior adds between neighbours.
Result<Literal> evaluate_Pad(Call& call) {
  Literal out = call.make();
  const int64_t bytes = storage_bytes(out.type());
  const Literal &operand = call.operands[0], &value = call.operands[1];
  const Dims& dims = out.shape().dims;
  std::byte* to = out.mutable_raw().data();
  copy_strided(call, bytes, value.raw().data(), to,
               {dims, Dims(dims.size(), 0), row_major_strides(dims), 0, 0});
  StridedCopy copy{Dims(dims.size()), row_major_strides(operand.shape().dims),
                   row_major_strides(dims), 0, 0};
  const auto& padding = call.attributes<PadAttributes>().padding.dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    const Landing along = landing(padding[i], operand.size(i), dims[i]);
    copy.sizes[i] = along.count;
    copy.from += along.first * copy.from_strides[i];
    copy.to += along.at * copy.to_strides[i];
    copy.to_strides[i] *= along.step;
  }
  copy_strided(call, bytes, operand.raw().data(), to, std::move(copy));
  for (size_t i = 0; is_cut(operand) && i < dims.size(); ++i)
    out.set_size(i, padded(padding[i], operand.size(i)));
  return out;
}

}  // namespace hilo
