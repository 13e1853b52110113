// What products are summed in. Private to `kernels`.
#pragma once

#include "kernels/kernels.h"

namespace hilo {

// The type that products of these operands are summed in: F32, F64, C64, C128, or U64 that wraps.
ElementType accumulator_type(ElementType lhs, ElementType rhs, ElementType out);
// Calls body(std::type_identity<T>()) with the storage type of an accumulator_type.
template <class Body>
void visit_accumulator(ElementType type, Body&& body) {
  if (type == ElementType::F32) return body(std::type_identity<float>());
  if (type == ElementType::F64) return body(std::type_identity<double>());
  if (type == ElementType::C64) return body(std::type_identity<std::complex<float>>());
  if (type == ElementType::C128) return body(std::type_identity<std::complex<double>>());
  body(std::type_identity<uint64_t>());
}

}  // namespace hilo
