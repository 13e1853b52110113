// Which ops may call computations, as the fields of their attributes say. Private to `ir`.
#pragma once

#include "ir/ir.h"

namespace hilo {

template <class Struct, class Value>
constexpr bool is_for_computations(const Field<Struct, Value>&) {
  return std::is_same_v<Value, ComputationId> || std::is_same_v<Value, std::vector<ComputationId>>;
}
template <class A>
constexpr bool has_computations() {
  return std::apply([](const auto&... field) { return (is_for_computations(field) || ...); },
                    A::fields());
}

constexpr bool calls_of_ops[] = {
#define OP(name, text, operands, attributes, op_class, types, ...) \
  has_computations<attributes##Attributes>(),
#include "ir/ops.def"
#undef OP
};
constexpr bool may_call(Op op) { return calls_of_ops[static_cast<size_t>(op)]; }

}  // namespace hilo
