#include "base/thread_group.h"

#include <system_error>

namespace hilo {

ThreadGroup::ThreadGroup(int64_t count, std::function<void(int64_t)> body)
    : body_(std::move(body)) {
  threads_.reserve(static_cast<size_t>(count));
  try {
    for (int64_t i = 0; i < count; ++i)
      threads_.emplace_back([this, i] {
        start_.wait(Start::Later);
        if (start_.load() == Start::Now) body_(i);
      });
    decide(Start::Now);
  } catch (const std::system_error&) {
    decide(Start::Never);
  } catch (const std::bad_alloc&) {
    decide(Start::Never);
  }
}

ThreadGroup::~ThreadGroup() {
  for (std::thread& thread : threads_) thread.join();
}

void ThreadGroup::decide(Start start) {
  start_ = start;
  start_.notify_all();
}

}  // namespace hilo
