// What the environment says of the cache of machine code.
#include <charconv>
#include <cstdlib>

#include "compile/compile.h"

namespace hilo {

Result<int64_t> parse_bytes(const std::string& text) {
  if (text.empty()) return 0;
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const std::string unit(rest, end);
  static constexpr std::pair<std::string_view, double> units[] = {
      {"", 1},         {"B", 1},        {"KB", 1e3},     {"MB", 1e6},
      {"GB", 1e9},     {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30},
      {"TiB", 0x1p40}, {"K", 0x1p10},   {"M", 0x1p20},   {"G", 0x1p30}};
  for (const auto& [name, factor] : units)
    if (error == std::errc() && unit == name && value > 0 && value * factor < 0x1p62)
      return static_cast<int64_t>(value * factor);
  return fail(ErrorKind::Usage, "'{}' is no size in bytes; write it as in 16GiB", text);
}

Result<CacheOptions> cache_of_environment() {
  const auto variable = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string(text ? text : "");
  };
  CacheOptions out;
  out.folder = variable("HILO_CACHE");
  const auto bytes = parse_bytes(variable("HILO_CACHE_SIZE"));
  if (!bytes) return fail(ErrorKind::Usage, "HILO_CACHE_SIZE: {}", bytes.error().message);
  if (*bytes > 0) out.max_bytes = *bytes;
  return out;
}

}  // namespace hilo
