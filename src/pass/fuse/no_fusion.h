// Why a producer stays outside the loop of its consumer: the reasons of no_fusion.def. Private to
// `pass`.
#pragma once

#include "pass/fuse/fusion_decision.h"

namespace hilo {

enum class NoFusion : uint8_t {
#define REASON(name, text) name,
#include "pass/fuse/no_fusion.def"
#undef REASON
};
std::span<const NoFusion> all_no_fusions();

}  // namespace hilo
