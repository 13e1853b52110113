// TCP connections. Private to `device`.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <utility>

#include "base/base.h"

namespace hilo {

using Deadline = std::chrono::steady_clock::time_point;
Deadline deadline_in(double seconds);

// Owns a file descriptor.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket();
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  int descriptor() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

struct HostAddress {
  std::string host;
  int port = 0;
};
// "host:port", "[::1]:port"; Usage for anything else.
Result<HostAddress> parse_address(std::string_view text);
std::string text_of(const HostAddress& address);

struct Listener {
  Socket socket;
  int port = 0;
};
// On all interfaces; port 0: any that is free.
Result<Listener> listen_on(int port);
// Tries until the deadline, for the other side may not listen yet.
Result<Socket> connect_to(const HostAddress& address, Deadline deadline);
// Io, naming nobody, where nothing comes.
Result<Socket> accept_from(const Socket& listener, Deadline deadline);
Result<void> send_all(const Socket& to, std::span<const char> bytes, Deadline deadline);
Result<void> receive_all(const Socket& from, std::span<char> bytes, Deadline deadline);
// A length and as many bytes.
Result<void> send_text(const Socket& to, std::string_view text, Deadline deadline);
Result<std::string> receive_text(const Socket& from, Deadline deadline);

// The address of this machine by which `socket`'s other side reaches it.
std::string own_host(const Socket& socket);
// As others on the network know this machine.
std::string host_name();
void send_at_once(const Socket& socket);  // small messages do not wait for others

}  // namespace hilo
