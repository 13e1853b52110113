// Something that happens once, well or with an error. Shown through device.h.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/base.h"

namespace hilo {

// A handle: copies mean the same event. Callable from several threads.
class Event {
 public:
  Event() = default;  // has happened, and well; takes no memory
  static Event pending();
  static Event failed(Error error);

  bool is_done() const;
  // Why it failed; null where it went well or has not happened.
  const Error* error() const;
  void wait() const;
  // Called once: now where it is done, else on the thread that finishes it. No lock is held.
  void when_done(std::function<void(const Error* error)> body) const;
  // Once, of one that is pending.
  void finish(std::optional<Error> error = {}) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace hilo
