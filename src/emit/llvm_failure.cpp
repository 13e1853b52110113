#include "emit/llvm_failure.h"

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

}  // namespace

void make_llvm_throw() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::install_fatal_error_handler(throw_failure);
    llvm::install_bad_alloc_error_handler(throw_bad_alloc);
  });
}

}  // namespace hilo
