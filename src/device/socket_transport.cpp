// One thread reads what comes from all others and sends what the system did not take at once.
#include "device/socket_transport.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "device/socket_peer.h"

namespace hilo {
namespace {

constexpr double farewell_s = 1;

bool is_large(const Message& message) {
  int64_t bytes = 0;
  for (const Payload& array : message.body) bytes += array.size;
  return bytes > min_far_bytes;
}

class SocketTransport : public Transport {
 public:
  SocketTransport(int rank, std::vector<Connection> connections, std::shared_ptr<PeerMemory> own)
      : rank_(rank), own_(std::move(own)), wake_(std::make_shared<WakeUp>()) {
    for (Connection& connection : connections) {
      Peer& peer = *peers_.emplace_back(std::make_unique<Peer>());
      peer.out = std::make_shared<SocketPeer>(std::move(connection), wake_);
      const int descriptor = peer.out->descriptor();
      if (peer.out->is_open()) fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
      peer.heard = Clock::now().time_since_epoch().count();
    }
  }
  ~SocketTransport() override {
    if (!thread_.joinable()) return;
    end_ = Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(farewell_s));
    is_ending_ = true;
    wake_->wake();
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
    SocketPeer& peer = *peers_[static_cast<size_t>(to)]->out;
    const bool lies_here = peer.connection().memory && is_large(frame.message);
    peer.put(OutgoingFrame(std::move(frame), lies_here));
  }
  Clock::time_point last_heard(int from) const override {
    return Clock::time_point(Clock::duration(peers_[static_cast<size_t>(from)]->heard.load()));
  }

 private:
  struct Peer {
    std::shared_ptr<SocketPeer> out;
    std::atomic<Clock::rep> heard;
    // Of the thread alone: what comes, and what was sent and lies there.
    IncomingFrame incoming;
    uint64_t far_frames = 0;
    std::vector<std::weak_ptr<SocketFarArrays>> far;
  };

  void close(int from, const std::string& reason) {
    peers_[static_cast<size_t>(from)]->out->close();
    receiver_.lose(from, reason);
  }

  // What has come from one, but not so much that others wait long.
  void read_from(int from) {
    constexpr int64_t enough = 1 << 22;
    Peer& peer = *peers_[static_cast<size_t>(from)];
    for (int64_t taken = 0; taken < enough;) {
      const auto room = peer.incoming.room();
      const ssize_t got = recv(peer.out->descriptor(), room.data(), room.size(), 0);
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

  // A complete frame; false where it is none of a process that can be understood.
  bool hand_over(int from) {
    Peer& peer = *peers_[static_cast<size_t>(from)];
    IncomingFrame& incoming = peer.incoming;
    if (incoming.head().is_receipt) {
      peer.out->drop_unread(incoming.head().tag.run);
      incoming.restart();
      return true;
    }
    if (incoming.head().lies_at_sender) {
      if (!peer.out->connection().memory) return close(from, "its memory cannot be read"), false;
      note_far(peer);
    }
    if (incoming.frame().kind == FrameKind::Leave) bring_far(peer);
    Frame frame = std::move(incoming.frame());
    incoming.restart();
    receiver_.receive(from, std::move(frame));
    return true;
  }

  static void note_far(Peer& peer) {
    Message& message = peer.incoming.frame().message;
    auto arrays = std::make_shared<SocketFarArrays>(peer.out, peer.far_frames++,
                                                    peer.incoming.addresses(), message.body);
    std::erase_if(peer.far, [](const auto& one) { return one.expired(); });
    peer.far.push_back(arrays);
    message.far = std::move(arrays);
  }

  // Before it has gone. What there is no memory for is lost with it.
  void bring_far(Peer& peer) {
    for (const auto& one : peer.far) {
      try {
        if (const auto arrays = one.lock()) arrays->bring_here(allocate_);
      } catch (const std::bad_alloc&) {
        return;
      }
    }
  }

  bool is_all_sent() const {
    return std::ranges::all_of(peers_, [](const auto& peer) { return peer->out->is_all_sent(); });
  }

  std::vector<pollfd> awaited() const {
    std::vector<pollfd> out = {{wake_->descriptor(), POLLIN, 0}};
    for (const auto& peer : peers_) {
      const auto events = static_cast<short>(POLLIN | (peer->out->has_waiting() ? POLLOUT : 0));
      out.push_back({peer->out->is_open() ? peer->out->descriptor() : -1, events, 0});
    }
    return out;
  }

  void run() {
    constexpr int look_ms = 100;
    while (!is_ending_ || (!is_all_sent() && Clock::now() < end_)) {
      std::vector<pollfd> all = awaited();
      if (poll(all.data(), all.size(), look_ms) < 0) continue;
      wake_->rest();
      for (size_t i = 1; i < all.size(); ++i) {
        if (all[i].revents & POLLOUT) peers_[i - 1]->out->flush();
        if (all[i].revents & (POLLIN | POLLHUP | POLLERR)) read_from(static_cast<int>(i) - 1);
      }
    }
    say_farewell();
  }

  // A connection that is closed before its bytes are read loses what is on its way to the other
  // side: until that closes too, or time is over, what comes is read.
  void say_farewell() {
    for (const auto& peer : peers_)
      if (peer->out->is_open()) shutdown(peer->out->descriptor(), SHUT_WR);
    receiver_.receive = [](int, const Frame&) {};
    receiver_.lose = [](int, const std::string&) {};
    while (Clock::now() < end_) {
      std::vector<pollfd> all = awaited();
      bool is_open = false;
      for (const auto& peer : peers_) is_open |= peer->out->is_open();
      constexpr int look_ms = 10;
      if (!is_open || poll(all.data() + 1, all.size() - 1, look_ms) < 0) break;
      for (size_t i = 1; i < all.size(); ++i)
        if (all[i].revents) read_from(static_cast<int>(i) - 1);
    }
    for (const auto& peer : peers_) peer->out->close();
  }

  int rank_;
  std::shared_ptr<PeerMemory> own_;
  std::shared_ptr<const WakeUp> wake_;
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
