// scan: to_apply(slices of the inputs..., carries...) -> (outputs..., carries...) for each index of
// one dimension, in order or backwards; outputs are stacked along it.
#include <algorithm>

#include "eval/convert.h"

namespace hilo {
namespace {

struct Stack {                 // slices of an array along one dimension
  int64_t outer, size, bytes;  // bytes: of one piece of a slice

  Stack(const Shape& shape, int64_t dim) {
    const Dims before(shape.dims.begin(), shape.dims.begin() + dim);
    const Dims after(shape.dims.begin() + dim + 1, shape.dims.end());
    outer = element_count(before), size = shape.dims[dim];
    bytes = element_count(after) * storage_bytes(shape.type);
  }
  void load(const std::byte* stack, int64_t i, std::byte* slice) const {
    for (int64_t o = 0; o < outer; ++o)
      std::copy_n(stack + (o * size + i) * bytes, bytes, slice + o * bytes);
  }
  void store(const std::byte* slice, int64_t i, std::byte* stack) const {
    for (int64_t o = 0; o < outer; ++o)
      std::copy_n(slice + o * bytes, bytes, stack + (o * size + i) * bytes);
  }
};

Shape slice_shape(const Shape& shape, int64_t dim) {
  Dims dims = shape.dims;
  dims.erase(dims.begin() + dim);
  return Shape::array(shape.type, dims);
}

// Slice `at` of each input, then the carries, as the body's arguments in its own types.
std::vector<Literal> arguments_at(const Call& call, std::span<const Literal> inputs, int64_t dim,
                                  int64_t at, std::vector<Literal> carries) {
  std::vector<Literal> out;
  for (const Literal& input : inputs) {
    Literal slice = call.make_held(slice_shape(input.shape(), dim));
    Stack(input.shape(), dim).load(input.raw().data(), at, slice.mutable_raw().data());
    out.push_back(std::move(slice));
  }
  std::ranges::move(carries, std::back_inserter(out));
  const auto& parameters = call.module[call.attributes<ScanAttributes>().to_apply].parameters;
  for (size_t i = 0; i < out.size() && i < parameters.size(); ++i)
    out[i] = converted(call, out[i], call.held(call.module.shape(parameters[i]).type));
  return out;
}

}  // namespace

Result<Literal> evaluate_Scan(Call& call) {
  const auto& a = call.attributes<ScanAttributes>();
  const int64_t dim = a.dimensions[0], inputs = call.operands.size() - a.num_carries;
  std::vector<Literal> carries(call.operands.begin() + inputs, call.operands.end());
  Literal out = call.make();
  const bool is_tuple = out.shape().is_tuple();
  const int64_t outputs = is_tuple ? out.elements().size() - a.num_carries : 1 - a.num_carries;
  const int64_t steps = call.operands[0].size(dim);
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t at = a.is_reverse ? steps - 1 - step : step;
    HILO_TRY(Literal result, call.apply(a.to_apply, arguments_at(call, call.operands.first(inputs),
                                                                 dim, at, std::move(carries))));
    std::vector<Literal> leaves = {result};
    if (result.shape().is_tuple()) leaves = std::move(result.mutable_elements());
    for (int64_t o = 0; o < outputs; ++o) {
      Literal& stack = is_tuple ? out.mutable_elements()[o] : out;
      Stack(stack.shape(), dim).store(leaves[o].raw().data(), at, stack.mutable_raw().data());
    }
    carries.assign(leaves.begin() + outputs, leaves.end());
  }
  if (!is_tuple) return outputs ? out : converted(call, carries[0], out.type());
  for (size_t i = 0; i < carries.size(); ++i) {
    Literal& carried = out.mutable_elements()[outputs + i];
    carried = converted(call, carries[i], carried.type());
  }
  return out;
}

}  // namespace hilo
