// How the processes of a mesh find and greet each other: each listens, says where in the store, and
// connects to those of lower rank.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <charconv>
#include <fstream>
#include <random>

#include "device/error_text.h"
#include "device/socket_connections.h"
#include "device/socket_transport.h"

namespace hilo {
namespace {

constexpr std::string_view greeting = "hilo frames 1";

std::string boot_id() {
  std::string out;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), out);
  return out;
}

// Of interfaces that are up, in numbers; not those of this machine alone.
std::vector<std::string> own_addresses() {
  std::vector<std::string> out;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return out;
  for (const ifaddrs* one = all; one; one = one->ifa_next) {
    if (!one->ifa_addr || !(one->ifa_flags & IFF_UP) || (one->ifa_flags & IFF_LOOPBACK)) continue;
    char text[INET6_ADDRSTRLEN] = {};
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    if (one->ifa_addr->sa_family != AF_INET) continue;
    if (inet_ntop(AF_INET, &v4->sin_addr, text, sizeof(text))) out.emplace_back(text);
  }
  freeifaddrs(all);
  return out;
}

// A process as the store tells of it: a line each.
struct Announcement {
  std::string boot;
  int port = 0;
  std::vector<std::string> hosts;

  std::string text() const {
    std::string out = fmt::format("{}\n{}", boot, port);
    for (const std::string& host : hosts) out += "\n" + host;
    return out;
  }
  static Announcement from(std::string_view text) {
    Announcement out;
    for (int line = 0; !text.empty(); ++line) {
      const std::string_view one = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(text.size(), one.size() + 1));
      if (line == 0) out.boot = one;
      else if (line == 1) std::from_chars(one.begin(), one.end(), out.port);
      else out.hosts.emplace_back(one);
    }
    return out;
  }
};

// Who has connected to whom; both sides know the secret of the job.
struct Hello {
  int64_t from, to;
  std::string introduction;
};
Result<void> greet(const Socket& socket, const Hello& hello, const std::string& secret,
                   Deadline deadline) {
  std::string text(greeting);
  put_number(text, hello.from);
  put_number(text, hello.to);
  return send_text(socket, text + secret + hello.introduction, deadline);
}
Result<Hello> take_greeting(const Socket& socket, const std::string& secret, Deadline deadline) {
  HILO_TRY(const std::string text, receive_text(socket, deadline));
  std::string_view rest = text;
  Hello out{-1, -1, {}};
  if (rest.starts_with(greeting)) {
    rest.remove_prefix(greeting.size());
    out.from = take_number(rest);
    out.to = take_number(rest);
    if (rest.starts_with(secret)) {
      out.introduction = rest.substr(secret.size());
      return out;
    }
  }
  return fail(ErrorKind::Io, "a stranger connects");
}

class MeshConnector {
 public:
  MeshConnector(const SocketMesh& mesh, KeyValueStore& store)
      : mesh_(mesh), store_(store), deadline_(deadline_in(mesh.timeout_s)) {}

  Result<std::vector<Connection>> connect() {
    HILO_TRY(const Listener listener, listen_on(0));
    HILO_DO(store_.put(key("process", mesh_.rank),
                       Announcement{boot_id(), listener.port, own_addresses()}.text()));
    HILO_DO(agree_on_secret());
    std::vector<Connection> out(static_cast<size_t>(mesh_.size));
    for (int other = 0; other < mesh_.rank; ++other) {
      HILO_TRY(out[static_cast<size_t>(other)], connect_with(other));
    }
    for (int missing = mesh_.size - 1 - mesh_.rank; missing > 0;) {
      HILO_TRY(Socket socket, accept_next(listener.socket, out));
      const auto hello = take_greeting(socket, secret_, deadline_in(greeting_s));
      if (!hello || hello->to != mesh_.rank || hello->from <= mesh_.rank ||
          hello->from >= mesh_.size || out[static_cast<size_t>(hello->from)].socket)
        continue;
      if (!greet(socket, {mesh_.rank, hello->from, own_introduction()}, secret_, deadline_))
        continue;
      out[static_cast<size_t>(hello->from)] = connection(std::move(socket), hello->introduction);
      --missing;
    }
    return out;
  }
  const std::shared_ptr<PeerMemory>& memory() const { return memory_; }

