// Another process as a transport over sockets has it. Private to `device`.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "device/frame_bytes.h"
#include "device/socket_connections.h"

namespace hilo {

// Wakes the thread of a transport.
class WakeUp {
 public:
  WakeUp();
  void wake() const;
  void rest() const;  // until the next wake()
  int descriptor() const { return event_.descriptor(); }

 private:
  Socket event_;
};

// What is sent to it. Callable from several threads, but for what the transport's thread alone
// does.
class SocketPeer {
 public:
  SocketPeer(Connection connection, std::shared_ptr<const WakeUp> thread);
  const Connection& connection() const { return connection_; }
  int descriptor() const { return connection_.socket.descriptor(); }
  bool is_open() const { return is_open_; }
  void put(OutgoingFrame frame);  // sends what the system takes now
  void flush();
  bool has_waiting();  // for the system to take it
  bool is_all_sent();  // nor lies here for the other to read
  void drop_unread(uint64_t number);
  void close();  // by the thread alone

 private:
  void flush_locked();

  Connection connection_;
  std::shared_ptr<const WakeUp> thread_;
  std::atomic<bool> is_open_;
  std::mutex mutex_;                          // of what follows
  std::deque<OutgoingFrame> queue_;           // the first may be sent in part
  std::map<uint64_t, OutgoingFrame> unread_;  // sent, but the receiver reads their arrays here
  uint64_t next_unread_ = 0;
};

// Arrays of a frame that lie in the memory of the process that has sent it.
class SocketFarArrays : public FarArrays {
 public:
  // number: of the frame, as its receipt has it.
  SocketFarArrays(std::shared_ptr<SocketPeer> sender, uint64_t number,
                  std::span<const uint64_t> addresses, std::span<const Payload> arrays);
  ~SocketFarArrays() override;  // with a receipt
  bool read(size_t array, int64_t offset, std::byte* to, int64_t size) const override;
  // From now on they lie here, and the sender needs to keep nothing.
  void bring_here(const Allocate& allocate);

 private:
  std::shared_ptr<SocketPeer> sender_;
  uint64_t number_;
  std::vector<uint64_t> addresses_;
  std::vector<int64_t> sizes_;
  mutable std::shared_mutex mutex_;
  std::vector<Bytes> here_;
};

}  // namespace hilo
