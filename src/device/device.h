// Front door of `device`: memory and threads of the machine that runs programs, and the processes
// that run one together. Knows no IR.
#pragma once

#include "device/buffer.h"
#include "device/communicator.h"
#include "device/event.h"
#include "device/job.h"
#include "device/shared_facts.h"
#include "device/stream.h"
#include "shape/shape.h"

namespace hilo {

// Blocks of a device's memory, but for those of a few hundred bytes.
struct MemoryUse {
  int64_t bytes = 0, peak_bytes = 0;  // held now; most at once
  int64_t allocations = 0, largest_bytes = 0;
  int64_t kept_bytes = 0;  // wait to be given out again
};

// This machine. Memory that is let go is kept and given out again, so that a second call of a
// program touches no new pages; large blocks ask for huge pages. All of it is callable from several
// threads at once.
class HostDevice {
 public:
  explicit HostDevice(int threads);  // 0: usable_cores()

  // 64-byte aligned, contents undefined; may outlive the device. Throws OutOfMemory.
  Bytes allocate(int64_t bytes);
  ThreadPool& threads() { return pool_; }
  MemoryUse memory_use() const;
  // From now on peaks and counts are those of what is held and of what follows.
  void forget_peaks();

 private:
  struct Blocks;
  std::shared_ptr<Blocks> blocks_;
  ThreadPool pool_;
};

}  // namespace hilo
