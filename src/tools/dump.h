// `--dump-to`: each stage of a compilation as a file. Private to `tools`.
#pragma once

#include "compile/compile.h"
#include "tools/command.h"

namespace hilo::tools {

// Makes the folder; compiling with `options` then writes into it, in order,
// 0001.before_optimizations.txt, 0002.after_PASS.txt, ..., NNNN.plan.txt, NNNN.before.ll, and of
// each LLVM module NNNN.after.ll and NNNN.code.s. A file that cannot be written is reported and
// sets the session's status.
Result<void> dump_stages(const std::string& folder, CompileOptions& options, Session& session);

}  // namespace hilo::tools
