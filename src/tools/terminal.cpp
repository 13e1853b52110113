#include "tools/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace hilo::tools {

size_t terminal_width() {
  if (!isatty(STDOUT_FILENO)) return 0;
  size_t columns = 0;
  if (const char* text = std::getenv("COLUMNS"))
    std::from_chars(text, text + std::strlen(text), columns);
  winsize size{};
  if (columns == 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
  return columns;
}

std::string fit_to(std::string_view text, size_t width) {
  constexpr std::string_view cut = "...";
  if (width == 0 || text.size() <= width) return std::string(text);
  if (width <= cut.size()) return std::string(text.substr(text.size() - width));
  return std::string(cut) + std::string(text.substr(text.size() - width + cut.size()));
}

std::string wrapped(std::string_view text, size_t indent, size_t width) {
  constexpr size_t narrowest = 20;  // of a column that is worth its indent
  if (width < indent + narrowest) return std::string(text);
  std::string out;
  while (text.size() > width - indent) {
    size_t end = text.rfind(' ', width - indent);
    if (end == std::string_view::npos || end == 0) end = width - indent;
    out += std::string(text.substr(0, end)) + "\n" + std::string(indent, ' ');
    text.remove_prefix(std::min(text.size(), text[end] == ' ' ? end + 1 : end));
  }
  return out + std::string(text);
}

}  // namespace hilo::tools
