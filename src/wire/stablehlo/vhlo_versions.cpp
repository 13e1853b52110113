#include "wire/stablehlo/vhlo_versions.h"

#include <charconv>

namespace hilo::mlir {
namespace {

struct Since {
  std::string_view op;
  int version;
  Release release;
};
constexpr Since changes[] = {
#define SINCE(op, version, major, minor, patch) {#op, version, {major, minor, patch}},
#define TYPE_SINCE(type, major, minor, patch)
#include "wire/stablehlo/vhlo_versions.def"
#undef SINCE
#undef TYPE_SINCE
};

struct TypeSince {
  ElementType type;
  Release release;
};
constexpr TypeSince types[] = {
#define SINCE(op, version, major, minor, patch)
#define TYPE_SINCE(type, major, minor, patch) {ElementType::type, {major, minor, patch}},
#include "wire/stablehlo/vhlo_versions.def"
#undef SINCE
#undef TYPE_SINCE
};

}  // namespace

std::string to_string(const Release& release) {
  return fmt::format("{}.{}.{}", release.major, release.minor, release.patch);
}

Result<Release> release_of(std::string_view text) {
  if (text.empty()) return Release();
  int64_t numbers[3] = {};
  size_t count = 0;
  const char *at = text.data(), *end = at + text.size();
  while (count < std::size(numbers)) {
    const auto [stop, error] = std::from_chars(at, end, numbers[count]);
    if (error != std::errc()) break;
    ++count;
    at = stop;
    if (at == end || *at != '.') break;
    ++at;
  }
  const Release out{numbers[0], numbers[1], numbers[2]};
  if (at != end || count < 2)
    return fail(ErrorKind::Usage, "'{}' is no version of StableHLO; expected one as 1.17.0", text);
  if (out < oldest_written || out > newest_written)
    return fail(ErrorKind::Usage, "StableHLO {} is not written; {} to {} are", text,
                to_string(oldest_written), to_string(newest_written));
  return out;
}

Release release_of(const VhloOp& op, int version) {
  for (const Since& change : changes)
    if (change.op == op.name && change.version == version) return change.release;
  return oldest_written;
}

int version_at(const VhloOp& op, const Release& release) {
  int version = op.newest;
  while (version > 0 && release_of(op, version) > release) --version;
  return version;
}

Release first_release(const VhloOp& op) { return release_of(op, 1); }

Release first_release(ElementType type) {
  for (const TypeSince& one : types)
    if (one.type == type) return one.release;
  return oldest_written;
}

}  // namespace hilo::mlir
