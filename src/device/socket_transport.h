// Frames over TCP, each process connected with each. Private to `device`.
#pragma once

#include "device/key_value_store.h"
#include "device/transport.h"

namespace hilo {

struct SocketMesh {
  int rank = 0, size = 1;
  std::string job;        // begins the names of keys: each job of a store has its own
  double timeout_s = 60;  // for all others to come
};
// Io where another process does not come in time, naming it.
Result<std::unique_ptr<Transport>> connect_mesh(const SocketMesh& mesh, KeyValueStore& store);

}  // namespace hilo
