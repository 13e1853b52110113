#include "kernels/chunks.h"

#include <algorithm>
#include <cmath>

namespace hilo {

int64_t chunks_of(double serial_seconds, int64_t iterations, int64_t threads, const Cores& cores) {
  const auto n = static_cast<double>(threads);
  const double share = serial_seconds / n, handing_over = cores.thread_seconds;
  const bool pays = share + handing_over < serial_seconds || threads == 1;
  if (!(handing_over > 0) || !pays) return 1;
  const double chunks = std::max(1.0, std::ceil(std::sqrt(share / handing_over))) * n;
  return chunks < static_cast<double>(iterations) ? static_cast<int64_t>(chunks)
                                                  : std::max<int64_t>(iterations, 1);
}

}  // namespace hilo
