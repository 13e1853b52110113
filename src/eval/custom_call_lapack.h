// What the LAPACK custom calls share. Private to `eval`.
//
// A call is checked and made ready once, from shapes and settings alone. What runs then does one
// matrix of the batch after the other, on the evaluator's arrays or on those of compiled code.
#pragma once

#include "eval/backend_config.h"
#include "eval/custom_call.h"
#include "eval/routine.h"

namespace hilo {

// What belongs to one matrix of the batch.
struct LapackArray {
  ElementType type;
  Dims dims;
};

// A place in the memory that a thread has for its matrix.
template <class T>
struct LapackSpace {
  int64_t offset;
};

// The arrays of a call and how many bytes of each belong to one matrix.
struct LapackArrays {
  std::span<const std::byte* const> operands;
  std::span<std::byte* const> results;
  const std::vector<int64_t>&operand_bytes, &result_bytes;
};

// One matrix of the batch.
struct LapackMatrix {
  const LapackArrays& arrays;
  int64_t number;
  std::byte* memory;
  MaybeParallel parallel;  // who works on it

  template <class T>
  const T* operand(size_t i) const {
    return reinterpret_cast<const T*>(arrays.operands[i] + number * arrays.operand_bytes[i]);
  }
  template <class T>
  T* result(size_t i) const {
    return reinterpret_cast<T*>(arrays.results[i] + number * arrays.result_bytes[i]);
  }
  int* info() const { return result<int>(arrays.results.size() - 1); }
  template <class T>
  T* operator[](LapackSpace<T> space) const {
    return reinterpret_cast<T*>(memory + space.offset);
  }
  // Result o begins as a copy of operand i, or stands in its place.
  void copy(size_t i, size_t o) const;
  void clear(size_t o) const;
};

// How large a matrix may be.
struct LapackLimit {
  int64_t side, area;
};

// A call as it is known before it runs: functions check it, take space and give the step.
struct LapackCall {
  std::vector<Shape> operands, results;  // in the types that they are held in
  BackendConfig config;
  bool is_reference = false;  // no kernels; what LAPACK does is not ours
  Dims batch{};               // dimensions before those of the matrices
  MatrixSizes sizes{};        // of operand `matrix`
  int64_t space_bytes = 0;

  Result<void> begin(size_t operands, size_t results, size_t matrix, const LapackLimit& limit);
  char letter(const std::string& key, char otherwise) const {
    return static_cast<char>(config.whole(key, otherwise));
  }
  // Operand or result i is, for each matrix of the batch, such an array.
  Result<void> expect_operand(size_t i, const LapackArray& array) const;
  Result<void> expect_results(std::initializer_list<LapackArray> arrays) const;
  Result<void> expect_square() const;
  Dims matrix() const { return {sizes.rows, sizes.columns}; }
  int64_t least() const { return std::min(sizes.rows, sizes.columns); }
  template <class T>
  LapackSpace<T> space(int64_t count) {
    const LapackSpace<T> out{space_bytes};
    space_bytes += (count * static_cast<int64_t>(sizeof(T)) + 63) / 64 * 64;
    return out;
  }
};

// LAPACK's sizes of workspaces are 32-bit integers: at most 66 sides and a few vectors, or twice
// a square matrix and 6 of its sides. Without a workspace sides alone are.
constexpr LapackLimit lapack_limit = {INT32_MAX / 128, int64_t{30000} * 30000};
constexpr LapackLimit any_side = {INT32_MAX, INT64_MAX};

// body(T()) with the held type of the matrices.
template <class Body>
Result<LapackStep> with_lapack_type(LapackCall& call, size_t operands, size_t results, Body body,
                                    size_t matrix = 0, const LapackLimit& limit = lapack_limit) {
  HILO_DO(call.begin(operands, results, matrix, limit));
  switch (call.operands[matrix].type) {
    case ElementType::F32: return body(float());
    case ElementType::F64: return body(double());
    case ElementType::C64: return body(std::complex<float>());
    case ElementType::C128: return body(std::complex<double>());
    default: return fail(ErrorKind::Shape, "expected matrices of f32, f64, c64 or c128");
  }
}

inline std::unexpected<Error> no_lapack() {
  return fail(ErrorKind::Unsupported, "needs LAPACK: install libopenblas0 or liblapack3");
}

}  // namespace hilo
