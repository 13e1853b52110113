// Custom calls with known semantics, and the means to state these in terms of HLO ops. Private to
// `eval`.
#pragma once

#include "eval/call.h"
#include "eval/routine.h"

namespace hilo {

// A value beside the shape that HLO declares for it; the literal is in held types.
struct StepValue {
  Literal literal;
  Shape shape;
};

// Evaluates single ops as instructions of a module of their own, which is verified: whatever shapes
// and attributes a custom call has, a step that is no sound HLO is an error. The first error
// sticks: later steps then do nothing, and finish() gives it, with the custom call's place.
class Steps {
 public:
  explicit Steps(Call& call) : call_(call) {}

  // An array among the operands of the custom call, in its stated shape without its layout, which
  // calls that see values do not know; an error where there is none, and then the value is a scalar
  // that stands for nothing.
  StepValue operand(size_t i);
  template <class A>
  StepValue op(Op op, const Shape& shape, std::vector<StepValue> operands, A attributes) {
    Module module;
    const InstructionId id = state(module, op, shape, operands);
    module.mutable_attributes<A>(id) = std::move(attributes);
    return run(module, id, std::move(operands));
  }
  StepValue op(Op op, const Shape& shape, std::vector<StepValue> operands);
  // Of the operands' shape, elementwise.
  StepValue unary(Op op, StepValue a);
  StepValue binary(Op op, StepValue a, StepValue b);
  StepValue convert(StepValue a, ElementType type);
  StepValue scalar(double value, const Shape& like);  // broadcast to the shape
  StepValue broadcast(StepValue a, const Shape& shape, Dims dims);
  StepValue reshape(StepValue a, Dims dims);
  StepValue transpose(StepValue a, Dims permutation);

  void fail(ErrorKind kind, std::string message);
  bool failed() const { return error_.has_value(); }
  // Under the custom call's stated shape: where that is a tuple, the values in order and zeros for
  // the rest (workspaces).
  Result<Literal> finish(std::vector<StepValue> values);

 private:
  InstructionId state(Module& module, Op op, const Shape& shape,
                      std::span<const StepValue> operands);
  StepValue run(const Module& module, InstructionId id, std::vector<StepValue> operands);

  Call& call_;
  std::optional<Error> error_;
};

Shape with_type(Shape shape, ElementType type);
Shape with_dims(const Shape& shape, Dims dims);  // descending layout

// Of a custom call that gives an array, or a tuple that begins with one: that array.
Result<void> need_output_array(const Call& call);
const Shape& output_shape(const Call& call);

// A tuple of this shape from its leaves, beginning with leaves[next].
Literal assemble(const Shape& shape, std::span<const Literal> leaves, size_t& next);

// A call of LAPACK, checked and made ready; custom_call_lapack.h.
struct LapackCall;
struct LapackMatrix;
using LapackStep = std::function<void(const LapackMatrix&)>;
using PrepareLapack = Result<LapackStep> (*)(LapackCall&);
Result<Literal> evaluate_lapack(Call& call, PrepareLapack prepare);
// Results may also stand in place of operands of as many bytes, as output_to_operand_aliasing says.
Routine lapack_routine(const RoutineCall& call, PrepareLapack prepare);

#define CUSTOM_CALL(target, family, function, sees, meaning) Result<Literal> call_##function(Call&);
#define LAPACK_CALL(target, function, meaning) Result<LapackStep> prepare_##function(LapackCall&);
#include "eval/custom_call.def"
#include "eval/custom_call_lapack.def"
#undef CUSTOM_CALL

}  // namespace hilo
