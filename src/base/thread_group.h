// Threads that may wait for each other, as those of virtual devices do: all of them run, or none.
// Shown through base.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace hilo {

class ThreadGroup {
 public:
  // Calls body(i), which throws nothing, for each i in [0, count) on a thread of its own; where the
  // system does not give so many threads, none is called.
  ThreadGroup(int64_t count, std::function<void(int64_t)> body);
  ~ThreadGroup();  // waits for all
  bool has_started() const { return start_.load() == Start::Now; }

 private:
  enum class Start : uint8_t { Later, Now, Never };
  void decide(Start start);

  std::function<void(int64_t)> body_;
  std::atomic<Start> start_ = Start::Later;
  std::vector<std::thread> threads_;
};

}  // namespace hilo
