#include <bit>
#include <cstring>
#include <numeric>

#include "eval/reference/reference.h"

namespace hilo::reference {
namespace {

// A number in the order of the elements; of floats in total order.
uint64_t rank_of(const Literal& array, int64_t at) {
  constexpr uint64_t sign = uint64_t{1} << 63;
  if (!is_floating(array.type()))
    return static_cast<uint64_t>(array.integer_at(at)) ^ (is_signed(array.type()) ? sign : 0);
  const uint64_t bits = std::bit_cast<uint64_t>(array.number_at(at));
  return bits & sign ? ~bits : bits | sign;
}

}  // namespace

void top_k(const Literal& operand, const TopKAttributes& a, Literal& values, Literal& indices) {
  const int64_t n = operand.shape().dims.back(), bytes = storage_bytes(operand.type());
  for (int64_t line = 0; n > 0 && line < operand.count() / n; ++line) {
    std::vector<int32_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](int32_t i, int32_t j) {
      const uint64_t left = rank_of(operand, line * n + i), right = rank_of(operand, line * n + j);
      return a.largest ? left > right : left < right;
    });
    for (int64_t i = 0; i < a.k; ++i) {
      std::memcpy(values.mutable_raw().data() + (line * a.k + i) * bytes,
                  operand.raw().data() + (line * n + order[i]) * bytes, bytes);
      indices.mutable_data<int32_t>()[line * a.k + i] = order[i];
    }
  }
}

}  // namespace hilo::reference
