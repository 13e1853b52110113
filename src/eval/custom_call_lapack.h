// What the LAPACK custom calls share. Private to `eval`.
#pragma once

#include "eval/backend_config.h"
#include "eval/custom_call.h"
#include "eval/lapack.h"

namespace hilo {

// A call on its matrices: operands checked, results made, settings read.
struct LapackCall {
  Call& call;
  BackendConfig config;
  std::vector<Literal> results;
  MatrixSizes sizes;  // of operand 0

  static Result<LapackCall> make(Call& call, size_t operands, size_t results);
  char letter(const std::string& key, char otherwise) const {
    return static_cast<char>(config.number(key, otherwise));
  }
  // Checks the number of elements of each result for one matrix, and that matrices are square.
  Result<void> expect(std::initializer_list<int64_t> elements, bool square = false) const;
  int* info(int64_t batch) { return vector_of<int>(results.back(), batch, sizes.batches); }
  Result<Literal> finish();
};

// Calls body(LapackCall&, T()) with the held type of operand 0.
template <class Body>
Result<Literal> with_lapack_type(Call& call, size_t operands, size_t results, Body body) {
  HILO_TRY(LapackCall lapack, LapackCall::make(call, operands, results));
  Result<void> done;
  switch (call.operands[0].type()) {
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
