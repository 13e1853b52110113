// What the LAPACK custom calls share. Private to `eval`.
#pragma once

#include "eval/backend_config.h"
#include "eval/custom_call.h"
#include "eval/lapack.h"

namespace hilo {

// What belongs to one matrix of the batch.
struct LapackArray {
  ElementType type;
  Dims dims;
};

// A call on its matrices: operands checked, results made, settings read.
struct LapackCall {
  Call& call;
  BackendConfig config;
  std::vector<Literal> results;
  Dims batch;         // dimensions before those of the matrices
  MatrixSizes sizes;  // of operand `matrix`

  static Result<LapackCall> make(Call& call, size_t operands, size_t results, size_t matrix = 0);
  char letter(const std::string& key, char otherwise) const {
    return static_cast<char>(config.whole(key, otherwise));
  }
  // Operand or result i is, for each matrix of the batch, such an array.
  Result<void> expect_operand(size_t i, const LapackArray& array) const;
  Result<void> expect_results(std::initializer_list<LapackArray> arrays) const;
  Result<void> expect_square() const;
  Dims matrix() const { return {sizes.rows, sizes.columns}; }
  int64_t least() const { return std::min(sizes.rows, sizes.columns); }
  int* info(int64_t matrix) { return vector_of<int>(results.back(), matrix, sizes.batches); }
  Result<Literal> finish();
};

// Calls body(LapackCall&, T()) with the held type of the matrices.
template <class Body>
Result<Literal> with_lapack_type(Call& call, size_t operands, size_t results, Body body,
                                 size_t matrix = 0) {
  HILO_TRY(LapackCall lapack, LapackCall::make(call, operands, results, matrix));
  Result<void> done;
  switch (call.operands[matrix].type()) {
    case ElementType::F32: done = body(lapack, float()); break;
    case ElementType::F64: done = body(lapack, double()); break;
    case ElementType::C64: done = body(lapack, std::complex<float>()); break;
    case ElementType::C128: done = body(lapack, std::complex<double>()); break;
    default: return call.error(ErrorKind::Shape, "expected matrices of f32, f64, c64 or c128");
  }
  if (!done) return std::unexpected(done.error());
  return lapack.finish();
}

inline std::unexpected<Error> no_lapack(const Call& call) {
  return call.error(ErrorKind::Unsupported, "needs LAPACK: install libopenblas0 or liblapack3");
}

}  // namespace hilo
