#include "pass/shard/identity_element.h"

namespace hilo {
namespace {

// The least or greatest of a type, infinities of floats.
std::optional<Literal> extreme(ElementType type, bool is_least) {
  if (type == ElementType::Pred) return scalar_of(type, is_least ? 0 : 1);
  if (is_floating(type)) return scalar_of(type, is_least ? -INFINITY : INFINITY);
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
  if (op == Op::Add || op == Op::Or || op == Op::Xor) return scalar_of(type, 0);
  if (op == Op::Multiply) return scalar_of(type, 1);
  if (op == Op::And && type == ElementType::Pred) return scalar_of(type, 1);
  if (op == Op::And && is_unsigned(type)) return extreme(type, false);
  if (op == Op::And && is_signed(type)) return scalar_of(type, -1);
  if (op == Op::Maximum) return extreme(type, true);
  if (op == Op::Minimum) return extreme(type, false);
  return std::nullopt;
}

std::string_view reduction_name(Op op) {
  if (op == Op::Add) return "sum";
  if (op == Op::Multiply) return "mul";
  if (op == Op::Maximum) return "max";
  if (op == Op::Minimum) return "min";
  if (op == Op::And) return "and";
  if (op == Op::Or) return "or";
  return "";
}

}  // namespace hilo
