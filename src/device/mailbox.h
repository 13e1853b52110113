// Messages that came and were not taken yet. Private to `device`.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "device/transport.h"

namespace hilo {

class Mailbox {
 public:
  void put(int from, const MessageTag& tag, Message message);
  // The oldest one; waits for it until `gives_up`, which is asked whenever wake() was called, and
  // ten times a second.
  std::optional<Message> take(int from, const MessageTag& tag,
                              const std::function<bool()>& gives_up);
  void wake();
  // Threads in take() for which nothing is there.
  int64_t idle_waiters();

 private:
  using Key = std::pair<int, MessageTag>;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, std::deque<Message>> messages_;
  std::multiset<Key> waited_for_;
};

}  // namespace hilo
