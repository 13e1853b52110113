#include "device/peer_memory.h"

#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "device/error_text.h"

namespace hilo {

std::string PeerMemory::introduction() const {
  // Where only parents may read (Yama), all processes of this user may from now on.
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  std::string out;
  put_number(out, getpid());
  put_number(out, static_cast<int64_t>(reinterpret_cast<uintptr_t>(&secret_)));
  return out;
}

ReadablePeer::ReadablePeer(std::string_view introduction) : process_(take_number(introduction)) {}

bool ReadablePeer::can_read(std::string_view introduction, uint64_t secret) {
  const ReadablePeer peer(introduction);
  take_number(introduction);
  uint64_t found = 0;
  return peer.read(static_cast<uint64_t>(take_number(introduction)),
                   reinterpret_cast<std::byte*>(&found), sizeof(found)) &&
         found == secret;
}

bool ReadablePeer::read(uint64_t address, std::byte* to, int64_t size) const {
  while (size > 0) {
    iovec own = {to, static_cast<size_t>(size)};
    iovec other = {reinterpret_cast<void*>(address), static_cast<size_t>(size)};
    const ssize_t taken = process_vm_readv(static_cast<pid_t>(process_), &own, 1, &other, 1, 0);
    if (taken <= 0) return false;
    to += taken;
    address += static_cast<uint64_t>(taken);
    size -= taken;
  }
  return true;
}

}  // namespace hilo
