#include "tools/roofline.h"

#include <chrono>

#include "compile/compile.h"
#include "text/text.h"

namespace hilo::tools {
namespace {

constexpr std::string_view copy_module = R"(HloModule copy
ENTRY main {
  x = f32[33554432] parameter(0)
  ROOT y = f32[33554432] negate(x)
})";
constexpr double copy_bytes = 2.0 * 4 * 33554432;

constexpr std::string_view product_module = R"(HloModule product
ENTRY main {
  x = f32[1024,1024] parameter(0)
  ROOT y = f32[1024,1024] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})";
constexpr double product_flops = 2.0 * 1024 * 1024 * 1024;

// The least seconds of five runs on zeros.
Result<double> seconds_of(std::string_view text, int threads) {
  HILO_TRY(Module module, parse(text));
  const Shape shape = module.shape(module[module.entry].parameters[0]);
  HILO_TRY(const Executable executable,
           compile(std::move(module), cpu_target(), {.threads = threads}));
  const Literal zeros = Literal::zeros(shape);
  double least = 0;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    HILO_DO(executable.run({zeros}));
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    least = i == 0 ? taken.count() : std::min(least, taken.count());
  }
  return least;
}

}  // namespace

Result<Roofline> measure_roofline(int threads) {
  HILO_TRY(const double copy, seconds_of(copy_module, threads));
  HILO_TRY(const double product, seconds_of(product_module, threads));
  return Roofline{copy_bytes / copy, product_flops / product};
}

}  // namespace hilo::tools
