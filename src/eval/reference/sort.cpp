#include <cstring>
#include <numeric>

#include "eval/convert.h"
#include "eval/reference/reference.h"

namespace hilo::reference {
namespace {

// Element `at` of an array as a scalar.
Literal element(const Call& call, const Literal& array, int64_t at) {
  Literal out = call.make_held(Shape::scalar(array.type()));
  const int64_t bytes = storage_bytes(array.type());
  std::memcpy(out.mutable_raw().data(), array.raw().data() + at * bytes, bytes);
  return out;
}

// The comparator over elements of one line.
struct Comparator {
  const Call& call;
  std::vector<Literal> operands;  // in the types of its parameters
  int64_t base, step;

  Result<bool> operator()(int64_t left, int64_t right) const {
    std::vector<Literal> arguments;
    for (const Literal& operand : operands)
      for (int64_t at : {left, right})
        arguments.push_back(element(call, operand, base + at * step));
    HILO_TRY(const Literal out,
             call.apply(call.attributes<SortAttributes>().to_apply, std::move(arguments)));
    return out.integer_at(0) != 0;
  }
};

// Halves are sorted and merged; the right one goes first only where it comes before the left one.
Result<void> sort_stably(const Comparator& before, std::span<int64_t> order) {
  if (order.size() < 2) return {};
  const size_t half = order.size() / 2;
  HILO_DO(sort_stably(before, order.first(half)));
  HILO_DO(sort_stably(before, order.subspan(half)));
  std::vector<int64_t> merged;
  size_t left = 0, right = half;
  while (left < half && right < order.size()) {
    HILO_TRY(const bool right_first, before(order[right], order[left]));
    merged.push_back(order[right_first ? right++ : left++]);
  }
  while (left < half) merged.push_back(order[left++]);
  std::ranges::copy(merged, order.begin());  // what is left of the second half stands there
  return {};
}

}  // namespace

Result<void> sort(const Call& call, int64_t count, std::span<Literal> out) {
  const auto& a = call.attributes<SortAttributes>();
  const Dims& dims = call.operands[0].shape().dims;
  const int64_t size = dims[a.dimensions[0]], step = row_major_strides(dims)[a.dimensions[0]];
  Comparator before{call, {}, 0, step};
  for (size_t o = 0; o < call.operands.size(); ++o) {
    const InstructionId parameter = call.module[a.to_apply].parameters[2 * o];
    before.operands.push_back(
        converted(call, call.operands[o], call.held(call.module.shape(parameter).type)));
  }
  for (int64_t line = 0; size > 0 && line < element_count(dims) / size; ++line) {
    before.base = line / step * step * size + line % step;
    std::vector<int64_t> order(static_cast<size_t>(count));
    std::iota(order.begin(), order.end(), int64_t{0});
    HILO_DO(sort_stably(before, order));
    for (size_t o = 0; o < out.size(); ++o)
      for (int64_t i = 0; i < count; ++i) {
        const int64_t bytes = storage_bytes(out[o].type());
        std::memcpy(out[o].mutable_raw().data() + (before.base + i * step) * bytes,
                    call.operands[o].raw().data() + (before.base + order[i] * step) * bytes, bytes);
      }
  }
  return {};
}

}  // namespace hilo::reference
