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
  const size_t parameters = loaded.program->parameters.shapes.size();
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
    buffers_.reserve(program_.results.shapes.size());
    const bool is_shared = !value.is_unique();
    if (value.shape().is_array()) value = value.with_shape(program_.results.shapes[i]);
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
  const auto calls = registered_calls(args.options ? args.options->context : nullptr);
  return program.executable.run(std::move(arguments), {.custom_calls = &calls});
}

Result<void> run_alone(const Args& args, PJRT_Device& device) {
  const Program& program = *args.executable->program;
  HILO_TRY(std::vector<HeldValue> held, hold_arguments(args, 0));
  std::vector<Literal> arguments;
  arguments.reserve(held.size());
  for (HeldValue& one : held) {
    HILO_TRY(Literal value, one.take());
    arguments.push_back(std::move(value));
  }
  HILO_TRY(Literal result, run_program(args, std::move(arguments)));
  Results results(program, device);
  if (program.results_are_tuple)
    for (Literal& element : result.mutable_elements()) results.add(std::move(element));
  else results.add(std::move(result));
  results.give(args.output_lists[0]);
  return {};
}

Result<void> execute(const Args& args) {
  HILO_DO(check_call(args));
  const bool names_device = knows(&args, &Args::execute_device) && args.execute_device;
  PJRT_Device& device = names_device ? *args.execute_device : *args.executable->devices.front();
  if (args.num_devices != 1)
    return fail(ErrorKind::Unsupported, "a program on {} devices", args.num_devices);
  HILO_DO(run_alone(args, device));
  if (args.device_complete_events)
    for (size_t i = 0; i < args.num_devices; ++i) args.device_complete_events[i] = make_event();
  return {};
}

}  // namespace

PJRT_Error* LoadedExecutable_Execute(Args* args) {
  return answer([&] { return execute(*args); });
}

}  // namespace hilo::pjrt
