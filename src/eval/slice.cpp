#include <algorithm>

#include "eval/dynamic_sizes.h"
#include "eval/strided_copy.h"

namespace hilo {
namespace {

// Of a dimension that has `size` elements now, those that the slice takes.
int64_t taken(const SliceDim& dim, int64_t size) {
  const int64_t range = std::max<int64_t>(0, std::min(size, dim.limit) - dim.start);
  return (range + dim.stride - 1) / dim.stride;
}

}  // namespace

// result[i] = operand[start + i * stride].
Result<Literal> evaluate_Slice(Call& call) {
  const Literal& operand = call.operands[0];
  Dims strides = row_major_strides(operand.shape().dims);
  const auto& dims = call.attributes<SliceAttributes>().slice.dims;
  int64_t from = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    from += dims[i].start * strides[i];
    strides[i] *= dims[i].stride;
  }
  Literal out = copy_to_dense(call, operand, strides, from);
  for (size_t i = 0; is_cut(operand) && i < dims.size(); ++i)
    out.set_size(i, taken(dims[i], operand.size(i)));
  return out;
}

}  // namespace hilo
