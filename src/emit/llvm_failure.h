// What LLVM does where it cannot go on, made errors: it would end the process. Private to `emit`.
#pragma once

#include <exception>
#include <memory>
#include <string>

#include "base/base.h"

namespace hilo {

// Has LLVM throw where it would end the process. This LLVM is this library's own copy, so that
// nobody else's handlers are touched.
void make_llvm_throw();

// LLVM's reason, from make_llvm_throw().
class LlvmFailure : public std::exception {
 public:
  explicit LlvmFailure(std::string reason) : reason_(std::move(reason)) {}
  const char* what() const noexcept override { return reason_.c_str(); }

 private:
  std::string reason_;
};

// Objects of LLVM's, which is compiled without exceptions: one that passes through it leaves them
// half changed, so that they are not destroyed then but lost.
template <class T>
class LostWhereThrown {
 public:
  template <class... Arguments>
  explicit LostWhereThrown(Arguments&&... arguments)
      : object_(std::make_unique<T>(std::forward<Arguments>(arguments)...)) {}
  ~LostWhereThrown() {
    if (std::uncaught_exceptions() > before_) (void)object_.release();
  }
  LostWhereThrown(const LostWhereThrown&) = delete;

  T& operator*() const { return *object_; }
  T* operator->() const { return object_.get(); }

 private:
  int before_ = std::uncaught_exceptions();
  std::unique_ptr<T> object_;
};

inline std::unexpected<Error> llvm_error(std::string_view reason) {
  return fail(ErrorKind::Unsupported, "LLVM: {}", reason);
}

// body(), a Result, or the error for what LLVM or the standard library has thrown.
template <class Body>
auto within_llvm(Body&& body) -> std::invoke_result_t<Body> {
  try {
    return within_memory(std::forward<Body>(body));
  } catch (const LlvmFailure& failure) {
    return llvm_error(failure.what());
  }
}

}  // namespace hilo
