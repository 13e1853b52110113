// Front door of `base`: errors, checks, typed ids. Small floats and the thread pool have their own
// headers below this room and are shown through this one.
#pragma once

#include <fmt/core.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <new>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/flush_subnormals.h"
#include "base/machine.h"
#include "base/out_of_memory.h"
#include "base/own_libraries.h"
#include "base/processor.h"
#include "base/small_float.h"
#include "base/small_int.h"
#include "base/thread_group.h"
#include "base/thread_pool.h"

namespace hilo {

// The closed list of other people's mistakes; see errors.def.
enum class ErrorKind : uint8_t {
#define ERROR_KIND(name, text, meaning) name,
#include "base/errors.def"
#undef ERROR_KIND
};
std::string_view text_of(ErrorKind kind);

// Where a mistake stands. Empty strings and zeros mean unknown; line and column count from 1.
struct Place {
  std::string file;
  int64_t line = 0, column = 0;
  std::string computation, instruction, op;
};

struct Error {
  ErrorKind kind = ErrorKind::Syntax;
  std::string message;  // what was found and what was expected, without the place
  Place place;
};
// FILE:LINE:COLUMN: error: MESSAGE [computation, instruction, op]
std::string to_string(const Error& error);

template <class T>
using Result = std::expected<T, Error>;

template <class... Args>
std::unexpected<Error> fail(ErrorKind kind, fmt::format_string<Args...> text, Args&&... args) {
  return std::unexpected(Error{kind, fmt::format(text, std::forward<Args>(args)...), {}});
}

// body(), a Result, or its error where there is too little memory for it.
template <class Body>
auto within_memory(Body&& body) -> std::invoke_result_t<Body> {
  try {
    return std::invoke(std::forward<Body>(body));
  } catch (const std::bad_alloc& error) {
    return typename std::invoke_result_t<Body>::unexpected_type(memory_error(error));
  }
}

// Our own mistake: prints the message and the place in our source, and aborts.
[[noreturn]] void fail_check(std::string_view message, std::source_location where);
inline void check(bool sound, std::string_view message,
                  std::source_location where = std::source_location::current()) {
  if (!sound) [[unlikely]]
    fail_check(message, where);
}

#define HILO_CONCAT_INNER(a, b) a##b
#define HILO_CONCAT(a, b) HILO_CONCAT_INNER(a, b)
// HILO_TRY(auto x, f()): x is f()'s value, or the calling function returns f()'s error.
#define HILO_TRY(declaration, ...) \
  HILO_TRY_AS(HILO_CONCAT(result_, __LINE__), declaration, __VA_ARGS__)
#define HILO_TRY_AS(name, declaration, ...)          \
  auto name = (__VA_ARGS__);                         \
  if (!name) [[unlikely]]                            \
    return std::unexpected(std::move(name).error()); \
  declaration = *std::move(name)
// HILO_DO(f()): the calling function returns f()'s error if there is one.
#define HILO_DO(...)                                 \
  if (auto done = (__VA_ARGS__); !done) [[unlikely]] \
  return std::unexpected(std::move(done).error())

// An index into one of the flat vectors of a Module; the default value means "none".
template <class Tag>
struct Id {
  uint32_t value = UINT32_MAX;
  explicit operator bool() const { return value != UINT32_MAX; }
  auto operator<=>(const Id&) const = default;
};

}  // namespace hilo

template <class Tag>
struct std::hash<hilo::Id<Tag>> {
  size_t operator()(hilo::Id<Tag> id) const { return std::hash<uint32_t>()(id.value); }
};
