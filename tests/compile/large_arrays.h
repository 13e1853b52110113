// Programs over arrays that no cache holds, and what stands in their code.
#pragma once

#include "both.h"

namespace hilo::test {

// Rows of 1024 less their sums.
inline std::string rows_less_sums(int64_t rows) {
  return fmt::format(R"(HloModule m
add {{ a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }}
ENTRY e {{
  x = f32[{0},1024] parameter(0)
  z = f32[] constant(0)
  s = f32[{0}] reduce(x, z), dimensions={{1}}, to_apply=add
  b = f32[{0},1024] broadcast(s), dimensions={{0}}
  ROOT r = f32[{0},1024] subtract(x, b) }}
)",
                     rows);
}

// How often `what` stands in the optimised LLVM IR of a module.
inline int64_t count_in_code(std::string_view module, std::string_view what,
                             std::string_view processor = "native") {
  CompileOptions options;
  options.emit.cpu = processor;
  int64_t out = 0;
  options.emit.see_code = [&](std::string_view ir, std::string_view) {
    for (size_t at = 0; (at = ir.find(what, at)) != ir.npos; ++at) ++out;
  };
  EXPECT_TRUE(compile(*parse(module), cpu_target(), options));
  return out;
}

}  // namespace hilo::test
