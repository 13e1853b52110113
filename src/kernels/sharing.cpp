#include "kernels/sharing.h"

#include <algorithm>
#include <cmath>

namespace hilo {

PiecesOfWork work_of_multiplications(int64_t count, int64_t multiplications, const Cores& cores) {
  return {count,
          static_cast<double>(multiplications) / cores.multiply_adds.f32 + cores.routine_seconds};
}

bool are_shared(const PiecesOfWork& work, int64_t threads, const Cores& cores) {
  const auto count = static_cast<double>(work.count), n = static_cast<double>(threads);
  const auto hand_overs = static_cast<double>(work.hand_overs);
  const double shared = count * (work.seconds / n + hand_overs * cores.thread_seconds);
  const double apart = std::ceil(count / n) * work.seconds + cores.thread_seconds;
  return shared < std::min(apart, count * work.seconds);
}

int64_t grain_of(const PiecesOfWork& work, int64_t threads, const Cores& cores) {
  const double seconds = static_cast<double>(work.count) * work.seconds;
  const int64_t chunks = chunks_of(seconds, work.count, threads, cores);
  return std::max<int64_t>(1, (work.count + chunks - 1) / chunks);
}

}  // namespace hilo
