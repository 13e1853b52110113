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

// Numbers as those of a computation: multipliers take less time for such of few bits.
Literal numbers(const Shape& shape) {
  Literal out = Literal::uninitialized(shape);
  float next = 0;
  for (float& number : out.mutable_data<float>()) {
    next = next < 1 ? next + 0x1.9e377ap-1F : next - 1;  // a part of 1 that no small number divides
    number = next - 0.5F;
  }
  return out;
}

// The least seconds of five runs.
Result<double> seconds_of(std::string_view text, int threads) {
  HILO_TRY(Module module, parse(text));
  const Shape shape = module.shape(module[module.entry].parameters[0]);
  HILO_TRY(const Executable executable,
           compile(std::move(module), cpu_target(), {.threads = threads}));
  const Literal argument = numbers(shape);
  double least = 0;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    HILO_DO(executable.run({argument}));
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
