#include "tools/run_times.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

namespace hilo::tools {

std::string RunTimes::text() const {
  return fmt::format(
      "read {:.3f} s, compiled {:.3f} s, inputs {:.3f} s, run {:.3f} s, outputs {:.3f} s\n", read,
      compile, inputs, run, output);
}

std::string RunTimes::text_of_runs(int runs) const {
  if (runs == 1) return fmt::format("1 run after one to warm up: {:.3f} ms\n", 1e3 * run);
  return fmt::format("{} runs after one to warm up: median {:.3f} ms, least {:.3f} ms\n", runs,
                     1e3 * run, 1e3 * min_run);
}

nlohmann::ordered_json RunTimes::json() const {
  return {{"read_s", read},
          {"compile_s", compile},
          {"inputs_s", inputs},
          {"run_s", run},
          {"output_s", output}};
}

double Laps::lap() {
  const auto before = std::exchange(last_, std::chrono::steady_clock::now());
  return std::chrono::duration<double>(last_ - before).count();
}

}  // namespace hilo::tools
