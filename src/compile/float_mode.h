// How floats are computed while compiled code runs. Private to `compile`.
#pragma once

#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace hilo {

// Subnormal f32 and f64 count as zeros on this thread while it lives, as in the evaluator and in
// XLA.
class FlushSubnormals {
 public:
#if defined(__SSE2__)
  FlushSubnormals() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | 0x8040); }
  ~FlushSubnormals() { _mm_setcsr(saved_); }

 private:
  unsigned saved_;
#elif defined(__aarch64__)
  FlushSubnormals() : saved_(__builtin_aarch64_get_fpcr64()) {
    __builtin_aarch64_set_fpcr64(saved_ | (1ull << 24));
  }
  ~FlushSubnormals() { __builtin_aarch64_set_fpcr64(saved_); }

 private:
  unsigned long long saved_;
#endif
 public:
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;
};

}  // namespace hilo
