// What this machine can do at most, measured. Private to `tools`.
#pragma once

#include "base/base.h"

namespace hilo::tools {

struct Roofline {
  double bytes_per_second = 0;  // of a copy that does not fit in a cache: read plus written
  double flops_per_second = 0;  // of a product of f32 matrices; a product and its sum are two
};
// Runs a copy and a product, compiled, for about a tenth of a second. threads: 0: usable_cores().
Result<Roofline> measure_roofline(int threads);

}  // namespace hilo::tools
