// Errors of the C API, and how a function of it answers. Private to `pjrt`.
#pragma once

#include <new>
#include <span>

#include "base/base.h"
#include "pjrt/pjrt_abi.h"

struct PJRT_Error {
  const PJRT_Error_FunctionTable* vtable;
  PJRT_Error_Code code;
  std::string message;
};

namespace hilo::pjrt {

PJRT_Error* make_error(PJRT_Error_Code code, std::string message);
PJRT_Error* make_error(const Error& error);
PJRT_Error* out_of_memory(const std::bad_alloc& error);
Error error_of(PJRT_Error_Code code, std::string message);

// Null, or what the body's Result<void> says. No exception passes.
template <class Body>
PJRT_Error* answer(Body&& body) {
  try {
    Result<void> done = body();
    return done ? nullptr : make_error(done.error());
  } catch (const std::bad_alloc& error) {
    return out_of_memory(error);
  }
}

// Whether the writer of a struct knew the field: older clients give shorter ones.
template <class Args, class Field>
bool knows(const Args* args, Field Args::* field) {
  const auto* at = reinterpret_cast<const char*>(&(args->*field));
  const auto end = static_cast<size_t>(at - reinterpret_cast<const char*>(args)) + sizeof(Field);
  return args->struct_size >= end;
}

// The fields of a struct that we write end here.
#define HILO_STRUCT_SIZE(type, last) (offsetof(type, last) + sizeof(type::last))

inline std::string_view text(const char* start, size_t size) {
  return start ? std::string_view(start, size) : std::string_view();
}

// A list that a client gives; Input where it has elements and is at null, or has more than memory.
template <class Element>
Result<std::span<Element>> list_of(Element* start, size_t count, std::string_view what) {
  if (count > 0 && !start)
    return fail(ErrorKind::Input, "{}: the pointer to {} elements is null", what, count);
  if (count > PTRDIFF_MAX / sizeof(Element))
    return fail(ErrorKind::Input, "{}: no list has {} elements", what, count);
  return std::span<Element>(start, count);
}

}  // namespace hilo::pjrt
