#include "device/mailbox.h"

#include <algorithm>

namespace hilo {

void Mailbox::put(int from, const MessageTag& tag, Message message) {
  const std::lock_guard lock(mutex_);
  messages_[{from, tag}].push_back(std::move(message));
  changed_.notify_all();
}

std::optional<Message> Mailbox::take(int from, const MessageTag& tag,
                                     const std::function<bool()>& gives_up) {
  constexpr auto between_looks = std::chrono::milliseconds(100);
  std::unique_lock lock(mutex_);
  const auto waiter = waited_for_.emplace(from, tag);
  while (true) {
    if (const auto found = messages_.find({from, tag}); found != messages_.end()) {
      Message out = std::move(found->second.front());
      found->second.pop_front();
      if (found->second.empty()) messages_.erase(found);
      waited_for_.erase(waiter);
      return out;
    }
    lock.unlock();
    const bool ends = gives_up();
    lock.lock();
    if (messages_.contains({from, tag})) continue;
    if (ends) {
      waited_for_.erase(waiter);
      return std::nullopt;
    }
    changed_.wait_for(lock, between_looks);
  }
}

int64_t Mailbox::idle_waiters() {
  const std::lock_guard lock(mutex_);
  return std::ranges::count_if(waited_for_,
                               [&](const Key& key) { return !messages_.contains(key); });
}

void Mailbox::wake() {
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

}  // namespace hilo
