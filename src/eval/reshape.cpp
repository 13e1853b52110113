#include <algorithm>

#include "eval/dynamic_sizes.h"

namespace hilo {
namespace {

Result<Literal> reshape_whole(Call& call) {
  return call.with_shape(call.operands[0], call.result_shape());
}

// The sizes of the result. Dimensions come in the smallest groups of as many elements before and
// after; of each after all are whole but the outermost.
Result<Dims> cut_sizes(const Call& call) {
  const Dims &from = call.operands[0].shape().dims, sizes = sizes_of(call.operands[0]);
  Dims out = call.shape().dims;
  for (size_t i = 0, j = 0; i < from.size() && j < out.size();) {
    size_t outermost = j;
    int64_t count = sizes[i], left = from[i++], right = out[j++], inner = 1;
    while (left != right || (j == out.size() && i < from.size())) {
      if (left < right || j == out.size()) {
        count *= sizes[i];
        left *= from[i++];
      } else {
        right *= out[j];
        if (out[outermost] == 1) outermost = j;
        else inner *= out[j];
        ++j;
      }
    }
    if (count % inner != 0)
      return call.error(ErrorKind::Evaluation,
                        fmt::format("reshape: {} elements that are there do not fill rows of {} in "
                                    "dimension {}",
                                    count, inner, outermost));
    out[outermost] = count / inner;
  }
  return out;
}

}  // namespace

// The same elements in row-major order; of dynamic dimensions, those that are there.
Result<Literal> evaluate_Reshape(Call& call) {
  if (!has_cut_operand(call) || call.operands[0].count() == 0) return reshape_whole(call);
  HILO_TRY(const Dims sizes, cut_sizes(call));
  return evaluate_cut(call, reshape_whole, std::array{sizes});
}

}  // namespace hilo
