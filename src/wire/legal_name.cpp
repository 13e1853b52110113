#include "wire/legal_name.h"

namespace hilo {

std::string legal_name(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    const bool legal = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '_' || c == '.' || c == '-';
    if (!legal) c = '_';
  }
  if (!out.empty() && ((out[0] >= '0' && out[0] <= '9') || out[0] == '.' || out[0] == '-'))
    out.insert(0, 1, '_');
  return out;
}

}  // namespace hilo
