#include "tools/run_of_rank.h"

#include <fmt/ranges.h>

#include "text/text.h"
#include "tools/interrupts.h"

namespace hilo::tools {
namespace {

// What changes values, or what there is to run.
std::string values_of_options(const RunOptions& options) {
  return fmt::format(
      "--device={} --float={} --matmul-precision={}{}{} --devices={} --max-steps={} --seed={} "
      "--runs={} --custom-call={} --input={}",
      options.device, options.float_type, options.matmul_precision,
      options.partitioned ? " --partitioned" : "", options.unpartitioned ? " --unpartitioned" : "",
      options.devices, options.max_steps, options.inputs.seed, options.runs,
      fmt::join(options.custom_calls, ","), fmt::join(options.inputs.specs, ","));
}

// The bytes of the leaf that has this number among those of all parameters.
std::string fingerprint_of_leaf(std::span<const Literal> parameters, int64_t number) {
  std::string out;
  for (const Literal& parameter : parameters)
    for_each_leaf(parameter, [&](const Literal& leaf) {
      if (number-- == 0 && leaf.shape().is_array()) out = fingerprint(leaf.raw());
    });
  return out;
}

std::string text_of(Sharding sharding) {
  sharding.metadata.clear();
  return print(sharding);
}

// Of each parameter that several devices hold: what each device of this process was given.
Result<void> add_copies(std::vector<SharedFact>& facts, const Module& module, const Inputs& inputs,
                        const EvalOptions& eval) {
  const bool is_whole = find_partitioning(module, eval) == Partitioning::Unpartitioned;
  HILO_TRY(const std::vector<int64_t> local, local_devices(module, eval));
  const std::vector<ParameterLeaf> leaves = parameter_leaves(module);
  for (size_t i = 0; i < leaves.size(); ++i) {
    const auto number = static_cast<int64_t>(i);
    for (size_t at = 0; is_whole && at < local.size(); ++at)  // several ranks may run one program
      facts.push_back({fmt::format("value of parameter {} ({}) on device {}", leaves[i].parameter,
                                   leaves[i].name, local[at]),
                       fingerprint_of_leaf(inputs.devices[at], number)});
    if (is_whole) continue;
    const Dims first = first_holders(module, leaves[i], device_count(module, eval));
    std::vector<int64_t> holders(first.size());
    for (const int64_t device : first) ++holders[device];
    for (size_t at = 0; at < local.size(); ++at)
      if (const int64_t holder = first[local[at]]; holders[holder] > 1)
        facts.push_back(
            {fmt::format("value of parameter {} ({}), which {} makes the same as on "
                         "device {},",
                         leaves[i].parameter, leaves[i].name, text_of(*leaves[i].sharding), holder),
             fingerprint_of_leaf(inputs.devices[at], number), fmt::format("device {}", local[at])});
  }
  return {};
}

}  // namespace

Result<void> prepare_rank(const RunProcesses& processes, RunOptions& options, Session& session) {
  outlive_termination();
  session.speaker = fmt::format("rank {}: ", processes.rank());
  const size_t at = options.save.find("{rank}");
  options.saves_by_rank = at != std::string::npos;
  if (options.saves_by_rank) options.save.replace(at, 6, fmt::format("{}", processes.rank()));
  if (!processes.is_first()) {
    session.quiet = session.is_silent = true;
    session.json = false;
    options.expected.clear();
    if (!options.saves_by_rank) options.save.clear();
  }
  if (options.saves_by_rank && !options.expected.empty())
    return fail(ErrorKind::Usage,
                "--expected compares all outputs, and with {{rank}} in --save "
                "each rank keeps its own");
  if (!options.only.empty()) return fail(ErrorKind::Usage, "--only runs in one process");
  if (options.in_plan) return fail(ErrorKind::Usage, "--in-plan runs in one process");
  if (options.file == "-")
    return fail(ErrorKind::Usage,
                "of several processes each reads the module, and standard input "
                "is there once; name a file");
  return {};
}

void end_rank(RunProcesses& processes, Session& session) {
  const bool is_over = session.status == success || session.status == values_differ;
  if (is_over && processes.is_first()) processes.release(session.status);
  if (!is_over)
    processes.fail(session.first_error.value_or(Error{ErrorKind::Io, "it has failed", {}}));
}

Result<void> compare_programs(RunProcesses& processes, const Module& module,
                              const RunOptions& options, const std::atomic<bool>* interrupt) {
  if (!processes.are_several()) return {};
  return processes.compare({{"version of Hilo", std::string(version)},
                            {"module", module.header.name + " " + fingerprint(print(module))},
                            {"set of options", values_of_options(options)}},
                           interrupt);
}

Result<void> compare_runs(RunProcesses& processes, const Module& module, const Inputs& inputs,
                          const Module* compiled, const EvalOptions& eval) {
  std::vector<SharedFact> facts;
  if (compiled && processes.are_several())
    facts.push_back({"compiled program", fingerprint(print(*compiled))});
  if (processes.are_several() || find_partitioning(module, eval) == Partitioning::Partitioned)
    HILO_DO(add_copies(facts, module, inputs, eval));
  return processes.compare(facts, eval.interrupt);
}

}  // namespace hilo::tools
