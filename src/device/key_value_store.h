// Where the processes of a job find each other. Shown through device.h.
#pragma once

#include <memory>
#include <string>

#include "base/base.h"

namespace hilo {

// Callable from several threads.
class KeyValueStore {
 public:
  virtual ~KeyValueStore() = default;
  // Each key once.
  virtual Result<void> put(const std::string& key, const std::string& value) = 0;
  // Waits until it was put; Io, naming the key, after so many seconds.
  virtual Result<std::string> get(const std::string& key, double timeout_s) = 0;
};

// Served by one of the processes, which others reach at `address()`.
class KeyValueServer {
 public:
  // At "host:port", or any free port of this machine where that is empty.
  static Result<std::unique_ptr<KeyValueServer>> start(const std::string& address);
  ~KeyValueServer();
  std::string address() const;

 private:
  struct State;
  explicit KeyValueServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};
// The store of a server, which may start later. Io where none is there in time.
Result<std::unique_ptr<KeyValueStore>> open_store(const std::string& address, double timeout_s);

}  // namespace hilo
