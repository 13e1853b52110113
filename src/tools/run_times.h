// Where the time of `hilo run` goes. Private to `tools`.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <string>

namespace hilo::tools {

// Seconds: reading and checking the module, compiling it, making or reading inputs, the run,
// comparing and saving outputs.
struct RunTimes {
  double read = 0, compile = 0, inputs = 0, run = 0, output = 0;
  double min_run = 0;  // of several, of which `run` is the median

  std::string text() const;                  // a line
  std::string text_of_runs(int runs) const;  // a line
  nlohmann::ordered_json json() const;
};

class Laps {
 public:
  double lap();  // seconds since the last one, or since the beginning

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace hilo::tools
