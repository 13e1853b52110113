#include "device/event.h"

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace hilo {

struct Event::State {
  std::mutex mutex;
  std::condition_variable happened;
  std::atomic<bool> is_done = false;
  std::optional<Error> error;  // written before is_done
  std::vector<std::function<void(const Error*)>> bodies;
};

Event Event::pending() {
  Event out;
  out.state_ = std::make_shared<State>();
  return out;
}

Event Event::failed(Error error) {
  Event out = pending();
  out.finish(std::move(error));
  return out;
}

bool Event::is_done() const { return !state_ || state_->is_done.load(std::memory_order_acquire); }

const Error* Event::error() const {
  return state_ && is_done() && state_->error ? &*state_->error : nullptr;
}

void Event::wait() const {
  if (is_done()) return;
  std::unique_lock lock(state_->mutex);
  state_->happened.wait(lock, [&] { return is_done(); });
}

void Event::when_done(std::function<void(const Error*)> body) const {
  if (!is_done()) {
    const std::lock_guard lock(state_->mutex);
    if (!is_done()) {
      state_->bodies.push_back(std::move(body));
      return;
    }
  }
  body(error());
}

void Event::finish(std::optional<Error> error) const {
  check(state_ && !is_done(), "an event happens once");
  const std::shared_ptr<State> state = state_;  // a body may let go of the last handle
  std::vector<std::function<void(const Error*)>> bodies;
  {
    const std::lock_guard lock(state->mutex);
    state->error = std::move(error);
    state->is_done.store(true, std::memory_order_release);
    bodies.swap(state->bodies);
    state->happened.notify_all();
  }
  for (const auto& body : bodies) body(state->error ? &*state->error : nullptr);
}

}  // namespace hilo