 private:
  static constexpr double greeting_s = 5;

  std::string key(std::string_view what, int rank) const {
    return fmt::format("{}/{}/{}", mesh_.job, what, rank);
  }
  std::string own_introduction() const { return memory_->introduction(); }

  Result<void> agree_on_secret() {
    if (mesh_.rank == 0) {
      std::random_device random;
      for (int i = 0; i < 4; ++i) secret_ += fmt::format("{:08x}", random());
      HILO_DO(store_.put(key("secret", 0), secret_));
    } else {
      HILO_TRY(secret_, get("secret", 0));
    }
    number_ = std::hash<std::string>()(secret_);
    memory_ = std::make_shared<PeerMemory>(number_);
    return {};
  }

  Result<std::string> get(std::string_view what, int rank) {
    const std::chrono::duration<double> left = deadline_ - std::chrono::steady_clock::now();
    auto out = store_.get(key(what, rank), std::max(0.0, left.count()));
    if (out) return out;
    return fail(ErrorKind::Io, "rank {} has not come within {} s: {}", rank, mesh_.timeout_s,
                out.error().message);
  }

  // By the addresses of the other process, this machine's own first where both run on it.
  Result<Connection> connect_with(int other) {
    HILO_TRY(const std::string said, get("process", other));
    Announcement there = Announcement::from(said);
    if (there.boot == boot_id()) there.hosts.insert(there.hosts.begin(), "127.0.0.1");
    std::string tried;
    for (const std::string& host : there.hosts) {
      auto out = try_host({host, there.port}, other);
      if (out) return out;
      tried += fmt::format("{}{}: {}", tried.empty() ? "" : "; ", host, out.error().message);
    }
    return fail(ErrorKind::Io, "rank {} cannot be reached: {}", other, tried);
  }
  Result<Connection> try_host(const HostAddress& address, int other) {
    HILO_TRY(Socket socket, connect_to(address, deadline_in(greeting_s)));
    HILO_DO(greet(socket, {mesh_.rank, other, own_introduction()}, secret_, deadline_));
    HILO_TRY(const Hello hello, take_greeting(socket, secret_, deadline_));
    if (hello.from != other) return fail(ErrorKind::Io, "rank {} answers", hello.from);
    return connection(std::move(socket), hello.introduction);
  }

  // Or who is missing.
  Result<Socket> accept_next(const Socket& listener, const std::vector<Connection>& there) {
    auto out = accept_from(listener, deadline_);
    if (out) return out;
    std::string missing;
    for (int other = mesh_.rank + 1; other < mesh_.size; ++other)
      if (!there[static_cast<size_t>(other)].socket)
        missing += fmt::format("{}{}", missing.empty() ? "" : ", ", other);
    return fail(ErrorKind::Io, "rank {} has not come within {} s", missing, mesh_.timeout_s);
  }

  Connection connection(Socket socket, const std::string& introduction) const {
    send_at_once(socket);
    Connection out{std::move(socket), std::nullopt};
    if (ReadablePeer::can_read(introduction, number_)) out.memory.emplace(introduction);
    return out;
  }

  const SocketMesh& mesh_;
  KeyValueStore& store_;
  Deadline deadline_;
  std::string secret_;
  uint64_t number_ = 0;
  std::shared_ptr<PeerMemory> memory_;
};

}  // namespace

Result<std::unique_ptr<Transport>> connect_mesh(const SocketMesh& mesh, KeyValueStore& store) {
  MeshConnector connecting(mesh, store);
  HILO_TRY(std::vector<Connection> connections, connecting.connect());
  return socket_transport(mesh.rank, std::move(connections), connecting.memory());
}

}  // namespace hilo
