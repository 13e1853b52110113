#include "emit/llvm_failure.h"

#include <execinfo.h>
#include <llvm/Support/ErrorHandling.h>

#include <mutex>
#include <string_view>

namespace hilo {
namespace {

void throw_failure(void*, const char* reason, bool) {
  // What the linker says where it gets no memory for code.
  if (std::string_view(reason).contains("allocate")) throw std::bad_alloc();
  throw LlvmFailure(reason);
}

void throw_bad_alloc(void*, const char*, bool) { throw std::bad_alloc(); }

// The system's library opens its unwinder when an exception first passes through it, as through a
// call_once(), and ends the process where there is no memory for that.
void load_unwinder() {
  void* frame = nullptr;
  (void)backtrace(&frame, 1);
}

}  // namespace

void make_llvm_throw() {
  static std::once_flag once;
  std::call_once(once, [] {
    load_unwinder();
    llvm::install_fatal_error_handler(throw_failure);
    llvm::install_bad_alloc_error_handler(throw_bad_alloc);
  });
}

}  // namespace hilo
