#include "kernels/gemm/integer_product.h"

#include "base/base.h"

namespace hilo {
namespace {

#define HILO_KERNELS "kernels/gemm/integer_product.def"
#include "kernels/each_processor.def"

}  // namespace

void add_integer_product(int64_t m, int64_t n, int64_t k, const uint64_t* a, const uint64_t* b,
                         uint64_t* c) {
  static const auto product = best_kernels<uint64_t>();
  product(m, n, k, a, b, c);
}

}  // namespace hilo
