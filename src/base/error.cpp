#include <cstdio>
#include <cstdlib>

#include "base/base.h"

namespace hilo {

std::string_view text_of(ErrorKind kind) {
  static constexpr std::string_view texts[] = {
#define ERROR_KIND(name, text, meaning) text,
#include "base/errors.def"
#undef ERROR_KIND
  };
  return texts[static_cast<size_t>(kind)];
}

std::string to_string(const Error& error) {
  const Place& place = error.place;
  std::string out;
  if (!place.file.empty()) out += place.file + ":";
  if (place.line > 0) out += fmt::format("{}:{}:", place.line, place.column);
  if (!out.empty()) out += " ";
  out += "error: " + error.message;
  std::string at;
  if (!place.instruction.empty()) at += place.instruction;
  if (!place.op.empty()) at += fmt::format("{}({})", at.empty() ? "" : " ", place.op);
  if (!place.computation.empty())
    at += fmt::format("{}in {}", at.empty() ? "" : " ", place.computation);
  if (!at.empty()) out += " [" + at + "]";
  return out;
}

void fail_check(std::string_view message, std::source_location where) {
  std::fflush(stdout);
  fmt::print(stderr, "{}:{}: internal error: {}\n", where.file_name(), where.line(), message);
  std::abort();
}

}  // namespace hilo
