// More memory than the system gives. It is thrown where memory is taken, as the standard library
// throws std::bad_alloc, and becomes an Error of kind Memory at the front doors that take large
// memory: compile(), evaluate(), Executable::run() and the readers. Shown through base.h.
#pragma once

#include <cstdint>
#include <exception>
#include <new>

namespace hilo {

struct Error;

class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(int64_t bytes) : bytes_(bytes) {}
  const char* what() const noexcept override { return "out of memory"; }
  int64_t bytes() const { return bytes_; }  // that were asked for

 private:
  int64_t bytes_;
};

// Says how many bytes were asked for, where that is known, and whether the process is limited.
// Takes no memory where there is none.
Error memory_error(const std::bad_alloc& error);
// As many threads as asked for could not be started; of kind Memory, for their stacks are memory.
Error thread_error(int64_t threads);

}  // namespace hilo
