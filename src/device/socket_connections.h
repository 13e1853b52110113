// The connections of a mesh that stands. Private to `device`.
#pragma once

#include <memory>
#include <optional>

#include "device/peer_memory.h"
#include "device/socket.h"

namespace hilo {

struct Connection {
  Socket socket;
  std::optional<ReadablePeer> memory;  // where it can be read
};
// connections: by rank; the own one is empty. `own` is what others read.
Result<std::unique_ptr<Transport>> socket_transport(int rank, std::vector<Connection> connections,
                                                    std::shared_ptr<PeerMemory> own);

}  // namespace hilo
