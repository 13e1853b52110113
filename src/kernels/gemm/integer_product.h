// The inner loop of products of integers of 64 bits, for the processor that runs it. Private to
// `kernels`.
#pragma once

#include <cstdint>

namespace hilo {

// c += a b modulo 2^64, of c[m, n], a[m, k] and b[k, n], each dense and row-major.
void add_integer_product(int64_t m, int64_t n, int64_t k, const uint64_t* a, const uint64_t* b,
                         uint64_t* c);

}  // namespace hilo
