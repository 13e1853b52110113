// Shown through base/base.h.
#pragma once

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

namespace hilo {

// While one lives, its thread takes subnormal floats for zero, as operands and as results, as XLA's
// CPU and TPU back ends do; loops that decay end elsewhere when they are kept. Where there is no
// such mode they are kept.
class FlushSubnormals {
 public:
#ifdef __SSE2__
  FlushSubnormals() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | 0x8040); }
  ~FlushSubnormals() { _mm_setcsr(saved_); }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  unsigned saved_;
#else
  FlushSubnormals() {}
#endif
};

}  // namespace hilo
