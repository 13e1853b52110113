// Ops that are not written yet; each line goes when its op comes.
#include "eval/lanes.h"

namespace hilo {
namespace {

Result<Literal> pending(Call& call) {
  return call.error(ErrorKind::Unsupported, fmt::format("{}", text_of(call.instruction.op)));
}

}  // namespace

Result<Literal> evaluate_Rng(Call& call) { return pending(call); }
Result<Literal> evaluate_RngBitGenerator(Call& call) { return pending(call); }
Result<Literal> evaluate_RngGetAndUpdateState(Call& call) { return pending(call); }
Result<Literal> evaluate_DynamicReshape(Call& call) { return pending(call); }
Result<Literal> evaluate_Gather(Call& call) { return pending(call); }
Result<Literal> evaluate_GetDimensionSize(Call& call) { return pending(call); }
Result<Literal> evaluate_Scatter(Call& call) { return pending(call); }
Result<Literal> evaluate_SetDimensionSize(Call& call) { return pending(call); }
Result<Literal> evaluate_ReduceWindow(Call& call) { return pending(call); }
Result<Literal> evaluate_Scan(Call& call) { return pending(call); }
Result<Literal> evaluate_SelectAndScatter(Call& call) { return pending(call); }
Result<Literal> evaluate_Sort(Call& call) { return pending(call); }
Result<Literal> evaluate_TopK(Call& call) { return pending(call); }
Result<Literal> evaluate_BatchNormGrad(Call& call) { return pending(call); }
Result<Literal> evaluate_BatchNormInference(Call& call) { return pending(call); }
Result<Literal> evaluate_BatchNormTraining(Call& call) { return pending(call); }
Result<Literal> evaluate_Cholesky(Call& call) { return pending(call); }
Result<Literal> evaluate_Convolution(Call& call) { return pending(call); }
Result<Literal> evaluate_Dot(Call& call) { return pending(call); }
Result<Literal> evaluate_Fft(Call& call) { return pending(call); }
Result<Literal> evaluate_RaggedDot(Call& call) { return pending(call); }
Result<Literal> evaluate_ScaledDot(Call& call) { return pending(call); }
Result<Literal> evaluate_TriangularSolve(Call& call) { return pending(call); }


}  // namespace hilo
