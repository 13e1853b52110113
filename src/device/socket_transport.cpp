// One thread reads what comes from all others and sends what the system did not take at once.
#include "device/socket_transport.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include "device/frame_bytes.h"
#include "device/socket_connections.h"

namespace hilo {
namespace {

// Arrays below this are sent with their frame: to read them costs a call of the system and a
// receipt.
constexpr int64_t inline_bytes = 1 << 14;
constexpr double farewell_s = 1;

bool is_large(const Message& message) {
  int64_t bytes = 0;
  for (const Payload& array : message.body) bytes += array.size;
  return bytes > inline_bytes;
}

class SocketTransport : public Transport {
 public:
  SocketTransport(int rank, std::vector<Connection> connections, std::shared_ptr<PeerMemory> own)
      : rank_(rank), own_(std::move(own)), wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    for (Connection& connection : connections) {
      Peer& peer = *peers_.emplace_back(std::make_unique<Peer>());
      peer.connection = std::move(connection);
      peer.is_open = static_cast<bool>(peer.connection.socket);
      const int descriptor = peer.connection.socket.descriptor();
      if (peer.is_open) fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
      peer.heard = Clock::now().time_since_epoch().count();
    }
  }
  ~SocketTransport() override {
    if (!thread_.joinable()) return;
    end_ = Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(farewell_s));
    is_ending_ = true;
    wake();
    thread_.join();
  }

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(peers_.size()); }
  void start(Receiver receiver, Allocate allocate) override {
    receiver_ = std::move(receiver);
    allocate_ = std::move(allocate);
    thread_ = std::thread([this] { run(); });
  }
  void send(int to, Frame frame) override {
    Peer& peer = *peers_[static_cast<size_t>(to)];
    const bool lies_here = peer.connection.memory && is_large(frame.message);
    put(peer, OutgoingFrame(std::move(frame), lies_here));
  }
  Clock::time_point last_heard(int from) const override {
    return Clock::time_point(Clock::duration(peers_[static_cast<size_t>(from)]->heard.load()));
  }

 private:
  struct Peer {
    Connection connection;
    std::atomic<bool> is_open = false;  // closed by the thread alone
    std::atomic<Clock::rep> heard;
    std::mutex mutex;                  // of what follows
    std::deque<OutgoingFrame> queue;   // the first may be sent in part
    std::deque<OutgoingFrame> unread;  // sent, but the receiver reads their arrays here
    IncomingFrame incoming;            // of the thread alone
  };

  void wake() const {
    const uint64_t one = 1;
    (void)!write(wake_.descriptor(), &one, sizeof(one));
  }

  void put(Peer& peer, OutgoingFrame frame) {
    bool waits = false;
    {
      const std::lock_guard lock(peer.mutex);
      if (!peer.is_open) return;
      peer.queue.push_back(std::move(frame));
      if (peer.queue.size() == 1) flush(peer);
      waits = !peer.queue.empty();
    }
    if (waits) wake();
  }

  // As much as the system takes, under the peer's lock. A connection that is broken is found by who
  // reads it.
  static void flush(Peer& peer) {
    constexpr size_t ranges = 64;
    while (!peer.queue.empty()) {
      const auto rest = peer.queue.front().rest(ranges);
      if (rest.empty()) {
        if (peer.queue.front().lies_here()) peer.unread.push_back(std::move(peer.queue.front()));
        peer.queue.pop_front();
        continue;
      }
      std::array<iovec, ranges> parts = {};
      for (size_t i = 0; i < rest.size(); ++i)
        parts[i] = {const_cast<std::byte*>(rest[i].data()), rest[i].size()};
      msghdr message = {};
      message.msg_iov = parts.data();
      message.msg_iovlen = rest.size();
      const ssize_t sent =
          sendmsg(peer.connection.socket.descriptor(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && errno != EAGAIN) return peer.queue.clear();
      if (sent < 0) return;
      peer.queue.front().advance(static_cast<size_t>(sent));
    }
  }

  void close(int from, const std::string& reason) {
    Peer& peer = *peers_[static_cast<size_t>(from)];
    {
      const std::lock_guard lock(peer.mutex);
      peer.is_open = false;
      peer.queue.clear();
      peer.unread.clear();
    }
    receiver_.lose(from, reason);
  }

  // What has come from one, but not so much that others wait long.
  void read_from(int from) {
    constexpr int64_t enough = 1 << 22;
    Peer& peer = *peers_[static_cast<size_t>(from)];
    for (int64_t taken = 0; taken < enough;) {
      const auto room = peer.incoming.room();
      const ssize_t got = recv(peer.connection.socket.descriptor(), room.data(), room.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return;
      if (got == 0) return close(from, "its connection was closed");
      if (got < 0) return close(from, std::strerror(errno));
      taken += got;
      peer.heard = Clock::now().time_since_epoch().count();
      bool is_sound = false;
      try {
        is_sound = peer.incoming.advance(static_cast<size_t>(got), allocate_);
      } catch (const std::bad_alloc&) {
        return close(from, "it sends more than there is memory for");
      }
      if (!is_sound) return close(from, "it sends what is no frame of Hilo");
      if (peer.incoming.is_complete() && !hand_over(from)) return;
    }
  }

  // A complete frame; false where its sender has gone.
  bool hand_over(int from) {
    Peer& peer = *peers_[static_cast<size_t>(from)];
    IncomingFrame& incoming = peer.incoming;
    if (incoming.head().is_receipt) {
      const std::lock_guard lock(peer.mutex);
      if (!peer.unread.empty()) peer.unread.pop_front();
      incoming.restart();
      return true;
    }
    if (incoming.head().lies_at_sender) {
      if (!read_arrays(peer)) return close(from, "its memory cannot be read"), false;
      put(peer, OutgoingFrame::receipt());
    }
    Frame frame = std::move(incoming.frame());
    incoming.restart();
    receiver_.receive(from, std::move(frame));
    return true;
  }

  static bool read_arrays(Peer& peer) {
    const auto addresses = peer.incoming.addresses();
    const std::vector<Payload>& arrays = peer.incoming.frame().message.body;
    if (!peer.connection.memory) return false;
    for (size_t i = 0; i < arrays.size(); ++i)
      if (!peer.connection.memory->read(addresses[i], arrays[i].bytes.get(), arrays[i].size))
        return false;
    return true;
  }

  // Whether something of what was sent still lies here.
  bool is_all_sent() {
    for (const auto& peer : peers_) {
      const std::lock_guard lock(peer->mutex);
      if (peer->is_open && (!peer->queue.empty() || !peer->unread.empty())) return false;
    }
    return true;
  }

  std::vector<pollfd> awaited() {
    std::vector<pollfd> out = {{wake_.descriptor(), POLLIN, 0}};
    for (const auto& peer : peers_) {
      const std::lock_guard lock(peer->mutex);
      const auto events = static_cast<short>(POLLIN | (peer->queue.empty() ? 0 : POLLOUT));
      out.push_back({peer->is_open ? peer->connection.socket.descriptor() : -1, events, 0});
    }
    return out;
  }

  void run() {
    constexpr int look_ms = 100;
    while (!is_ending_ || (!is_all_sent() && Clock::now() < end_)) {
      std::vector<pollfd> all = awaited();
      if (poll(all.data(), all.size(), look_ms) < 0) continue;
      uint64_t woken = 0;
      (void)!read(wake_.descriptor(), &woken, sizeof(woken));
      for (size_t i = 1; i < all.size(); ++i) {
        Peer& peer = *peers_[i - 1];
        if (all[i].revents & POLLOUT) {
          const std::lock_guard lock(peer.mutex);
          flush(peer);
        }
        if (all[i].revents & (POLLIN | POLLHUP | POLLERR)) read_from(static_cast<int>(i) - 1);
      }
    }
    say_farewell();
  }

  // A connection that is closed before its bytes are read loses what is on its way to the other
  // side: until that closes too, or time is over, what comes is read.
  void say_farewell() {
    for (const auto& peer : peers_)
      if (peer->is_open) shutdown(peer->connection.socket.descriptor(), SHUT_WR);
    receiver_.receive = [](int, const Frame&) {};
    receiver_.lose = [](int, const std::string&) {};
    while (Clock::now() < end_) {
      std::vector<pollfd> all = awaited();
      bool is_open = false;
      for (const auto& peer : peers_) is_open |= peer->is_open;
      constexpr int look_ms = 10;
      if (!is_open || poll(all.data() + 1, all.size() - 1, look_ms) < 0) return;
      for (size_t i = 1; i < all.size(); ++i)
        if (all[i].revents) read_from(static_cast<int>(i) - 1);
    }
  }

  int rank_;
  std::shared_ptr<PeerMemory> own_;
  Socket wake_;
  std::vector<std::unique_ptr<Peer>> peers_;  // by rank; the own one is closed
  Receiver receiver_;
  Allocate allocate_;
  std::atomic<bool> is_ending_ = false;
  Clock::time_point end_;  // written before is_ending_
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<Transport>> socket_transport(int rank, std::vector<Connection> connections,
                                                    std::shared_ptr<PeerMemory> own) {
  return std::make_unique<SocketTransport>(rank, std::move(connections), std::move(own));
}

}  // namespace hilo
