// What reductions combine with. Part of the front door of `ir`.
#pragma once

#include <optional>

#include "ir/attribute_types.h"

namespace hilo {

class Module;

// A computation that is op(p0, p1) over scalars, op one of add, multiply, maximum, minimum, and,
// or, xor, in either order and perhaps between conversions. The law of reduce, reduce-window,
// all-reduce and reduce-scatter: elements are combined in any order that follows from the shapes,
// what was combined is held as `wide`, and it is rounded to `element` once, with the initial value
// in it. What an op combines into memory one element after the other (scatter,
// select-and-scatter) is rounded to the memory's type each time, as in XLA.
struct Combiner {
  InstructionId instruction;  // the op's, of the computation
  ElementType element;        // of parameters and result
  ElementType wide;  // the type that the op computes in; f32 where that is a narrower float
};
// None: another computation, or one whose conversions lose something before the op.
std::optional<Combiner> find_combiner(const Module& module, ComputationId computation);

}  // namespace hilo
