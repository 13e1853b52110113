// TopK, and the sorts that XLA gives to CUB.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "eval/backend_config.h"
#include "eval/custom_call.h"
#include "eval/topk.h"

namespace hilo {
namespace {

// Unsigned integers in the order that a radix sort has: floats by their bits, so that -0 comes
// before 0, and NaNs stand at the ends.
std::vector<uint64_t> sort_keys(const Literal& literal) {
  constexpr uint64_t top = uint64_t{1} << 63;
  std::vector<uint64_t> keys(literal.count());
  const bool floats = is_floating(literal.type());
  const bool is_signed_type = is_signed(literal.type());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!floats) {
      keys[i] = static_cast<uint64_t>(literal.integer_at(i)) ^ (is_signed_type ? top : 0);
      continue;
    }
    const uint64_t bits = std::bit_cast<uint64_t>(literal.number_at(i));
    keys[i] = bits & top ? ~bits : bits | top;
  }
  return keys;
}

Literal permuted(const Literal& from, const std::vector<int64_t>& order) {
  Literal out = Literal::uninitialized(from.shape());
  const int64_t bytes = storage_bytes(from.type());
  const std::byte* source = from.raw().data();
  std::byte* target = out.mutable_raw().data();
  for (size_t i = 0; i < order.size(); ++i)
    std::memcpy(target + i * bytes, source + order[i] * bytes, bytes);
  return out;
}

bool wants_smallest(const Module& module, InstructionId id) {
  const auto& called = module.attributes<CustomCallAttributes>(id).called_computations;
  if (called.empty()) return false;
  const Instruction& root = module[module[called[0]].root];
  if (root.op != Op::Compare) return false;
  const ComparisonDirection direction = module.attributes<CompareAttributes>(root).direction;
  return direction == ComparisonDirection::Lt || direction == ComparisonDirection::Le;
}

TopKAttributes top_k_of(const Module& module, InstructionId id, const Shape& values) {
  return {values.dims.back(), !wants_smallest(module, id), std::nullopt};
}

}  // namespace

Result<Literal> call_top_k(Call& call) {
  const Shape& stated = call.shape();
  if (!stated.is_tuple() || stated.elements.size() < 2 || stated.elements[0].dims.empty())
    return call.error(ErrorKind::Shape, "expected the result (values, indices)");
  Steps steps(call);
  const Shape result = Shape::tuple({stated.elements[0], stated.elements[1]});
  StepValue top = steps.op(Op::TopK, result, {steps.operand(0)},
                           top_k_of(call.module, call.id, stated.elements[0]));
  if (steps.failed()) return steps.finish({});
  const std::vector<Literal>& parts = top.literal.elements();
  return steps.finish({{parts[0], stated.elements[0]}, {parts[1], stated.elements[1]}});
}

Routine routine_top_k(const RoutineCall& call) {
  const Shape& stated = call.result();
  if (!stated.is_tuple() || stated.elements.size() != 2 ||
      call.module.operands(call.id).size() != 1 || call.operand(0).rank() < 1)
    return {};
  const Shape &values = stated.elements[0], &places = stated.elements[1];
  Dims dims = call.operand(0).dims;
  if (values.rank() < 1) return {};
  dims.back() = values.dims.back();
  if (values.type != call.operand(0).type || values.dims != dims ||
      places.type != ElementType::S32 || places.dims != dims)
    return {};
  return topk_routine(call.operand(0), top_k_of(call.module, call.id, values));
}

Result<Literal> call_radix_sort(Call& call) {
  if (call.operands.empty() || call.operands[0].shape().dims.empty())
    return call.error(ErrorKind::Shape, "expected keys in rows");
  HILO_TRY(BackendConfig config, BackendConfig::parse(call));
  const bool descending = config.inside("sort_options").flag("descending", false);
  const std::vector<uint64_t> keys = sort_keys(call.operands[0]);
  std::vector<int64_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  const int64_t row = std::max<int64_t>(1, call.operands[0].shape().dims.back());
  call.parallel(static_cast<int64_t>(keys.size()) / row, 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      std::stable_sort(
          order.begin() + r * row, order.begin() + (r + 1) * row,
          [&](int64_t a, int64_t b) { return descending ? keys[a] > keys[b] : keys[a] < keys[b]; });
  });
  std::vector<StepValue> results;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    if (call.operands[i].count() != call.operands[0].count())
      return call.error(ErrorKind::Shape, "keys and values differ in size");
    results.push_back(
        {permuted(call.operands[i], order), call.module.shape(call.module.operand(call.id, i))});
  }
  return Steps(call).finish(std::move(results));
}

}  // namespace hilo
