// Custom calls that random programs make, whose rules say how they can be sharded. What they
// compute is supplied to the evaluator.
#pragma once

#include "../judge.h"

namespace hilo::test {

inline void copy_bytes(const Literal& from, Literal& to) {
  std::ranges::copy(from.raw(), to.mutable_raw().begin());
}

// Calls body(the first element of a row, elements of a row) for each row of the last dimension.
inline void for_each_row(const Shape& shape, const std::function<void(int64_t, int64_t)>& body) {
  const int64_t size = shape.dims.back(), count = element_count(shape);
  for (int64_t at = 0; at < count; at += size) body(at, size);
}

inline Result<void> call_same(const CustomCallArguments& call) {
  for (size_t i = 0; i < call.operands.size(); ++i) copy_bytes(call.operands[i], call.results[i]);
  return {};
}

inline Result<void> call_reversed_rows(const CustomCallArguments& call) {
  const Literal& from = call.operands[0];
  const int64_t bytes = storage_bytes(from.type());
  for_each_row(from.shape(), [&](int64_t first, int64_t size) {
    for (int64_t i = 0; i < size; ++i)
      std::ranges::copy(from.raw().subspan((first + i) * bytes, bytes),
                        call.results[0].mutable_raw().begin() + (first + size - 1 - i) * bytes);
  });
  return {};
}

inline Result<void> call_row_sums(const CustomCallArguments& call) {
  visit_storage(call.operands[0].type(), [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      const auto from = call.operands[0].data<T>();
      const auto to = call.results[0].mutable_data<T>();
      std::ranges::fill(to, T{0});
      for_each_row(call.operands[0].shape(), [&](int64_t first, int64_t size) {
        for (int64_t i = 0; i < size; ++i)
          to[first / size] = static_cast<T>(to[first / size] + from[first + i]);
      });
    }
  });
  return {};
}

inline std::map<std::string, CustomCallFunction> ruled_calls() {
  return {{"random.same", call_same},
          {"random.joined", call_same},
          {"random.reversed_rows", call_reversed_rows},
          {"random.row_sums", call_row_sums}};
}

}  // namespace hilo::test
