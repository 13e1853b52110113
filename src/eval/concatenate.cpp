#include "eval/dynamic_sizes.h"
#include "eval/strided_copy.h"

namespace hilo {

// The operands one after the other along `dimensions[0]`; of a dynamic one, what is there.
Result<Literal> evaluate_Concatenate(Call& call) {
  Literal out = call.make();
  const int64_t dim = call.attributes<DimensionsAttributes>().dimensions[0];
  const Dims to_strides = row_major_strides(out.shape().dims);
  const int64_t bytes = storage_bytes(out.type());
  std::byte* to = out.mutable_raw().data();
  int64_t offset = 0;
  for (const Literal& operand : call.operands) {
    Dims sizes = operand.shape().dims;
    sizes[dim] = operand.size(dim);
    copy_strided(
        call, bytes, operand.raw().data(), to,
        {sizes, row_major_strides(operand.shape().dims), to_strides, 0, offset * to_strides[dim]});
    offset += sizes[dim];
  }
  set_dynamic_sizes(out, sizes_of(call.operands[0]));
  out.set_size(dim, offset);
  return out;
}

}  // namespace hilo
