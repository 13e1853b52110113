// A computation over scalars (of reduce, map, sort, scatter, ...) prepared to run on many elements
// at once: lane i of every value belongs to call i. Private to `eval`.
#pragma once

#include "eval/call.h"

namespace hilo {

class LaneProgram {
 public:
  // The computation's parameters and result leaves must be scalars, and are as many as `inputs` and
  // `outputs`: the held types of the arrays that will be given, which are converted where the
  // computation has others. Bodies with ops that are not elementwise fall back to one call for each
  // lane.
  static Result<LaneProgram> make(const Call& call, ComputationId computation,
                                  std::span<const ElementType> inputs,
                                  std::span<const ElementType> outputs);
  // wide = op(wide, other) of a combiner that holds more than its elements: without the rounding.
  static Result<LaneProgram> make(const Call& call, const Combiner& combiner, ElementType other);

  // inputs[p] points to n elements for parameter p; outputs[r] has room for n elements of result
  // leaf r. Outputs may be inputs (same pointer). Callable from several threads at once.
  Result<void> run(std::span<const void* const> inputs, std::span<void* const> outputs,
                   int64_t n) const;

  // The op of a combiner that is one over the given types: the fast paths' key.
  std::optional<Op> binary_op() const;
  struct State;

 private:
  std::shared_ptr<const State> state_;
};

// The type that a combiner's results are held in before they are rounded, where it is wider than
// the computation's or the result's own.
std::optional<ElementType> wide_type(const Call& call, const std::optional<Combiner>& combiner,
                                     ElementType result);

std::vector<ElementType> element_types(std::span<const Literal> arrays);
// Those of `arrays`, then those of `more`.
std::vector<ElementType> element_types(std::span<const Literal> arrays,
                                       std::span<const Literal> more);

}  // namespace hilo
