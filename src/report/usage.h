// Private to report: how many bytes pieces of memory cover at each moment.
#pragma once

#include <span>

#include "plan/plan.h"

namespace hilo {

// Adds to the changes from moment to moment what the pieces of one buffer, which may overlap, cover
// together, `sign` times. `changes` has one element more than there are moments.
void add_usage(std::vector<int64_t>& changes, std::span<const Piece> pieces, int64_t sign = 1);
// The bytes at each moment.
std::vector<int64_t> usage_from(std::vector<int64_t> changes);

}  // namespace hilo
