// Neutral elements of reductions. Private to `pass/shard`.
#pragma once

#include "rewrite/rewrite.h"

namespace hilo {

// The e of op(e, x) = x for add, multiply, maximum, minimum, and, or, xor; nothing for other ops
// and types.
std::optional<Literal> identity_element(Op op, ElementType type);
// The one by which any number stays what it is, bit for bit: of a sum it is -0. Nothing for
// products of complex numbers, of which an infinite part times 0 is NaN.
std::optional<Literal> exact_identity(Op op, ElementType type);
// The neutral element of a reduction: an initial value that is one takes part in any case and may
// do so more often, beside any other only the exact one may. `initial`: null where it is unknown.
std::optional<Literal> neutral_beside(const Literal* initial, Op op, ElementType type);
// The name that Sharding::unreduced_op has for it; empty where summands of the op cannot be told.
std::string_view reduction_name(Op op);
// And back; an empty name is a sum. Nothing for others.
std::optional<Op> reduction_of(std::string_view name);

// A sum of one value and otherwise neutral elements is that value, bit for bit. Nothing for types
// without zero.
struct NeutralSum {
  Literal neutral;
  std::string name;  // of Sharding::unreduced_op
};
std::optional<NeutralSum> neutral_sum(ElementType type);

}  // namespace hilo
