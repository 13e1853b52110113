// Tables of element positions: how gathers, scatters, products and convolutions walk arrays.
// Private to `eval`.
#pragma once

#include "eval/eval.h"

namespace hilo {

// Dimensions of [0, rank) that are not in `taken`, ascending.
Dims other_dims(int64_t rank, std::span<const int64_t> taken);

// Maximal pieces where two tables of positions both go on by one.
struct CopyRun {
  int64_t from, to, count;
};
std::vector<CopyRun> copy_runs(std::span<const int64_t> from, std::span<const int64_t> to);

}  // namespace hilo
