// The rows of loop_limits.def, as LoopLimits::name. Shown through pass.h.
#pragma once

#include <cstdint>

namespace hilo {

struct LoopLimits {
#define LIMIT(name, value) static constexpr int64_t name = value;
#include "pass/loop_limits.def"
#undef LIMIT
};

}  // namespace hilo
