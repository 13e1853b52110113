// Runs of a program.
#include <algorithm>

#include "pjrt/event.h"
#include "pjrt/executable.h"
#include "pjrt/ffi.h"
#include "pjrt/functions.h"

namespace hilo::pjrt {
namespace {

using Args = PJRT_LoadedExecutable_Execute_Args;

Result<void> check_call(const Args& args) {
  const PJRT_LoadedExecutable& loaded = *args.executable;
  if (loaded.is_deleted) return fail(ErrorKind::Input, "the executable has been deleted");
  if (args.num_devices != loaded.devices.size())
    return fail(ErrorKind::Input, "arguments for {} devices, and the program runs on {}",
                args.num_devices, loaded.devices.size());
  const size_t parameters = loaded.program->parameters.size();
  if (args.num_args != parameters)
    return fail(ErrorKind::Input, "the program takes {} arguments, and {} were given", parameters,
                args.num_args);
  return {};
}

bool may_be_taken(const Args& args, size_t parameter) {
  if (!args.executable->program->is_donated[parameter]) return false;
  const PJRT_ExecuteOptions* options = args.options;
  if (!options) return true;
  const std::span kept(options->non_donatable_input_indices,
                       options->num_non_donatable_input_indices);
  return std::ranges::count(kept, static_cast<int64_t>(parameter)) == 0;
}

// Arguments of one device. Those that the program may take are deleted only when all are held.
Result<std::vector<HeldValue>> hold_arguments(const Args& args, size_t device) {
  const std::span buffers(args.argument_lists[device], args.num_args);
  std::vector<HeldValue> out;
  out.reserve(buffers.size());
  for (const PJRT_Buffer* buffer : buffers) {
    HILO_TRY(HeldValue held, buffer->buffer.hold());
    out.push_back(std::move(held));
  }
  for (size_t i = 0; i < buffers.size(); ++i)
    if (may_be_taken(args, i)) buffers[i]->buffer.erase();
  return out;
}

// A run whose results nobody has taken yet.
class Results {
 public:
  Results(const Program& program, PJRT_Device& device) : program_(program), device_(device) {}
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;
  ~Results() {
    for (PJRT_Buffer* buffer : buffers_) delete buffer;
  }
  // What shares its memory with an argument or another result is not written over.
  void add(Literal value) {
    const size_t i = buffers_.size();
    buffers_.reserve(program_.results.size());
    const bool is_shared = !value.is_unique();
    if (value.shape().is_array()) value = value.with_shape(program_.results.shape(i));
    buffers_.push_back(make_buffer(DeviceBuffer(std::move(value), is_shared),
                                   device_.memories[program_.results.kinds[i]]));
  }
  void give(PJRT_Buffer** to) {
    std::ranges::copy(buffers_, to);
    buffers_.clear();
  }

