// The front door: devices are made, and each runs the entry.
#include "eval/device_grid.h"
#include "eval/evaluation.h"
#include "verify/verify.h"

namespace hilo {
namespace {

Result<void> check_input(const Module& module, InstructionId parameter, const Literal& given,
                         int64_t device, bool ideal) {
  const Shape wanted = held_shape(module.shape(parameter), ideal);
  const std::string fault = literal_fault(given, wanted);
  if (fault.empty()) return {};
  auto error = fail(ErrorKind::Input, "device {}: parameter {} is {}, but {} was given", device,
                    module[parameter].name, to_string_without_layout(wanted), fault);
  error.error().place = module.place(parameter);
  return error;
}

Result<void> check_arguments(const Module& module, ComputationId computation,
                             const std::vector<Literal>& given, int64_t device, bool ideal) {
  const std::vector<InstructionId>& parameters = module[computation].parameters;
  if (given.size() != parameters.size())
    return fail(ErrorKind::Input, "device {}: {} inputs are needed, {} were given", device,
                parameters.size(), given.size());
  for (size_t i = 0; i < parameters.size(); ++i)
    HILO_DO(check_input(module, parameters[i], given[i], device, ideal));
  return {};
}

Result<void> check_inputs(const Module& module, const Inputs& inputs, int64_t devices, bool ideal) {
  if (static_cast<int64_t>(inputs.devices.size()) != devices)
    return fail(ErrorKind::Input, "inputs for {} devices are needed, {} were given", devices,
                inputs.devices.size());
  for (int64_t device = 0; device < devices; ++device)
    HILO_DO(check_arguments(module, module.entry, inputs.devices[static_cast<size_t>(device)],
                            device, ideal));
  return {};
}

// The entry on one device; whoever waits for it hears how it ended.
Result<Literal> run_device(Device& device, std::vector<Literal> arguments) {
  const FlushSubnormals flush;
  Evaluation& evaluation = *device.evaluation;
  Result<Literal> out = within_memory([&] {
    return evaluation.run(device, evaluation.module(), evaluation.module().entry,
                          std::move(arguments), 0);
  });
  if (out) device.traffic.rendezvous->finish(device.id);
  else device.traffic.rendezvous->stop(out.error());
  return out;
}

Result<Outputs> run_devices(const Module& module, Inputs inputs, const EvalOptions& options) {
  const auto inputs_given =
      options.processes.communicator ? 0 : static_cast<int64_t>(inputs.devices.size());
  const DeviceGrid given = device_grid(module, options, inputs_given);
  HILO_TRY(const std::vector<int64_t> local, local_programs(module, options, given));
  HILO_DO(check_inputs(module, inputs, std::ssize(local), options.ideal_floats));
  const DeviceGrid grid = running_grid(module, given);
  Rendezvous rendezvous(module, grid, options);
  Evaluation evaluation(module, options);
  std::vector<Device> devices = make_devices(evaluation, rendezvous, options, given);
  evaluation.steps_total =
      std::ssize(devices) * static_cast<int64_t>(module[module.entry].instructions.size());
  std::vector<std::vector<Literal>> arguments;
  for (const Device& device : devices) arguments.push_back(inputs.devices[device.program]);
  inputs.devices.clear();
  std::vector<Result<Literal>> results(devices.size(), Literal());
  const auto run = [&](size_t i) { results[i] = run_device(devices[i], std::move(arguments[i])); };
  {
    const ThreadGroup others(std::ssize(devices) - 1,
                             [&](int64_t i) { run(static_cast<size_t>(i) + 1); });
    if (!others.has_started()) return std::unexpected(thread_error(grid.count()));
    run(0);
  }
  if (std::optional<Error> error = rendezvous.error()) return std::unexpected(std::move(*error));
  Outputs out;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i]) return std::unexpected(std::move(results[i]).error());
    if (devices[i].is_first) out.devices.push_back(std::move(*results[i]));
  }
  return out;
}

}  // namespace

Result<Outputs> evaluate(const Module& module, Inputs inputs, const EvalOptions& options) {
  return within_memory([&] -> Result<Outputs> {
    if (!options.is_verified) HILO_DO(check_module(module));
    return run_devices(module, std::move(inputs), options);
  });
}

Result<Literal> evaluate_computation(const Module& module, ComputationId computation,
                                     std::vector<Literal> arguments, const EvalOptions& options) {
  if (!computation || computation.value >= module.computations.size())
    return fail(ErrorKind::Usage, "no such computation");
  return within_memory([&] -> Result<Literal> {
    if (!options.is_verified) HILO_DO(check_module(module));
    HILO_DO(check_arguments(module, computation, arguments, 0, options.ideal_floats));
    EvalOptions alone = options;
    alone.processes = {};
    Rendezvous rendezvous(module, DeviceGrid{}, alone);
    Evaluation evaluation(module, alone);
    std::vector<Device> devices = make_devices(evaluation, rendezvous, alone, DeviceGrid{});
    const FlushSubnormals flush;
    return evaluation.run(devices[0], module, computation, std::move(arguments), 0);
  });
}

}  // namespace hilo
