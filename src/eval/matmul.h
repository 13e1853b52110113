// Matrix products: one narrow interface to the library that computes them. Private to `eval`.
#pragma once

#include "eval/call.h"

namespace hilo {

// An operand by its elements' positions: element (b, i, t) stands at batch[b] + outer[i] + inner[t]
// of `data`. i is the free index, t the summed one.
struct MatmulOperand {
  const void* data;
  ElementType type;
  Dims batch, outer, inner;
};
struct MatmulResult {  // element (b, i, j) stands at batch[b] + row[i] + column[j]
  void* data;
  ElementType type;
  Dims batch, row, column;
};

// out(b, i, j) = sum over t of lhs(b, i, t) * rhs(b, j, t). The sum is computed in f32, or in f64
// or complex when a type asks for it, and rounded once to the type of `out`; integers are exact and
// wrap. Work is cut into tiles that depend on the sizes alone, so that the bits do not depend on
// the number of threads. `precision` rounds the operands of f32 products first.
struct Matmul {
  MatmulOperand lhs, rhs;
  MatmulResult out;
  MatmulPrecision precision = MatmulPrecision::F32;
  // Whether large products of f32 may be made of products of the numbers' parts, which round other
  // sums, no more of them (eval/matrix_kernel_split.cpp).
  bool may_split = false;
  // Where it is not null: called once for each part of the result that is there, on any thread;
  // tells_parts() must hold for the width.
  const TakePart* take = nullptr;
  int64_t width = 0;
};
// Whether parts of the result are rectangles of a row-major matrix of so many columns, and are
// ready one by one.
bool tells_parts(const Matmul& product, int64_t width);
void matmul(const Matmul& product, const Parallel& parallel);
void matmul(const Matmul& product, const Call& call);  // on its threads, until it is interrupted

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
