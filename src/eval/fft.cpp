// fft: inverse transforms divide by the length.
#include <array>

#include "eval/dynamic_sizes.h"
#include "eval/reference/reference.h"
#include "eval/routine.h"

namespace hilo {
namespace {

FftKind kind_of(FftType type) {
  if (type == FftType::Ifft) return FftKind::Inverse;
  if (type == FftType::Rfft) return FftKind::RealToHalf;
  return type == FftType::Irfft ? FftKind::HalfToReal : FftKind::Forward;
}

PreparedFft prepared(const FftAttributes& a, const Shape& operand, const Shape& result) {
  return {kind_of(a.fft_type), a.fft_length, operand, result};
}

// Of an operand whose batch has dynamic sizes.
Result<Literal> on_sizes(Call& call) {
  const size_t transformed = call.attributes<FftAttributes>().fft_length.size();
  Dims sizes = sizes_of(call.operands[0]);
  const Shape& operand = call.operands[0].shape();
  for (size_t d = sizes.size() - std::min(sizes.size(), transformed); d < sizes.size(); ++d) {
    if (sizes[d] != operand.dims[d])
      return call.error(ErrorKind::Unsupported, "fft along a dimension of dynamic size");
    sizes[d] = call.shape().dims[d];
  }
  return evaluate_cut(call, evaluate_Fft, std::array{sizes});
}

}  // namespace

Routine routine_Fft(const RoutineCall& call) {
  if (element_count(call.result()) == 0) return {};
  return [fft = prepared(call.attributes<FftAttributes>(), call.operand(0), call.result())](
             auto operands, auto results, const Parallel& parallel) {
    fft.run(operands[0], results[0], parallel);
  };
}

Result<Literal> evaluate_Fft(Call& call) {
  if (has_cut_operand(call)) return on_sizes(call);
  Literal out = call.make();
  if (out.count() == 0) return out;
  const auto& a = call.attributes<FftAttributes>();
  if (call.is_reference()) {
    reference::fft(call.operands[0], a, out);
    return out;
  }
  const PreparedFft fft = prepared(a, call.operands[0].shape(), out.shape());
  HILO_DO(call.need_memory(fft.workspace_bytes(call.pool().threads())));
  fft.run(call.operands[0].raw().data(), out.mutable_raw().data(), call.in_chunks());
  return out;
}

}  // namespace hilo
