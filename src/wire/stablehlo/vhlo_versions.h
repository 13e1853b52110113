// Releases of StableHLO, and what VHLO had in each.
#pragma once

#include <array>

#include "shape/shape.h"
#include "wire/stablehlo/vhlo_ops.h"

namespace hilo::mlir {

struct Release {
  int64_t major = 1, minor = 17, patch = 0;  // the newest that jaxlib 0.10.2 reads
  auto operator<=>(const Release&) const = default;
};
inline constexpr Release oldest_written{1, 0, 0}, newest_written{1, 20, 0};

std::string to_string(const Release& release);  // "1.17.0"
// "1.17.0", "1.17"; empty: the default. Usage where it is none that can be written.
Result<Release> release_of(std::string_view text);

// The version of an op in a release; 0: it came later.
int version_at(const VhloOp& op, const Release& release);
Release first_release(const VhloOp& op);
// The release that brought the op's version.
Release release_of(const VhloOp& op, int version);
Release first_release(ElementType type);

}  // namespace hilo::mlir
