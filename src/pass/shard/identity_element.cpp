#include "pass/shard/identity_element.h"

#include <algorithm>
#include <cmath>

namespace hilo {
namespace {

// Of a float of one byte at most: of all that its bits can be.
Literal extreme_number(ElementType type, bool is_least) {
  std::optional<Literal> out;
  for (int bits = 0; bits < 1 << bits_of(type); ++bits) {
    Literal one = Literal::zeros(Shape::scalar(type));
    one.mutable_raw()[0] = static_cast<std::byte>(bits);
    const double number = one.number_at(0), best = out ? out->number_at(0) : number;
    if (!out || std::isnan(best) || (is_least ? number < best : number > best))
      out = std::move(one);
  }
  return *std::move(out);
}

// The least or greatest of a type, infinities of floats that have them.
std::optional<Literal> extreme(ElementType type, bool is_least) {
  if (type == ElementType::Pred) return scalar_of(type, is_least ? 0 : 1);
  if (is_floating(type))
    return bits_of(type) <= 8 ? extreme_number(type, is_least)
                              : scalar_of(type, is_least ? -INFINITY : INFINITY);
  if (is_complex(type)) return std::nullopt;
  if (is_unsigned(type) && is_least) return scalar_of(type, 0);
  if (type == ElementType::U64) return Literal::scalar<uint64_t>(~uint64_t{0});
  if (type == ElementType::S64) return Literal::scalar<int64_t>(is_least ? INT64_MIN : INT64_MAX);
  const int value_bits = bits_of(type) - (is_unsigned(type) ? 0 : 1);
  const auto power = static_cast<double>(int64_t{1} << value_bits);
  return scalar_of(type, is_least ? -power : power - 1);
}

}  // namespace

std::optional<Literal> identity_element(Op op, ElementType type) {
  Literal zero = scalar_of(type, 0);
  const bool has_zero = zero.number_at(0) == 0;
  if (op == Op::Add || op == Op::Or || op == Op::Xor)
    return has_zero ? std::optional(std::move(zero)) : std::nullopt;
  if (op == Op::Multiply) return scalar_of(type, 1);
  if (op == Op::And && type == ElementType::Pred) return scalar_of(type, 1);
  if (op == Op::And && is_unsigned(type)) return extreme(type, false);
  if (op == Op::And && is_signed(type)) return scalar_of(type, -1);
  // Arithmetic takes the least number of a type without zero for zero, which is NaN there.
  if (op == Op::Maximum && !has_zero) return std::nullopt;
  if (op == Op::Maximum) return extreme(type, true);
  if (op == Op::Minimum) return extreme(type, false);
  return std::nullopt;
}

std::optional<NeutralSum> neutral_sum(ElementType type) {
  if (type == ElementType::Pred) return NeutralSum{scalar_of(type, 0), "or"};
  Literal zero = scalar_of(type, is_floating(type) || is_complex(type) ? -0.0 : 0);
  if (zero.number_at(0) != 0) return std::nullopt;
  return NeutralSum{std::move(zero), "sum"};
}

std::optional<Literal> exact_identity(Op op, ElementType type) {
  if (op == Op::Multiply && is_complex(type)) return std::nullopt;
  const auto sum = op == Op::Add ? neutral_sum(type) : std::nullopt;
  return sum ? sum->neutral : identity_element(op, type);
}

std::optional<Literal> neutral_beside(const Literal* initial, Op op, ElementType type) {
  auto neutral = identity_element(op, type);
  const bool is_same = initial && neutral && std::ranges::equal(initial->raw(), neutral->raw());
  return is_same ? neutral : exact_identity(op, type);
}

namespace {

// Shardy's names, the first of an op is the one that is written.
struct Reduction {
  std::string_view name;
  Op op;
};
constexpr Reduction reductions[] = {
    {"sum", Op::Add}, {"mul", Op::Multiply}, {"max", Op::Maximum}, {"min", Op::Minimum},
    {"and", Op::And}, {"or", Op::Or},        {"", Op::Add},        {"add", Op::Add}};

}  // namespace

std::string_view reduction_name(Op op) {
  for (const Reduction& one : reductions)
    if (one.op == op) return one.name;
  return "";
}

std::optional<Op> reduction_of(std::string_view name) {
  for (const Reduction& one : reductions)
    if (one.name == name) return one.op;
  return std::nullopt;
}

}  // namespace hilo
