// topk: the k largest (or smallest) of the last dimension and their places, floats in total order,
// the lower place first among equals.
#include <algorithm>
#include <numeric>

#include "eval/convert.h"
#include "eval/sort_key.h"

namespace hilo {
namespace {

struct Selection {
  const Literal &operand, &keyed;  // keyed: of a type that has sort keys, in the same order
  SortKey key;
  int64_t k;
  std::byte* values;
  int32_t* places;

  int64_t width() const { return operand.shape().dims.back(); }

  void run_line(int64_t line, std::vector<uint64_t>& keys, Dims& order) const {
    const int64_t n = width(), bytes = storage_bytes(operand.type());
    const std::byte* from = operand.raw().data() + line * n * bytes;
    make_sort_keys(key, keyed.type(), keyed.raw().data() + line * n * storage_bytes(keyed.type()),
                   1, n, keys.data());
    std::iota(order.begin(), order.end(), int64_t{0});
    std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](auto x, auto y) {
      return keys[x] != keys[y] ? keys[x] < keys[y] : x < y;
    });
    for (int64_t i = 0; i < k; ++i) {
      places[line * k + i] = static_cast<int32_t>(order[i]);
      std::copy_n(from + order[i] * bytes, bytes, values + (line * k + i) * bytes);
    }
  }
};

}  // namespace

Result<Literal> evaluate_TopK(Call& call) {
  const auto& a = call.attributes<TopKAttributes>();
  const Literal& operand = call.operands[0];
  const int64_t n = operand.shape().dims.back(), lines = n ? operand.count() / n : 0;
  if (!is_integral(operand.type()) && !is_floating(operand.type()))
    return call.error(ErrorKind::Unsupported, "topk of " + std::string(text_of(operand.type())));
  if (a.k > n) return call.error(ErrorKind::Shape, "topk: k is larger than the last dimension");
  // Floats narrower than those that have sort keys are ordered as f32, which holds them all.
  const bool narrow = is_floating(operand.type()) && bits_of(operand.type()) < 16;
  const Literal keyed = narrow ? converted(call, operand, ElementType::F32) : operand;
  Literal out = call.make();
  std::vector<Literal>& parts = out.mutable_elements();
  const Selection selection{operand,
                            keyed,
                            {0, a.largest, true, false, false},
                            a.k,
                            parts[0].mutable_raw().data(),
                            parts[1].mutable_data<int32_t>().data()};
  call.parallel(lines, std::max<int64_t>(1, 8192 / std::max<int64_t>(n, 1)),
                [&](int64_t begin, int64_t end) {
                  std::vector<uint64_t> keys(n);
                  Dims order(n);
                  for (int64_t line = begin; line < end; ++line)
                    selection.run_line(line, keys, order);
                });
  return out;
}

}  // namespace hilo
