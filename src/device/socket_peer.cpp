#include "device/socket_peer.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace hilo {

WakeUp::WakeUp() : event_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

void WakeUp::wake() const {
  const uint64_t one = 1;
  (void)!write(event_.descriptor(), &one, sizeof(one));
}

void WakeUp::rest() const {
  uint64_t woken = 0;
  (void)!read(event_.descriptor(), &woken, sizeof(woken));
}

SocketPeer::SocketPeer(Connection connection, std::shared_ptr<const WakeUp> thread)
    : connection_(std::move(connection)),
      thread_(std::move(thread)),
      is_open_(static_cast<bool>(connection_.socket)) {}

void SocketPeer::put(OutgoingFrame frame) {
  bool waits = false;
  {
    const std::lock_guard lock(mutex_);
    if (!is_open_) return;
    queue_.push_back(std::move(frame));
    if (queue_.size() == 1) flush_locked();
    waits = !queue_.empty();
  }
  if (waits) thread_->wake();
}

void SocketPeer::flush() {
  const std::lock_guard lock(mutex_);
  flush_locked();
}

// As much as the system takes. A connection that is broken is found by who reads it.
void SocketPeer::flush_locked() {
  constexpr size_t ranges = 64;
  while (!queue_.empty()) {
    const auto rest = queue_.front().rest(ranges);
    if (rest.empty()) {
      if (queue_.front().lies_here()) unread_.emplace(next_unread_++, std::move(queue_.front()));
      queue_.pop_front();
      continue;
    }
    std::array<iovec, ranges> parts = {};
    for (size_t i = 0; i < rest.size(); ++i)
      parts[i] = {const_cast<std::byte*>(rest[i].data()), rest[i].size()};
    msghdr message = {};
    message.msg_iov = parts.data();
    message.msg_iovlen = rest.size();
    const ssize_t sent = sendmsg(descriptor(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN) return queue_.clear();
    if (sent < 0) return;
    queue_.front().advance(static_cast<size_t>(sent));
  }
}

bool SocketPeer::has_waiting() {
  const std::lock_guard lock(mutex_);
  return !queue_.empty();
}

bool SocketPeer::is_all_sent() {
  const std::lock_guard lock(mutex_);
  return !is_open_ || (queue_.empty() && unread_.empty());
}

void SocketPeer::drop_unread(uint64_t number) {
  const std::lock_guard lock(mutex_);
  unread_.erase(number);
}

void SocketPeer::close() {
  const std::lock_guard lock(mutex_);
  is_open_ = false;
  queue_.clear();
  unread_.clear();
}

SocketFarArrays::SocketFarArrays(std::shared_ptr<SocketPeer> sender, uint64_t number,
                                 std::span<const uint64_t> addresses,
                                 std::span<const Payload> arrays)
    : sender_(std::move(sender)), number_(number), addresses_(addresses.begin(), addresses.end()) {
  for (const Payload& array : arrays) sizes_.push_back(array.size);
}

SocketFarArrays::~SocketFarArrays() {
  if (sender_) sender_->put(OutgoingFrame::receipt(number_));
}

bool SocketFarArrays::read(size_t array, int64_t offset, std::byte* to, int64_t size) const {
  const std::shared_lock lock(mutex_);
  if (sender_)
    return sender_->connection().memory->read(addresses_[array] + static_cast<uint64_t>(offset), to,
                                              size);
  std::memcpy(to, here_[array].get() + offset, static_cast<size_t>(size));
  return true;
}

void SocketFarArrays::bring_here(const Allocate& allocate) {
  const std::unique_lock lock(mutex_);
  std::vector<Bytes> here;
  for (size_t i = 0; sender_ && i < sizes_.size(); ++i) {
    here.push_back(allocate(std::max<int64_t>(1, sizes_[i])));
    if (!sender_->connection().memory->read(addresses_[i], here.back().get(), sizes_[i])) return;
  }
  if (!sender_) return;
  here_ = std::move(here);
  sender_->put(OutgoingFrame::receipt(number_));
  sender_.reset();
}

}  // namespace hilo
