#include "ir/infer/infer.h"

namespace hilo {

// Every branch gives the same; the verifier compares them.
Result<Shape> infer_Conditional(const Given& given) {
  const auto& a = given.attributes<ConditionalAttributes>();
  if (!a.branch_computations.empty())
    return result_of(given, a.branch_computations[0], "branch_computations");
  return result_of(given, a.true_computation, "true_computation");
}

}  // namespace hilo
