#include "device/error_text.h"

#include <cstring>

namespace hilo {
namespace {

constexpr int64_t error_kinds = 0
#define ERROR_KIND(name, text, meaning) +1
#include "base/errors.def"
#undef ERROR_KIND
    ;

void put_text(std::string& to, std::string_view text) {
  put_number(to, static_cast<int64_t>(text.size()));
  to += text;
}

std::string take_text(std::string_view& from) {
  const auto size = static_cast<uint64_t>(take_number(from));
  const std::string_view out = from.substr(0, size);
  from.remove_prefix(out.size());
  return std::string(out);
}

}  // namespace

void put_number(std::string& to, int64_t value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

int64_t take_number(std::string_view& from) {
  int64_t out = 0;
  if (from.size() < sizeof(out)) return from = {}, 0;
  std::memcpy(&out, from.data(), sizeof(out));
  from.remove_prefix(sizeof(out));
  return out;
}

std::string bytes_of(const Error& error) {
  std::string out;
  put_number(out, static_cast<int64_t>(error.kind));
  put_number(out, error.place.line);
  put_number(out, error.place.column);
  for (const std::string* text : {&error.message, &error.place.file, &error.place.computation,
                                  &error.place.instruction, &error.place.op})
    put_text(out, *text);
  return out;
}

Error error_of(std::string_view bytes) {
  Error out;
  const int64_t kind = take_number(bytes);
  out.kind = kind >= 0 && kind < error_kinds ? static_cast<ErrorKind>(kind) : ErrorKind::Io;
  out.place.line = take_number(bytes);
  out.place.column = take_number(bytes);
  for (std::string* text : {&out.message, &out.place.file, &out.place.computation,
                            &out.place.instruction, &out.place.op})
    *text = take_text(bytes);
  return out;
}

}  // namespace hilo
