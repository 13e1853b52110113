// dynamic-reshape(operand, size of each result dimension): the elements that count, in row-major
// order, become those of the result.
#include <algorithm>

#include "eval/dynamic_sizes.h"

namespace hilo {
namespace {

// Positions of the elements that count, in order.
Dims counted(const Literal& array) {
  const Dims sizes = sizes_of(array), strides = row_major_strides(array.shape().dims);
  Dims index(sizes.size(), 0), out;
  if (element_count(sizes) == 0) return out;
  do {
    int64_t at = 0;
    for (size_t d = 0; d < sizes.size(); ++d) at += index[d] * strides[d];
    out.push_back(at);
  } while (next_index(index, sizes));
  return out;
}

}  // namespace

Result<Literal> evaluate_DynamicReshape(Call& call) {
  const Literal& operand = call.operands[0];
  Literal out = call.make();
  std::ranges::fill(out.mutable_raw(), std::byte{0});
  for (size_t d = 0; d + 1 < call.operands.size() && d < out.shape().dims.size(); ++d) {
    const int64_t size = call.operands[d + 1].integer_at(0), bound = out.shape().dims[d];
    if (size < 0 || size > bound)
      return call.error(ErrorKind::Evaluation,
                        fmt::format("dynamic-reshape: size {} of dimension {} does not lie in "
                                    "[0, {}]",
                                    size, d, bound));
    out.set_size(d, size);
  }
  const Dims from = counted(operand), to = counted(out);
  if (from.size() != to.size())
    return call.error(
        ErrorKind::Evaluation,
        fmt::format("dynamic-reshape: {} elements cannot become {}", from.size(), to.size()));
  const int64_t bytes = storage_bytes(operand.type());
  std::byte* target = out.mutable_raw().data();
  for (size_t i = 0; i < from.size(); ++i)
    std::copy_n(operand.raw().data() + from[i] * bytes, bytes, target + to[i] * bytes);
  return out;
}

}  // namespace hilo
