// Routines of ops, found by name through ops.def: an op that has one defines `routine_Dot` beside
// evaluate_Dot, which runs the same code. Private to `eval`.
#pragma once

#include "eval/eval.h"

namespace hilo {

struct RoutineCall {
  const Module& module;
  InstructionId id;
  const EvalOptions& options;

  const Shape& operand(int64_t number) const { return module.shape(module.operand(id, number)); }
  const Shape& result() const { return module.shape(id); }
  template <class A>
  const A& attributes() const {
    return module.attributes<A>(id);
  }
};

// May give an empty one.
using FindRoutine = Routine (*)(const RoutineCall&);
#define HILO_DECLARE_Elementwise(name)
#define HILO_DECLARE_Structural(name) [[gnu::weak]] Routine routine_##name(const RoutineCall& call);
#define OP(name, text, operands, attributes, op_class, types, ...) HILO_DECLARE_##op_class(name)
#include "ir/ops.def"
#undef OP
#undef HILO_DECLARE_Elementwise
#undef HILO_DECLARE_Structural

}  // namespace hilo
