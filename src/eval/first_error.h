// Private to `eval`.
#pragma once

#include <mutex>

#include "base/base.h"

namespace hilo {

// An error of a parallel loop; of several any one, since they are rare and all are true.
class FirstError {
 public:
  void note(Result<void> done) {
    if (done) return;
    std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(done).error();
  }
  Result<void> result() const {
    if (error_) return std::unexpected(*error_);
    return {};
  }

 private:
  std::mutex mutex_;
  std::optional<Error> error_;
};

}  // namespace hilo
