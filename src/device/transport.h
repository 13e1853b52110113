// How frames get from one process to another. Shown through device.h.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "shape/shape.h"

namespace hilo {

// Bytes that stay as they are while somebody holds them.
struct Payload {
  Bytes bytes;
  int64_t size = 0;
};
// Arrays below this are sent with their frame, and copied where they may change meanwhile: to read
// them where they lie costs calls of the system and messages.
constexpr int64_t min_far_bytes = 1 << 14;
// So much of an array is read at once by who combines it with others: it stays in a cache.
constexpr int64_t far_block_bytes = 1 << 18;

// Arrays of a message that still lie in the process that has sent it, on this machine. That keeps
// them as they are while somebody holds this. Callable from several threads.
class FarArrays {
 public:
  virtual ~FarArrays() = default;
  // Bytes of an array; false where the sender has gone.
  virtual bool read(size_t array, int64_t offset, std::byte* to, int64_t size) const = 0;
};
struct Message {
  std::string head;                           // some hundred bytes
  std::vector<Payload> body;                  // arrays
  std::shared_ptr<const FarArrays> far = {};  // where they lie; then `body` has their sizes alone
};
// Which message it is: those between two processes with the same tag keep their order.
struct MessageTag {
  uint64_t run = 0;                 // 0: of no run, but of the process
  std::array<int64_t, 5> key = {};  // as the sender and the receiver agree
  auto operator<=>(const MessageTag&) const = default;
};
enum class FrameKind : uint32_t { Data, Heartbeat, Stop, Leave };
struct Frame {
  FrameKind kind = FrameKind::Data;
  MessageTag tag;
  Message message;
};

// Frames between the processes of one job, each with a rank below size(). Those from one process to
// another keep their order.
class Transport {
 public:
  using Clock = std::chrono::steady_clock;
  // Called on a thread of the transport's, for one frame after another.
  struct Receiver {
    std::function<void(int from, Frame frame)> receive;
    std::function<void(int from, const std::string& reason)> lose;  // it is gone; once
  };

  virtual ~Transport() = default;  // after what was sent has left, or a second
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Once, before anything is sent. `allocate` is for the arrays that come.
  virtual void start(Receiver receiver, Allocate allocate) = 0;
  // Never waits. To another process; where that is gone, nothing happens.
  virtual void send(int to, Frame frame) = 0;
  // When anything last came from it, also a part of a frame.
  virtual Clock::time_point last_heard(int from) const = 0;
};

// Ranks within this process, for programs that try what processes do: one for each.
std::vector<std::unique_ptr<Transport>> local_transports(int size);

}  // namespace hilo
