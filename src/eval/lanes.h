// A computation over scalars (of reduce, map, sort, scatter, ...) prepared to run on many elements
// at once: lane i of every value belongs to call i. Private to `eval`.
#pragma once

#include "eval/call.h"

namespace hilo {

class LaneProgram {
 public:
  // The computation's parameters and result leaves must be scalars. Bodies with ops that are not
  // elementwise fall back to one call for each lane.
  static Result<LaneProgram> make(const Call& call, ComputationId computation);

  // inputs[p] points to n elements of parameter p's held type; outputs[r] has room for n elements
  // of result leaf r. Outputs may be inputs (same pointer). Callable from several threads at once.
  Result<void> run(std::span<const void* const> inputs, std::span<void* const> outputs,
                   int64_t n) const;

  // The op when the body is op(p0, p1) or, for commutative ops, op(p1, p0): the fast paths' key.
  std::optional<Op> binary_op() const;
  // The body is one of add, multiply, maximum, minimum, and, or, xor of both parameters, between
  // conversions perhaps.
  bool is_associative() const;
  // When the body is compare(p[2k], p[2k+1]) with one direction, for sorts: k, direction, type;
  // swapped operands are turned round.
  struct Comparison {
    int64_t operand;
    ComparisonDirection direction;
    ComparisonType type;
  };
  std::optional<Comparison> comparison() const;

  struct State;

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace hilo
