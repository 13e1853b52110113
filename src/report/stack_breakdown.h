// Private to report. Bytes by where in the program they come from, as a tree: XLA's
// FormatStackTraceBreakdown (xla/hlo/utils/hlo_stack_trace.cc).
#pragma once

#include "report/report.h"

namespace hilo {

// "  Stack trace breakdown for peak usage: ..." and the tree of the values, each with its bytes. A
// path leads from the entry through callers to the value, by op_name or else by name; a value in a
// computation with several callers is shared out among their paths.
std::string stack_breakdown(const Module& module, const Aliases& aliases,
                            std::span<const std::pair<ValueId, int64_t>> values);

}  // namespace hilo
