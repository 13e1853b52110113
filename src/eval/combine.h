// Typed fast paths for the computations that reductions and scatters mostly have: op(p0, p1) for
// add, multiply, maximum, minimum, and, or. Private to `eval`.
#pragma once

#include <cmath>
#include <limits>
#include <optional>

#include "eval/call.h"

namespace hilo {

// Storage type T combined in type W: sixteen-bit floats widen to float.
template <class T>
struct Widened {
  using type = T;
};
template <>
struct Widened<BF16> {
  using type = float;
};
template <>
struct Widened<F16> {
  using type = float;
};

template <Op op, class W>
W combine(W a, W b) {
  if constexpr (op == Op::Maximum || op == Op::Minimum) {
    const bool is_first = a != a || (op == Op::Maximum ? a > b : a < b);
    if constexpr (!std::is_floating_point_v<W>) {
      return is_first ? a : b;
    } else {
      // -0 is less than 0, as of the ops alone: then the order of combining does not matter.
      const bool is_first_zero = a == b && std::signbit(op == Op::Maximum ? b : a);
      const W out = is_first || is_first_zero ? a : b;
      // Subnormal numbers are zeros, as where they are added.
      return std::fabs(out) < std::numeric_limits<W>::min() ? std::copysign(W(0), out) : out;
    }
  } else if constexpr (std::is_integral_v<W>) {
    using U = std::make_unsigned_t<std::common_type_t<W, int>>;
    const U x = static_cast<U>(a), y = static_cast<U>(b);
    return static_cast<W>(op == Op::Add ? x + y : x * y);
  } else return op == Op::Add ? a + b : a * b;
}

template <class Body>
bool visit_combined_op(Op op, Body&& body) {
  if (op == Op::Add) return body(std::integral_constant<Op, Op::Add>()), true;
  if (op == Op::Multiply) return body(std::integral_constant<Op, Op::Multiply>()), true;
  if (op == Op::Maximum) return body(std::integral_constant<Op, Op::Maximum>()), true;
  if (op == Op::Minimum) return body(std::integral_constant<Op, Op::Minimum>()), true;
  return false;
}

// Calls body(type_identity<T>, integral_constant<Op>) when there is a fast path for the pair.
template <class Body>
bool visit_combiner(ElementType type, std::optional<Op> op, Body&& body) {
  if (!op) return false;
  const auto with = [&]<class T>(std::type_identity<T> t) {
    return visit_combined_op(*op, [&](auto o) { body(t, o); });
  };
  if (type == ElementType::F32) return with(std::type_identity<float>());
  if (type == ElementType::F64) return with(std::type_identity<double>());
  if (type == ElementType::BF16) return with(std::type_identity<BF16>());
  if (type == ElementType::F16) return with(std::type_identity<F16>());
  if (type == ElementType::S32) return with(std::type_identity<int32_t>());
  if (type == ElementType::S64) return with(std::type_identity<int64_t>());
  return false;
}

}  // namespace hilo
