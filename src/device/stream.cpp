#include "device/stream.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

namespace hilo {

struct Stream::State {
  static constexpr size_t max_waiting = 32;

  std::mutex mutex;
  std::condition_variable is_filled, has_room;
  std::deque<std::function<void()>> waiting;
  bool is_ending = false;
  std::thread thread;

  void run() {
    std::unique_lock lock(mutex);
    while (true) {
      is_filled.wait(lock, [&] { return is_ending || !waiting.empty(); });
      if (waiting.empty()) return;
      {
        const std::function<void()> work = std::move(waiting.front());
        waiting.pop_front();
        lock.unlock();
        has_room.notify_one();
        work();
      }  // what it held is let go of without the lock
      lock.lock();
    }
  }

  // Under the lock.
  bool has_thread() {
    if (thread.joinable()) return true;
    try {
      thread = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      return false;
    }
    return true;
  }
};

Stream::Stream() : state_(std::make_unique<State>()) {}

Stream::~Stream() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_ending = true;
  }
  state_->is_filled.notify_all();
  if (state_->thread.joinable()) state_->thread.join();
}

void Stream::add(std::function<void()> work) {
  std::unique_lock lock(state_->mutex);
  if (!state_->has_thread()) {
    lock.unlock();
    work();
    return;
  }
  // A work that adds another must not wait for itself.
  if (std::this_thread::get_id() != state_->thread.get_id())
    state_->has_room.wait(lock, [&] { return state_->waiting.size() < State::max_waiting; });
  state_->waiting.push_back(std::move(work));
  lock.unlock();
  state_->is_filled.notify_one();
}

}  // namespace hilo
