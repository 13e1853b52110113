// Threads for data-parallel loops. Work is cut into tiles that do not depend on how many threads
// there are, so that results have the same bits for any count.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace hilo {

class ThreadPool {
 public:
  // threads - 1 workers, or as many as the system gives; the caller of run() is the last one.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  int threads() const;

  // Calls body(tile) once for each tile in [0, tiles), on any thread, in any order; returns when
  // all are done. Callable from several threads at once and from inside a body (then it runs
  // inline). What a body throws is thrown here, when all others are done.
  void run(int64_t tiles, const std::function<void(int64_t tile)>& body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hilo
