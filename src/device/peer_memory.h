// Reading the memory of another process of this machine. Private to `device`.
#pragma once

#include <cstdint>
#include <string>

#include "device/transport.h"

namespace hilo {

// What a process shows of itself, so that others can try.
class PeerMemory {
 public:
  explicit PeerMemory(uint64_t secret) : secret_(secret) {}
  // For another process; where the secret lies, and who has it.
  std::string introduction() const;

 private:
  uint64_t secret_;
};

// Another process's memory.
class ReadablePeer {
 public:
  // Whether what the introduction names can be read, and is the secret: so it is the same machine,
  // and the system allows it.
  static bool can_read(std::string_view introduction, uint64_t secret);
  explicit ReadablePeer(std::string_view introduction);
  // False where the process has gone.
  bool read(uint64_t address, std::byte* to, int64_t size) const;

 private:
  int64_t process_ = 0;
};

}  // namespace hilo
