// topk: the k largest (or smallest) of the last dimension and their places, floats in total order,
// the lower place first among equals.
#include <algorithm>
#include <numeric>

#include "eval/convert.h"
#include "eval/sort_key.h"

namespace hilo {

Result<Literal> evaluate_TopK(Call& call) {
  const auto& a = call.attributes<TopKAttributes>();
  const Literal& operand = call.operands[0];
  const int64_t n = operand.shape().dims.back(), lines = n ? operand.count() / n : 0;
  if (!is_integral(operand.type()) && !is_floating(operand.type()))
    return call.error(ErrorKind::Unsupported, "topk of " + std::string(text_of(operand.type())));
  // Floats narrower than those that have sort keys are ordered as f32, which holds them all.
  const bool narrow = is_floating(operand.type()) && bits_of(operand.type()) < 16;
  const Literal keyed = narrow ? converted(call, operand, ElementType::F32) : operand;
  if (a.k > n) return call.error(ErrorKind::Shape, "topk: k is larger than the last dimension");
  Literal out = call.make();
  Literal& values = out.mutable_elements()[0];
  auto places = out.mutable_elements()[1].mutable_data<int32_t>();
  const int64_t bytes = storage_bytes(operand.type()), key_bytes = storage_bytes(keyed.type());
  std::byte* target = values.mutable_raw().data();
  const SortKey key{0, a.largest, true, false, false};
  call.parallel(
      lines, std::max<int64_t>(1, 8192 / std::max<int64_t>(n, 1)), [&](int64_t begin, int64_t end) {
        std::vector<uint64_t> keys(n);
        Dims order(n);
        for (int64_t line = begin; line < end; ++line) {
          const std::byte* from = operand.raw().data() + line * n * bytes;
          make_sort_keys(key, keyed.type(), keyed.raw().data() + line * n * key_bytes, 1, n,
                         keys.data());
          std::iota(order.begin(), order.end(), int64_t{0});
          std::partial_sort(order.begin(), order.begin() + a.k, order.end(), [&](auto x, auto y) {
            return keys[x] != keys[y] ? keys[x] < keys[y] : x < y;
          });
          for (int64_t i = 0; i < a.k; ++i) {
            places[line * a.k + i] = static_cast<int32_t>(order[i]);
            std::copy_n(from + order[i] * bytes, bytes, target + (line * a.k + i) * bytes);
          }
        }
      });
  return out;
}

}  // namespace hilo
