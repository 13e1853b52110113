// Any text: what parses and verifies runs on zeros, and ends in outputs or an error.
#include <chrono>
#include <cstdint>

#include "eval/eval.h"
#include "text/text.h"
#include "verify/verify.h"

namespace {

constexpr int64_t megabyte = 1 << 20;

hilo::Inputs zeros(const hilo::Module& module, int64_t devices) {
  std::vector<hilo::Literal> parameters;
  for (hilo::InstructionId parameter : module[module.entry].parameters)
    parameters.push_back(hilo::Literal::zeros(module.shape(parameter)));
  hilo::Inputs out;
  out.devices.assign(static_cast<size_t>(devices), parameters);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hilo;
  using Clock = std::chrono::steady_clock;
  const auto module =
      parse({reinterpret_cast<const char*>(data), size}, {.max_literal_bytes = megabyte});
  if (!module || !verify(*module, {}).empty()) return 0;
  std::atomic<bool> stop = false;
  EvalOptions options;
  options.threads = 1;
  options.max_steps = 50;
  options.memory_limit = megabyte;
  options.interrupt = &stop;
  const Clock::time_point start = Clock::now();
  options.observer = [&](const ValueEvent&) {
    if (Clock::now() - start > std::chrono::seconds(1)) stop = true;
  };
  const int64_t devices = device_count(*module, options);
  if (devices > 4 || estimate_memory(*module, options) > megabyte) return 0;
  (void)evaluate(*module, zeros(*module, devices), options);
  return 0;
}
