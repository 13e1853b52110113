// Work of a device that its user does not wait for. Shown through device.h.
#pragma once

#include <functional>
#include <memory>

namespace hilo {

// Does one work after another, in the order they are given, on a thread of its own, which the first
// one starts. Callable from several threads.
class Stream {
 public:
  Stream();
  ~Stream();  // when all is done
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // The work throws nothing. Waits while too many others wait: each holds memory. Where the system
  // gives no thread the caller does it.
  void add(std::function<void()> work);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hilo
