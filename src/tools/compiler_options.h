// What `run`, `bench` and `compile` let one ask of the compiler. Private to `tools`.
#pragma once

#include "compile/compile.h"
#include "tools/command.h"

namespace hilo::tools {

inline constexpr int max_threads = 4096;

struct CompilerOptions {
  std::string target_cpu = "native", dump_to;
  bool time_passes = false;
};
void add_compiler_options(Arguments& arguments, CompilerOptions& options);
// For the end of --help.
inline constexpr const char* environment_help =
    "Environment:\n"
    "  HILO_CACHE=DIR        keeps machine code there for the next time\n"
    "  HILO_CACHE_SIZE=1GiB  the most that it takes\n"
    "  HILO_THREADS=N        threads where --threads is not given\n";

// With the cache that HILO_CACHE and HILO_CACHE_SIZE name. Usage for a size that is none; Io where
// the folder for dumps cannot be made.
Result<CompileOptions> compile_options(const CompilerOptions& options, Session& session);

// `given`, or where that is 0 what HILO_THREADS says, or 0: all usable cores. Usage for what is no
// number of threads.
Result<int> thread_count(int given);

// To standard error: what --time-passes asks for, and what is wrong with the cache.
void show_compilation(const CompilerOptions& options, const CompileReport& report,
                      Session& session);

}  // namespace hilo::tools