 private:
  const Program& program_;
  PJRT_Device& device_;
  std::vector<PJRT_Buffer*> buffers_;
};

// Functions of the user's see what the client has attached to this run.
Result<Literal> run_program(const Args& args, std::vector<Literal> arguments) {
  const Program& program = *args.executable->program;
  if (!program.calls_users) return program.executable.run(std::move(arguments));
  const auto calls =
      registered_calls(args.options ? args.options->context : nullptr, program.laid_out_calls);
  return program.executable.run(std::move(arguments), {.custom_calls = &calls});
}

Result<std::vector<Literal>> take_all(std::vector<HeldValue>& held) {
  std::vector<Literal> out;
  out.reserve(held.size());
  for (HeldValue& one : held) {
    HILO_TRY(Literal value, one.take());
    out.push_back(std::move(value));
  }
  return out;
}

void give(const Program& program, PJRT_Device& device, Literal result, PJRT_Buffer** to) {
  Results results(program, device);
  if (program.results_are_tuple)
    for (Literal& element : result.mutable_elements()) results.add(std::move(element));
  else results.add(std::move(result));
  results.give(to);
}

Result<void> run_alone(const Args& args, PJRT_Device& device) {
  HILO_TRY(std::vector<HeldValue> held, hold_arguments(args, 0));
  HILO_TRY(std::vector<Literal> arguments, take_all(held));
  HILO_TRY(Literal result, run_program(args, std::move(arguments)));
  give(*args.executable->program, device, std::move(result), args.output_lists[0]);
  return {};
}

Result<void> run_each(const Args& args) {
  const Program& program = *args.executable->program;
  std::vector<std::vector<HeldValue>> held(args.num_devices);
  Inputs inputs;
  for (size_t i = 0; i < args.num_devices; ++i) {
    HILO_TRY(held[i], hold_arguments(args, i));
    HILO_TRY(std::vector<Literal> arguments, take_all(held[i]));
    inputs.devices.push_back(std::move(arguments));
  }
  const auto calls =
      registered_calls(args.options ? args.options->context : nullptr, program.laid_out_calls);
  HILO_TRY(Outputs outputs,
           program.executable.run_devices(
               std::move(inputs), {.custom_calls = program.calls_users ? &calls : nullptr}));
  for (size_t i = 0; i < args.num_devices; ++i)
    give(program, *args.executable->devices[i], std::move(outputs.devices[i]),
         args.output_lists[i]);
  return {};
}

Result<void> check_shards(const Cut& cut, std::span<const Literal> shards, size_t parameter) {
  for (const Literal& shard : shards)
    if (const std::string fault = literal_fault(shard, *cut.shard); !fault.empty())
      return fail(ErrorKind::Input, "parameter {}: its shards are {}, but {} was given", parameter,
                  to_string_without_layout(*cut.shard), fault);
  return {};
}

Literal shard_of(const Program& program, const Literal& whole, int64_t device, HostDevice& host) {
  const std::vector<Cut>& cuts = program.results.cuts;
  if (!program.results_are_tuple) return take_shard(cuts[0], whole, device, host);
  std::vector<Literal> out;
  for (size_t i = 0; i < cuts.size(); ++i)
    out.push_back(take_shard(cuts[i], whole.elements()[i], device, host));
  return Literal::tuple(std::move(out));
}

Result<void> run_together(const Args& args) {
  const Program& program = *args.executable->program;
  HostDevice& host = *args.executable->client->host;
  std::vector<std::vector<HeldValue>> held(args.num_devices);
  std::vector<std::vector<Literal>> shards(args.num_devices);
  for (size_t device = 0; device < args.num_devices; ++device) {
    HILO_TRY(held[device], hold_arguments(args, device));
    HILO_TRY(shards[device], take_all(held[device]));
  }
  std::vector<Literal> arguments;
  for (size_t i = 0; i < args.num_args; ++i) {
    std::vector<Literal> of_all;
    for (std::vector<Literal>& values : shards) of_all.push_back(std::move(values[i]));
    HILO_DO(check_shards(program.parameters.cuts[i], of_all, i));
    arguments.push_back(join_shards(program.parameters.cuts[i], of_all, host));
  }
  HILO_TRY(const Literal result, run_program(args, std::move(arguments)));
  for (size_t device = 0; device < args.num_devices; ++device)
    give(program, *args.executable->devices[device],
         shard_of(program, result, static_cast<int64_t>(device), host), args.output_lists[device]);
  return {};
}

Result<void> execute(const Args& args) {
  HILO_DO(check_call(args));
  const bool names_device = knows(&args, &Args::execute_device) && args.execute_device;
  PJRT_Device& device = names_device ? *args.execute_device : *args.executable->devices.front();
  switch (args.executable->program->spread) {
    case Spread::Alone: HILO_DO(run_alone(args, device)); break;
    case Spread::Each: HILO_DO(run_each(args)); break;
    case Spread::Together: HILO_DO(run_together(args)); break;
  }
  if (args.device_complete_events)
    for (size_t i = 0; i < args.num_devices; ++i) args.device_complete_events[i] = make_event();
  return {};
}

}  // namespace

PJRT_Error* LoadedExecutable_Execute(Args* args) {
  return answer([&] { return execute(*args); });
}

}  // namespace hilo::pjrt
