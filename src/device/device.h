// Front door of `device`: memory and threads of the machine that runs compiled programs. Knows no
// IR.
#pragma once

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "shape/shape.h"

namespace hilo {

// While one lives, the thread takes subnormal floats for zero, as operands and as results, as
// XLA:CPU and the evaluator's loops do. Where there is no such mode they are kept.
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

// This machine. Memory that is let go is kept and given out again, so that a second call of a
// program touches no new pages; large blocks ask for huge pages. All of it is callable from several
// threads at once.
class HostDevice {
 public:
  explicit HostDevice(int threads);  // 0: usable_cores()

  // 64-byte aligned, contents undefined; may outlive the device.
  Bytes allocate(int64_t bytes);
  ThreadPool& threads() { return pool_; }
  // Bytes that wait to be given out again.
  int64_t kept_bytes() const;

 private:
  struct Blocks;
  std::shared_ptr<Blocks> blocks_;
  ThreadPool pool_;
};

}  // namespace hilo
