#include "device/socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>

namespace hilo {
namespace {

constexpr int64_t max_text = int64_t{1} << 24;

std::unexpected<Error> system_error(std::string_view what) {
  return fail(ErrorKind::Io, "{}: {}", what, std::strerror(errno));
}

// Whether the descriptor is ready in time.
bool wait_for(const Socket& socket, short events, Deadline deadline) {
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd one = {socket.descriptor(), events, 0};
    const int ready = poll(&one, 1, static_cast<int>(std::max<int64_t>(0, left.count())));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

void set_blocking(const Socket& socket, bool blocks) {
  const int flags = fcntl(socket.descriptor(), F_GETFL);
  fcntl(socket.descriptor(), F_SETFL, blocks ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Result<Addresses> look_up(const HostAddress& address) {
  addrinfo wanted = {};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed =
      getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &wanted, &found);
  if (failed) return fail(ErrorKind::Io, "{}: {}", address.host, gai_strerror(failed));
  return Addresses(found);
}

Result<Socket> try_to_connect(const addrinfo& to, Deadline deadline) {
  Socket out(socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!out) return system_error("socket");
  set_blocking(out, false);
  if (connect(out.descriptor(), to.ai_addr, to.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return system_error("connect");
    if (!wait_for(out, POLLOUT, deadline)) return fail(ErrorKind::Io, "connect: no answer");
    int error = 0;
    socklen_t size = sizeof(error);
    getsockopt(out.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size);
    errno = error;
    if (error) return system_error("connect");
  }
  set_blocking(out, true);
  return out;
}

}  // namespace

Deadline deadline_in(double seconds) {
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<Deadline::duration>(std::chrono::duration<double>(seconds));
}

Socket::~Socket() {
  if (descriptor_ >= 0) close(descriptor_);
}

Result<HostAddress> parse_address(std::string_view text) {
  const size_t colon = text.rfind(':');
  HostAddress out;
  if (colon != std::string_view::npos) {
    std::string_view host = text.substr(0, colon), port = text.substr(colon + 1);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    const auto [end, error] = std::from_chars(port.begin(), port.end(), out.port);
    if (error == std::errc() && end == port.end() && !host.empty() && out.port > 0 &&
        out.port < 65536) {
      out.host = host;
      return out;
    }
  }
  return fail(ErrorKind::Usage, "'{}' is no address; write HOST:PORT", text);
}

std::string text_of(const HostAddress& address) {
  const bool is_v6 = address.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", is_v6 ? "[" : "", address.host, is_v6 ? "]" : "", address.port);
}

Result<Listener> listen_on(int port) {
  constexpr int waiting = 4096;
  Socket out(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const bool has_v6 = static_cast<bool>(out);
  if (!has_v6) out = Socket(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!out) return system_error("socket");
  const int on = 1, off = 0;
  setsockopt(out.descriptor(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_storage own = {};
  socklen_t size = has_v6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  const uint16_t wanted = htons(static_cast<uint16_t>(port));
  own.ss_family = has_v6 ? AF_INET6 : AF_INET;
  if (has_v6) {
    setsockopt(out.descriptor(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    reinterpret_cast<sockaddr_in6&>(own).sin6_port = wanted;
  } else {
    reinterpret_cast<sockaddr_in&>(own).sin_port = wanted;
  }
  if (bind(out.descriptor(), reinterpret_cast<sockaddr*>(&own), size) != 0 ||
      listen(out.descriptor(), waiting) != 0)
    return system_error(fmt::format("listen on port {}", port));
  getsockname(out.descriptor(), reinterpret_cast<sockaddr*>(&own), &size);
  const uint16_t given = has_v6 ? reinterpret_cast<sockaddr_in6&>(own).sin6_port
                                : reinterpret_cast<sockaddr_in&>(own).sin_port;
  return Listener{std::move(out), ntohs(given)};
}

Result<Socket> connect_to(const HostAddress& address, Deadline deadline) {
  constexpr auto pause = std::chrono::milliseconds(20);
  std::optional<Error> last;
  while (true) {
    HILO_TRY(const Addresses found, look_up(address));
    for (const addrinfo* one = found.get(); one; one = one->ai_next) {
      auto out = try_to_connect(*one, deadline);
      if (out) return out;
      last = std::move(out.error());
    }
    if (std::chrono::steady_clock::now() + pause >= deadline) break;
    std::this_thread::sleep_for(pause);
  }
  return fail(ErrorKind::Io, "{}: {}", text_of(address), last ? last->message : "no address");
}

Result<Socket> accept_from(const Socket& listener, Deadline deadline) {
  if (!wait_for(listener, POLLIN, deadline)) return fail(ErrorKind::Io, "nobody connects");
  Socket out(accept4(listener.descriptor(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!out) return system_error("accept");
  return out;
}

Result<void> send_all(const Socket& to, std::span<const char> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    if (!wait_for(to, POLLOUT, deadline)) return fail(ErrorKind::Io, "nothing is taken");
    const ssize_t sent = send(to.descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return system_error("send");
    bytes = bytes.subspan(static_cast<size_t>(sent));
  }
  return {};
}

Result<void> receive_all(const Socket& from, std::span<char> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    if (!wait_for(from, POLLIN, deadline)) return fail(ErrorKind::Io, "nothing comes");
    const ssize_t taken = recv(from.descriptor(), bytes.data(), bytes.size(), 0);
    if (taken < 0 && errno == EINTR) continue;
    if (taken < 0) return system_error("receive");
    if (taken == 0) return fail(ErrorKind::Io, "the connection was closed");
    bytes = bytes.subspan(static_cast<size_t>(taken));
  }
  return {};
}

Result<void> send_text(const Socket& to, std::string_view text, Deadline deadline) {
  const auto size = static_cast<int64_t>(text.size());
  std::string all(reinterpret_cast<const char*>(&size), sizeof(size));
  return send_all(to, all += text, deadline);
}

Result<std::string> receive_text(const Socket& from, Deadline deadline) {
  int64_t size = 0;
  HILO_DO(receive_all(from, {reinterpret_cast<char*>(&size), sizeof(size)}, deadline));
  if (size < 0 || size > max_text)
    return fail(ErrorKind::Format, "the other side is no process of Hilo");
  std::string out(static_cast<size_t>(size), '\0');
  HILO_DO(receive_all(from, out, deadline));
  return out;
}

std::string own_host(const Socket& socket) {
  sockaddr_storage own = {};
  socklen_t size = sizeof(own);
  char host[NI_MAXHOST] = "127.0.0.1";
  if (getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&own), &size) == 0)
    getnameinfo(reinterpret_cast<sockaddr*>(&own), size, host, sizeof(host), nullptr, 0,
                NI_NUMERICHOST);
  return host;
}

std::string host_name() {
  char name[NI_MAXHOST] = {};
  return gethostname(name, sizeof(name) - 1) == 0 && name[0] ? name : "127.0.0.1";
}

void send_at_once(const Socket& socket) {
  const int on = 1;
  setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

}  // namespace hilo
