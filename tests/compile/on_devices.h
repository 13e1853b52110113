// Included before tests of the evaluator, so that these judge compiled modules.
#pragma once

#include "compile/compile.h"

namespace hilo::test {

inline Result<Outputs> compile_and_run(const Module& module, Inputs inputs,
                                       const EvalOptions& options) {
  CompileOptions compiling;
  compiling.threads = options.threads;
  compiling.is_verified = options.is_verified;
  compiling.eval = options;
  HILO_TRY(const Executable executable, compile(module, cpu_target(), compiling));
  return executable.run_devices(std::move(inputs), {.interrupt = options.interrupt});
}

}  // namespace hilo::test

#define HILO_TEST_EVALUATE ::hilo::test::compile_and_run
