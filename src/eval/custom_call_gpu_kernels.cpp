// Kernels that JAX and XLA call on GPUs beside their libraries. References: jax/_src/lax/linalg.py,
// jax/_src/prng.py, xla/service/gpu/transforms/triangular_solve_rewriter.h,
// xla/service/dynamic_padder.h.
#include <algorithm>

#include "eval/backend_config.h"
#include "eval/custom_call.h"
#include "eval/reference/reference.h"
#include "eval/storage.h"

namespace hilo {

// Operands: A, B. Results: X, workspace. Settings: those of triangular-solve.
Result<Literal> call_cublas_triangular_solve(Call& call) {
  HILO_DO(need_output_array(call));
  HILO_TRY(BackendConfig config, BackendConfig::parse(call));
  TriangularSolveAttributes attributes;
  attributes.left_side = config.flag("left_side", false);
  attributes.lower = config.flag("lower", false);
  attributes.unit_diagonal = config.flag("unit_diagonal", false);
  const std::string transpose = config.text("transpose_a", "NO_TRANSPOSE");
  attributes.transpose_a = transpose == "TRANSPOSE" ? TransposeKind::Transpose
                           : transpose == "ADJOINT" ? TransposeKind::Adjoint
                                                    : TransposeKind::NoTranspose;
  const Shape& output = output_shape(call);
  Steps steps(call);
  return steps.finish({steps.op(Op::TriangularSolve, with_dims(output, output.dims),
                                {steps.operand(0), steps.operand(1)}, attributes)});
}

// Swaps i with pivot i, counted from 0, one after the other.
Result<Literal> call_pivots_to_permutation(Call& call) {
  if (call.operands.size() != 1 || !call.shape().is_array() || call.shape().rank() < 1 ||
      call.operands[0].type() != ElementType::S32 || call.shape().type != ElementType::S32 ||
      call.operands[0].shape().rank() != call.shape().rank())
    return call.error(ErrorKind::Shape, "expected s32 pivots, and a permutation as result");
  const Literal& pivots = call.operands[0];
  const int64_t count = pivots.shape().dims.back(), size = call.shape().dims.back();
  Literal out = call.make();
  const int64_t batches = size > 0 ? out.count() / size : 0;
  if (count > size || pivots.count() != batches * count)
    return call.error(ErrorKind::Shape, "more pivots than rows, or other batches");
  const std::span<int32_t> to = out.mutable_data<int32_t>();
  for (int64_t b = 0; b < batches; ++b) {
    const std::span<int32_t> row = to.subspan(b * size, size);
    for (int64_t i = 0; i < size; ++i) row[i] = static_cast<int32_t>(i);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t pivot = pivots.data<int32_t>()[b * count + i];
      if (pivot >= 0 && pivot < size) std::swap(row[i], row[pivot]);
    }
  }
  return out;
}

// Operands: both words of the keys, both of the counters. Results: both words of the bits.
Result<Literal> call_threefry(Call& call) {
  const Shape& stated = call.shape();
  if (call.operands.size() != 4 || stated.elements.size() != 2)
    return call.error(ErrorKind::Shape, "expected 4 operands and 2 results");
  for (const Literal& operand : call.operands)
    if (operand.type() != ElementType::U32 || operand.count() != call.operands[0].count())
      return call.error(ErrorKind::Shape, "expected u32 arrays of one size");
  std::vector<Literal> out = {call.make(stated.elements[0]), call.make(stated.elements[1])};
  for (const Literal& word : out)
    if (word.type() != ElementType::U32 || word.count() != call.operands[0].count())
      return call.error(ErrorKind::Shape, "expected u32 arrays of one size as results");
  const auto word = [&](size_t operand, int64_t i) -> uint64_t {
    return call.operands[operand].data<uint32_t>()[i];
  };
  const std::span<uint32_t> low = out[0].mutable_data<uint32_t>(),
                            high = out[1].mutable_data<uint32_t>();
  call.parallel(out[0].count(), 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto bits =
          reference::threefry(word(0, i) | word(1, i) << 32, word(2, i) | word(3, i) << 32);
      low[i] = bits[0], high[i] = bits[1];
    }
  });
  return Literal::tuple(std::move(out));
}

// Results: the array at its bound, then the size of each dimension.
Result<Literal> call_pad_to_static(Call& call) {
  const Shape& stated = call.shape();
  if (call.operands.size() != 1 || !call.operands[0].shape().is_array() || !stated.is_tuple() ||
      std::ssize(stated.elements) != call.operands[0].shape().rank() + 1)
    return call.error(ErrorKind::Shape, "expected an array; as results it and each size");
  const Literal& array = call.operands[0];
  const Shape held = call.held(stated.elements[0]);
  if (held.dims != array.shape().dims || held.type != array.type())
    return call.error(ErrorKind::Shape, "result 0 has not the operand's bounds");
  std::vector<Literal> out = {array.with_shape(held)};
  for (size_t d = 0; d < held.dims.size(); ++d) {
    if (stated.elements[d + 1].type != ElementType::S32)
      return call.error(ErrorKind::Shape, "expected sizes in s32");
    if (!held.is_dynamic(d)) out[0].set_size(d, held.dims[d]);
    out.push_back(Literal::scalar(static_cast<int32_t>(array.size(d))));
  }
  return Literal::tuple(std::move(out));
}

// Operands: an array, the size of each dimension.
Result<Literal> call_slice_to_dynamic(Call& call) {
  if (call.operands.empty() || !call.operands[0].shape().is_array() || !call.shape().is_array() ||
      std::ssize(call.operands) != call.operands[0].shape().rank() + 1)
    return call.error(ErrorKind::Shape, "expected an array and the size of each dimension");
  const Shape held = call.held(call.shape());
  if (held.dims != call.operands[0].shape().dims || held.type != call.operands[0].type())
    return call.error(ErrorKind::Shape, "the result has not the operand's bounds");
  Literal out = call.operands[0].with_shape(held);
  for (size_t d = 0; d < held.dims.size(); ++d) {
    const Literal& size = call.operands[d + 1];
    if (!size.shape().is_array() || size.count() != 1)
      return call.error(ErrorKind::Shape, "expected sizes as numbers");
    if (held.is_dynamic(d))
      out.set_size(d, std::clamp<int64_t>(size.integer_at(0), 0, held.dims[d]));
  }
  return out;
}

}  // namespace hilo
