#include "compile/executable.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace hilo {
namespace {

Result<void> check_arguments(const Module& module, std::span<const Literal> arguments,
                             int64_t device) {
  const std::vector<InstructionId>& parameters = module[module.entry].parameters;
  if (arguments.size() != parameters.size())
    return fail(ErrorKind::Input, "device {}: {} arguments are needed, {} were given", device,
                parameters.size(), arguments.size());
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Shape& wanted = module.shape(parameters[i]);
    const std::string fault = literal_fault(arguments[i], wanted);
    if (fault.empty()) continue;
    return fail(ErrorKind::Input, "device {}: parameter {} is {}, but {} was given", device,
                module[parameters[i]].name, to_string_without_layout(wanted), fault);
  }
  return {};
}

// How the evaluator does steps of a call.
EvalOptions eval_options(const ExecutableState& state, const RunOptions& options,
                         const std::atomic<bool>& interrupt) {
  EvalOptions out = state.eval;
  out.interrupt = &interrupt;
  if (options.custom_calls) out.custom_calls = *options.custom_calls;
  if (options.run != 0) out.processes.run = options.run;
  return out;
}

// A call on all devices, each on a thread of its own.
class Run {
 public:
  Run(const ExecutableState& state, const RunOptions& options) : state_(state), options_(options) {
    static constexpr std::atomic<bool> never = false;
    interrupt_ = options.interrupt ? options.interrupt : &never;
  }

  Result<Outputs> run(Inputs inputs) {
    if (state_.runs_alone) return alone(inputs);
    const EvalOptions eval = eval_options(state_, options_, stop_);
    VirtualDevices devices(state_.module, eval);
    return together(inputs, devices);
  }

 private:
  Result<Outputs> alone(const Inputs& inputs) {
    RunDevices devices(state_, options_, *interrupt_);
    HILO_TRY(Literal result,
             DeviceRun(state_, devices, 0, *interrupt_, options_).run(inputs.devices[0]));
    return Outputs{{std::move(result)}};
  }

  Result<Outputs> together(const Inputs& inputs, VirtualDevices& devices) {
    const auto count = static_cast<size_t>(devices.count());
    std::vector<Result<Literal>> results(count, Literal());
    running_ = count;
    {
      const ThreadGroup threads(devices.count(), [&](int64_t device) {
        Result<Literal>& result = results[static_cast<size_t>(device)];
        result = within_memory([&] {
          RunDevices shared(devices);
          return DeviceRun(state_, shared, device, stop_, options_)
              .run(inputs.devices[static_cast<size_t>(devices.program(device))]);
        });
        end(devices, device, result);
      });
      if (!threads.has_started()) return std::unexpected(thread_error(devices.count()));
      watch(devices);
    }
    if (std::optional<Error> error = devices.error()) return std::unexpected(std::move(*error));
    Outputs out;
    for (size_t i = 0; i < count; ++i)
      if (devices.is_first(static_cast<int64_t>(i))) out.devices.push_back(std::move(*results[i]));
    return out;
  }

  void end(VirtualDevices& devices, int64_t device, const Result<Literal>& result) {
    if (result) {
      devices.finish(device);
    } else {
      devices.stop(result.error());
      stop_ = true;  // loops of others
    }
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) all_ended_.notify_one();
  }

  // The user's wish to stop, and the end of other processes, reach the devices from here, for they
  // look at one flag only.
  void watch(const VirtualDevices& devices) {
    using namespace std::chrono_literals;
    std::unique_lock lock(mutex_);
    while (!all_ended_.wait_for(lock, 20ms, [&] { return running_ == 0; }))
      if (interrupt_->load(std::memory_order_relaxed) || devices.error()) stop_ = true;
  }

  const ExecutableState& state_;
  const RunOptions& options_;
  const std::atomic<bool>* interrupt_;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::condition_variable all_ended_;
  size_t running_ = 0;
};

// A system grants memory that it does not have, and ends the process that then uses it.
Result<void> check_memory(const ExecutableState& state) {
  constexpr int64_t worth_a_look = int64_t{1} << 28;
  if (state.taken_bytes < worth_a_look) return {};
  const int64_t more = state.taken_bytes - state.device->memory_use().kept_bytes;
  if (more <= 0) return {};  // as in all runs after the first
  const int64_t left = available_memory();
  if (more <= left) return {};
  return fail(ErrorKind::Memory, "a run needs {} bytes, of which {} are to be taken; {} are left",
              state.report.run_bytes, more, left);
}

}  // namespace

VirtualDevices& RunDevices::get() {
  if (!devices_) {
    eval_ = eval_options(*state_, *options_, *interrupt_);
    devices_ = &made_.emplace(state_->module, *eval_);
  }
  return *devices_;
}

const Module& Executable::module() const { return state_->module; }
const CompileReport& Executable::report() const { return state_->report; }
int64_t Executable::devices() const { return state_->devices; }

Result<Outputs> Executable::run_devices(Inputs inputs, const RunOptions& options) const {
  check(state_ != nullptr, "run() of an Executable that compile() has not made");
  if (std::ssize(inputs.devices) != state_->devices)
    return fail(ErrorKind::Input, "arguments for {} devices are needed, {} were given",
                state_->devices, inputs.devices.size());
  for (size_t i = 0; i < inputs.devices.size(); ++i)
    HILO_DO(check_arguments(state_->module, inputs.devices[i], static_cast<int64_t>(i)));
  HILO_DO(check_memory(*state_));
  return within_memory([&] { return Run(*state_, options).run(std::move(inputs)); });
}

Result<Literal> Executable::run(std::vector<Literal> arguments, const RunOptions& options) const {
  Inputs inputs;
  inputs.devices.push_back(std::move(arguments));
  HILO_TRY(Outputs out, run_devices(std::move(inputs), options));
  return std::move(out.devices[0]);
}

Result<std::vector<Literal>> Executable::run_leaves(std::span<const Literal> arguments,
                                                    const RunOptions& options) const {
  check(state_ != nullptr, "run_leaves() of an Executable that compile() has not made");
  if (state_->runs_alone) {
    HILO_DO(check_arguments(state_->module, arguments, 0));
    HILO_DO(check_memory(*state_));
    static constexpr std::atomic<bool> never = false;
    const std::atomic<bool>& interrupt = options.interrupt ? *options.interrupt : never;
    RunDevices devices(*state_, options, interrupt);
    return within_memory(
        [&] { return DeviceRun(*state_, devices, 0, interrupt, options).run_leaves(arguments); });
  }
  HILO_TRY(const Literal result, run({arguments.begin(), arguments.end()}, options));
  std::vector<Literal> out;
  for_each_leaf(result, [&](const Literal& leaf) {
    const size_t i = out.size();
    const bool is_fixed = leaf.shape().is_array() && leaf.dynamic_sizes().empty();
    out.push_back(is_fixed ? leaf.with_shape(state_->leaves[i]) : leaf);
  });
  return out;
}

}  // namespace hilo
