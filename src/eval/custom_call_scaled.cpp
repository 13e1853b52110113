// Products of block-scaled operands, and products of groups of rows. Scales stand along the
// contracted dimension, one for a block of elements. References: "Block scaled dot" and
// GroupedGemmBackendConfig in xla/service/gpu/backend_configs.proto; OCP Microscaling formats 1.0;
// the layout of cuDNN's scales: "tcgen05.mma scale factor A layout 1X" in the PTX ISA.
#include "eval/backend_config.h"
#include "eval/custom_call_epilogue.h"

namespace hilo {
namespace {

int64_t ceiling(int64_t a, int64_t b) { return b == 0 ? 0 : (a + b - 1) / b; }

StepValue slice_to(Steps& steps, StepValue value, const Dims& dims) {
  if (value.shape.dims == dims) return value;
  SliceAttributes slice;
  for (int64_t size : dims) slice.slice.dims.push_back({0, size, 1});
  const Shape shape = with_dims(value.shape, dims);
  return steps.op(Op::Slice, shape, {std::move(value)}, std::move(slice));
}

// [.., K] times its scales [.., K / block], which may be padded; in f32.
StepValue dequantized(Steps& steps, StepValue value, StepValue scale, int64_t block) {
  const Dims dims = value.shape.dims;
  Dims blocks = scale.shape.dims;
  if (dims.empty() || blocks.size() != dims.size() || dims.back() == 0 || blocks.back() == 0) {
    steps.fail(ErrorKind::Shape, "expected scales for blocks of the last dimension");
    return value;
  }
  if (block <= 0) block = ceiling(dims.back(), blocks.back());
  blocks = dims;
  blocks.back() = ceiling(dims.back(), block);
  scale = slice_to(steps, steps.convert(std::move(scale), ElementType::F32), blocks);
  Dims split = blocks, places, joined = blocks;
  split.push_back(block);
  for (size_t d = 0; d < blocks.size(); ++d) places.push_back(static_cast<int64_t>(d));
  joined.back() *= block;
  const Shape wide = Shape::array(ElementType::F32, split);
  scale = steps.reshape(steps.broadcast(std::move(scale), wide, places), joined);
  scale = slice_to(steps, std::move(scale), dims);
  return steps.binary(Op::Multiply, steps.convert(std::move(value), ElementType::F32),
                      std::move(scale));
}

// Contracts the last dimensions; the first of three is a batch.
DotAttributes last_dims(int64_t rank) {
  DotAttributes out;
  out.lhs_contracting_dims = out.rhs_contracting_dims = {rank - 1};
  if (rank == 3) out.lhs_batch_dims = out.rhs_batch_dims = {0};
  return out;
}

// Scales as cuDNN has them: of tiles of 128 rows and 4 blocks, [rows, blocks, 32, 4, 4] for
// [rows, 4, 32, blocks, 4].
StepValue unswizzled(Steps& steps, StepValue scale) {
  const Dims dims = scale.shape.dims;
  const int64_t rank = std::ssize(dims);
  if (rank < 2 || rank > 3 || dims[rank - 2] % 128 != 0 || dims[rank - 1] % 4 != 0) {
    steps.fail(ErrorKind::Shape, "expected scales in tiles of 128 x 4");
    return scale;
  }
  const int64_t batch = rank == 3 ? dims[0] : 1, rows = dims[rank - 2] / 128,
                blocks = dims[rank - 1] / 4;
  scale = steps.reshape(std::move(scale), {batch, rows, blocks, 32, 4, 4});
  scale = steps.transpose(std::move(scale), {0, 1, 4, 3, 2, 5});
  return steps.reshape(std::move(scale), dims);
}

// Operands: lhs [b, m, k], rhs [b, n, k], their scales, a factor for the whole product.
Result<Literal> block_scaled_dot(Call& call, bool swizzled) {
  HILO_DO(need_output_array(call));
  HILO_TRY(BackendConfig config, BackendConfig::parse(call));
  const int64_t block = config.inside("block_scaled_dot_backend_config").whole("block_size", 0);
  if (call.operands.size() < 4)
    return call.error(ErrorKind::Shape, "expected two operands and their scales");
  const Shape& output = output_shape(call);
  Steps steps(call);
  StepValue sides[2];
  for (size_t i = 0; i < 2; ++i) {
    StepValue scale = steps.operand(2 + i);
    if (swizzled) scale = unswizzled(steps, std::move(scale));
    StepValue value = steps.operand(i);
    // Padded scales are for more rows too.
    if (scale.shape.rank() == value.shape.rank() && value.shape.rank() > 1) {
      Dims rows = value.shape.dims;
      rows.back() = scale.shape.dims.back();
      scale = slice_to(steps, std::move(scale), rows);
    }
    // 16 elements of 4 bits, unless scales are powers of two; else 32.
    const bool small = bits_of(value.shape.type) == 4 && scale.shape.type != ElementType::F8E8M0FNU;
    const int64_t size = block > 0 || !swizzled ? block : small ? 16 : 32;
    sides[i] = dequantized(steps, std::move(value), std::move(scale), size);
  }
  const DotAttributes dims = last_dims(sides[0].shape.rank());
  StepValue value = steps.op(Op::Dot, with_type(with_dims(output, output.dims), ElementType::F32),
                             {std::move(sides[0]), std::move(sides[1])}, dims);
  if (call.operands.size() > 4) value = multiply_by(steps, std::move(value), steps.operand(4));
  return steps.finish({steps.convert(std::move(value), output.type)});
}

// alpha value + beta C.
StepValue combine(Steps& steps, const BackendConfig& gemm, StepValue value, size_t c) {
  value = times(steps, std::move(value), gemm.number("alpha_real", 1));
  const double beta = gemm.number("beta", 0);
  if (beta == 0) return value;
  const Shape shape = value.shape;
  return steps.binary(Op::Add, std::move(value),
                      times(steps, steps.convert(steps.operand(c), shape.type), beta));
}

Result<void> need_plain_epilogue(const Call& call, const BackendConfig& gemm) {
  const std::string epilogue = gemm.text("epilogue", "DEFAULT");
  if (epilogue == "DEFAULT") return {};
  return call.error(ErrorKind::Unsupported, fmt::format("epilogue {} here", epilogue));
}

}  // namespace

Result<Literal> call_block_scaled_dot(Call& call) { return block_scaled_dot(call, false); }

Result<Literal> call_cudnn_block_scaled_dot(Call& call) { return block_scaled_dot(call, true); }

// Operands: quantised [.., K], scales [.., K / block].
Result<Literal> call_dequantize(Call& call) {
  if (call.operands.size() != 2 || !call.shape().is_array())
    return call.error(ErrorKind::Shape, "expected an array and its scales");
  Steps steps(call);
  StepValue value = dequantized(steps, steps.operand(0), steps.operand(1), 0);
  return steps.finish({steps.convert(std::move(value), call.shape().type)});
}

// Operands: A, B, C where beta is not 0, scales of A and B.
Result<Literal> call_gemm_mx(Call& call) {
  HILO_DO(need_output_array(call));
  HILO_TRY(BackendConfig whole, BackendConfig::parse(call));
  const BackendConfig gemm = whole.inside("gemm_backend_config");
  HILO_DO(need_plain_epilogue(call, gemm));
  const BackendConfig numbers = gemm.inside("dot_dimension_numbers");
  DotAttributes dims;
  dims.lhs_contracting_dims = numbers.dims("lhs_contracting_dimensions");
  dims.rhs_contracting_dims = numbers.dims("rhs_contracting_dimensions");
  dims.lhs_batch_dims = numbers.dims("lhs_batch_dimensions");
  dims.rhs_batch_dims = numbers.dims("rhs_batch_dimensions");
  const size_t scales = gemm.number("beta", 0) != 0 ? 3 : 2;
  const Shape& output = output_shape(call);
  Steps steps(call);
  StepValue value = steps.op(
      Op::ScaledDot, with_type(with_dims(output, output.dims), ElementType::F32),
      {steps.operand(0), steps.operand(1), steps.operand(scales), steps.operand(scales + 1)}, dims);
  value = combine(steps, gemm, std::move(value), 2);
  return steps.finish({steps.convert(std::move(value), output.type)});
}

// Operands: lhs, rhs, sizes of groups, C where beta is not 0.
Result<Literal> call_gemm_grouped(Call& call) {
  HILO_DO(need_output_array(call));
  HILO_TRY(BackendConfig whole, BackendConfig::parse(call));
  const BackendConfig config = whole.inside("grouped_gemm_backend_config");
  const BackendConfig gemm = config.inside("gemm_backend_config");
  const BackendConfig ragged = config.inside("ragged_dot_dimension_numbers");
  const BackendConfig numbers = ragged.inside("dot_dimension_numbers");
  HILO_DO(need_plain_epilogue(call, gemm));
  RaggedDotAttributes dims;
  dims.lhs_contracting_dims = numbers.dims("lhs_contracting_dimensions");
  dims.rhs_contracting_dims = numbers.dims("rhs_contracting_dimensions");
  dims.lhs_batch_dims = numbers.dims("lhs_batch_dimensions");
  dims.rhs_batch_dims = numbers.dims("rhs_batch_dimensions");
  dims.lhs_ragged_dims = ragged.dims("lhs_ragged_dimensions");
  dims.rhs_group_dims = ragged.dims("rhs_group_dimensions");
  const Shape& output = output_shape(call);
  const ElementType type =
      is_floating(output.type) && bits_of(output.type) < 32 ? ElementType::F32 : output.type;
  Steps steps(call);
  StepValue value = steps.op(Op::RaggedDot, with_type(with_dims(output, output.dims), type),
                             {steps.operand(0), steps.operand(1), steps.operand(2)}, dims);
  value = combine(steps, gemm, std::move(value), 3);
  return steps.finish({steps.convert(std::move(value), output.type)});
}

}  // namespace hilo
