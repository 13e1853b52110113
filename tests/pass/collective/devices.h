// The evaluator on virtual devices as judge: a partitioned module before and after passes.
#pragma once

#include <fmt/ranges.h>

#include "../judge.h"

namespace hilo::test {

// Device d's arguments are drawn from the seed and its number.
inline Result<Outputs> run_on_devices(const Module& module, int64_t devices, uint64_t seed) {
  Inputs inputs;
  for (int64_t device = 0; device < devices; ++device)
    inputs.devices.push_back(
        random_arguments(module, seed * 1000 + static_cast<uint64_t>(device), true));
  EvalOptions options;
  options.threads = 1;
  options.devices = devices;
  options.partitioning = Partitioning::Partitioned;
  return evaluate(module, std::move(inputs), options);
}

inline std::string difference_on_devices(const Module& before, const Module& after, int64_t devices,
                                         Keeps keeps = Keeps::Reals, uint64_t seed = 1) {
  for (const Error& error : verify(after)) return "not sound: " + to_string(error);
  const auto a = run_on_devices(before, devices, seed), b = run_on_devices(after, devices, seed);
  if (!a) return "before: " + to_string(a.error());
  if (!b) return "after: " + to_string(b.error());
  for (size_t device = 0; device < a->devices.size(); ++device)
    if (std::string found = disagreement(a->devices[device], b->devices[device], keeps);
        !found.empty())
      return fmt::format("device {}: {}", device, found);
  return "";
}

// What the device that sends most sends in one run.
inline double sent_bytes(const Module& module) {
  const std::vector<Cost> costs = count_cost(module);
  double out = 0;
  for (ComputationId id : module.post_order())
    for (InstructionId one : module[id].instructions)
      if (const auto bytes = collective_bytes(module, one); bytes && !module[one].removed)
        out += bytes->sent_bytes * costs[one.value].runs;
  return out;
}

// A module of one computation over so many devices; lines of its instructions, the last the root.
inline std::string module_text(int64_t devices, const std::string& lines,
                               const std::string& before = "") {
  return fmt::format(
      "HloModule m, num_partitions={}\n"
      "add {{\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT s = f32[] add(x, y)\n}}\n"
      "addi {{\n  x = s32[] parameter(0)\n  y = s32[] parameter(1)\n  ROOT s = s32[] add(x, y)\n"
      "}}\n"
      "largest {{\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n"
      "  ROOT s = f32[] maximum(x, y)\n}}\n{}\nENTRY main {{\n{}}}\n",
      devices, before, lines);
}

struct Rewritten {
  Module before, after;
  double bytes_before = 0, bytes_after = 0;
};
// Runs the passes; the values must stay.
inline Rewritten rewritten(const std::string& text, std::string_view passes, int64_t devices,
                           const PipelineOptions& options = {}) {
  Rewritten out{parsed(text), {}};
  out.after = after_passes(out.before, passes, options);
  EXPECT_EQ(difference_on_devices(out.before, out.after, devices, options.pass.rewrite.keeps), "")
      << print(out.after);
  out.bytes_before = sent_bytes(out.before);
  out.bytes_after = sent_bytes(out.after);
  return out;
}

}  // namespace hilo::test
