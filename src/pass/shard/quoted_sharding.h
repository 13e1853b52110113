// Shardings as messages show them: those of a program may be megabytes.
#pragma once

#include <string>

namespace hilo {

// The whole text of up to `most` bytes, else its first ones and "...", cut between characters.
inline std::string quoted_sharding(std::string text, size_t most = 200) {
  if (text.size() <= most) return text;
  size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // UTF-8
  text.resize(end);
  return text + "...";
}

}  // namespace hilo
