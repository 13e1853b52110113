// Shown through base/base.h.
#pragma once

#include <cstdint>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

namespace hilo {

// While one lives, its thread takes subnormal floats for zero, as operands and as results, as XLA's
// CPU and TPU back ends do; loops that decay end elsewhere when they are kept. Where there is no
// such mode they are kept.
class FlushSubnormals {
 public:
#if defined(__SSE2__)
  FlushSubnormals() : saved_(_mm_getcsr()) { _mm_setcsr(static_cast<uint32_t>(saved_) | 0x8040); }
  ~FlushSubnormals() { _mm_setcsr(static_cast<uint32_t>(saved_)); }
#elif defined(__aarch64__)  // FPCR.FZ, "Arm Architecture Reference Manual" C5.2.8
  FlushSubnormals() {
    asm volatile("mrs %0, fpcr" : "=r"(saved_));
    asm volatile("msr fpcr, %0" : : "r"(saved_ | 1 << 24) : "memory");
  }
  ~FlushSubnormals() { asm volatile("msr fpcr, %0" : : "r"(saved_) : "memory"); }
#else
  FlushSubnormals() {}
#endif
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  [[maybe_unused]] uint64_t saved_ = 0;
};

}  // namespace hilo
