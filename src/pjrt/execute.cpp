// Runs of a program.
#include <algorithm>

#include "pjrt/event.h"
#include "pjrt/executable.h"
#include "pjrt/ffi.h"
#include "pjrt/functions.h"
#include "pjrt/later_run.h"

namespace hilo::pjrt {
namespace {

using Args = PJRT_LoadedExecutable_Execute_Args;

// Of a run on one device alone; null: it is on all of the program's.
PJRT_Device* named_device(const Args& args) {
  return knows(&args, &Args::execute_device) ? args.execute_device : nullptr;
}

Result<void> check_devices(const Args& args) {
  const PJRT_LoadedExecutable& loaded = *args.executable;
  const bool is_part = named_device(args) && args.num_devices == 1 && loaded.devices.size() > 1;
  if (is_part && loaded.program->spread != Spread::Alone)
    return fail(ErrorKind::Unsupported,
                "{} runs on {} devices together, and was called on one of them",
                loaded.program->name, loaded.devices.size());
  if (!is_part && args.num_devices != loaded.devices.size())
    return fail(ErrorKind::Input, "arguments for {} devices, and the program runs on {}",
                args.num_devices, loaded.devices.size());
  return {};
}

// The device of each list of arguments.
PJRT_Device& device_of(const Args& args, size_t list) {
  PJRT_Device* const named = named_device(args);
  return named ? *named : *args.executable->devices[list];
}

Result<void> check_lists(const Args& args, size_t list) {
  const auto fault = [&](size_t argument, std::string_view what) {
    return fail(ErrorKind::Input, "argument {} for device {} {}", argument,
                device_of(args, list).description->id, what);
  };
  const size_t lists = args.num_devices;
  if (args.num_args > 0) {
    HILO_TRY(const auto of_all, list_of(args.argument_lists, lists, "argument_lists"));
    HILO_TRY(const auto buffers, list_of(of_all[list], args.num_args, "a list of arguments"));
    for (size_t i = 0; i < buffers.size(); ++i) {
      if (!buffers[i]) return fault(i, "is null");
      if (buffers[i]->device != &device_of(args, list))
        return fault(i, fmt::format("is on device {}", buffers[i]->device->description->id));
    }
  }
  const size_t results = args.executable->program->results.size();
  if (results == 0) return {};
  HILO_TRY(const auto of_all, list_of(args.output_lists, lists, "output_lists"));
  HILO_DO(list_of(of_all[list], results, "a list of results"));
  return {};
}

Result<void> check_call(const Args& args) {
  const PJRT_LoadedExecutable& loaded = *args.executable;
  if (loaded.is_deleted) return fail(ErrorKind::Input, "the executable has been deleted");
  HILO_DO(check_devices(args));
  if (loaded.devices.empty()) return {};  // they are in other processes: there are no lists
  const size_t parameters = loaded.program->parameters.size();
  if (args.num_args != parameters)
    // Clients look for these words.
    return fail(ErrorKind::Input,
                "Execution supplied {} buffers but compiled program expected {} buffers",
                args.num_args, parameters);
  for (size_t i = 0; i < args.num_devices; ++i) HILO_DO(check_lists(args, i));
  return {};
}

// Clients give no lists of nothing.
std::span<PJRT_Buffer* const> arguments_of(const Args& args, size_t device) {
  if (args.num_args == 0) return {};
  return {args.argument_lists[device], args.num_args};
}
PJRT_Buffer** results_of(const Args& args, size_t device) {
  return args.executable->program->results.size() == 0 ? nullptr : args.output_lists[device];
}

bool may_be_taken(const Args& args, size_t parameter) {
  if (!args.executable->program->is_donated[parameter]) return false;
  const PJRT_ExecuteOptions* options = args.options;
  if (!options || !options->non_donatable_input_indices) return true;
  const std::span kept(options->non_donatable_input_indices,
                       options->num_non_donatable_input_indices);
  return std::ranges::count(kept, static_cast<int64_t>(parameter)) == 0;
}

// Whether the buffer has the elements of the parameter in another order.
bool lies_otherwise(const PJRT_Buffer& buffer, const Cut& parameter) {
  if (!buffer.ordered && !parameter.ordered) return false;
  const Shape& given = buffer.shape();
  return same_dims(given, *parameter.shard) && order_of(given) != order_of(*parameter.shard);
}

// The value of a buffer in the order that a program takes.
Result<Literal> reordered(Literal value, const PJRT_Buffer& buffer, const Cut& parameter) {
  const Shape& shape = *parameter.shard;
  if (shape.is_array() && !same_dims(buffer.shape(), shape))
    return fail(ErrorKind::Input, "a parameter is {}, but {} was given",
                to_string_without_layout(shape), to_string_without_layout(buffer.shape()));
  if (!lies_otherwise(buffer, parameter)) return value;
  Literal out = uninitialized(parameter.held, *buffer.device->client->host);
  copy_strided(shape, out.mutable_raw().data(), strides_in_memory(shape), value.raw().data(),
               strides_in_memory(buffer.shape()));
  return out;
}

// A buffer whose memory the program takes is no other argument: it would be written over.
Result<void> check_donations(const Args& args, size_t device) {
  const std::vector<bool>& is_donated = args.executable->program->is_donated;
  if (std::ranges::find(is_donated, true) == is_donated.end()) return {};
  std::vector<std::pair<const PJRT_Buffer*, size_t>> buffers;
  buffers.reserve(args.num_args);
  for (size_t i = 0; i < args.num_args; ++i)
    buffers.emplace_back(args.argument_lists[device][i], i);
  std::ranges::sort(buffers);
  for (size_t k = 1; k < buffers.size(); ++k) {
    const auto [buffer, i] = buffers[k - 1];
    const auto [next, j] = buffers[k];
    if (buffer != next || (!may_be_taken(args, i) && !may_be_taken(args, j))) continue;
    return fail(ErrorKind::Input,
                "arguments {} and {} are the same buffer, but argument {} is donated", i, j,
                may_be_taken(args, i) ? i : j);
  }
  return {};
}

// Arguments of one device.
struct Arguments {
  std::vector<Literal> values;
  std::vector<Bytes> guards;  // of values that nobody may write over
};

// Those that the program may take are deleted only when all are there.
Result<Arguments> take_arguments(const Args& args, size_t device) {
  HILO_DO(check_donations(args, device));
  const auto buffers = arguments_of(args, device);
  Arguments out;
  out.values.reserve(buffers.size());
  const ProgramValues& parameters = args.executable->program->parameters;
  for (size_t i = 0; i < buffers.size(); ++i) {
    HILO_TRY(HeldValue held, buffers[i]->buffer.hold());
    HILO_TRY(Literal value, held.take());
    if (held.guard()) out.guards.push_back(held.guard());
    if (buffers[i]->ordered || parameters.cuts[i].ordered) {
      HILO_TRY(value, reordered(std::move(value), *buffers[i], parameters.cuts[i]));
    }
    out.values.push_back(parameters.argument(i, std::move(value)));
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
    const bool is_shared = !value.is_unique();
    add(DeviceBuffer(std::move(value), is_shared));
  }
  void add(DeviceBuffer buffer) {
    buffers_.reserve(program_.results.size());
    const size_t kind = program_.results.kinds[buffers_.size()];
    const SharedShape& ordered = program_.results.cuts[buffers_.size()].ordered;
    buffers_.push_back(make_buffer(std::move(buffer), device_.memories[kind], ordered));
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
std::map<std::string, CustomCallFunction> calls_of(const Args& args) {
  const bool has_context = args.options && knows(args.options, &PJRT_ExecuteOptions::context);
  return functions_of(args.executable->program->user_calls,
                      has_context ? args.options->context : nullptr);
}

Result<std::vector<Literal>> run_program(const Args& args, std::span<const Literal> arguments) {
  const Program& program = *args.executable->program;
  if (program.user_calls.empty()) return program.executable.run_leaves(arguments);
  const auto calls = calls_of(args);
  RunOptions options;
  options.custom_calls = &calls;
  return program.executable.run_leaves(arguments, options);
}

void give(const Program& program, PJRT_Device& device, std::vector<Literal> values,
          PJRT_Buffer** to) {
  Results results(program, device);
  for (Literal& value : values) results.add(std::move(value));
  results.give(to);
}

Result<void> run_now(const Args& args, size_t at, PJRT_Device& device) {
  HILO_TRY(Arguments arguments, take_arguments(args, at));
  HILO_TRY(std::vector<Literal> results, run_program(args, arguments.values));
  arguments.values.clear();  // a result in the memory of one that was taken is nobody else's
  give(*args.executable->program, device, std::move(results), results_of(args, at));
  if (args.device_complete_events) args.device_complete_events[at] = make_event();
  return {};
}

Result<void> check_shapes(const Args& args, size_t at) {
  const ProgramValues& parameters = args.executable->program->parameters;
  for (size_t i = 0; i < args.num_args; ++i)
    if (const Shape &given = args.argument_lists[at][i]->shape(),
        &wanted = *parameters.cuts[i].shard;
        wanted.is_array() && !same_dims(given, wanted))
      return fail(ErrorKind::Input, "parameter {} is {}, but {} was given", i,
                  to_string_without_layout(wanted), to_string_without_layout(given));
  return {};
}

Result<void> run_later(const Args& args, size_t at, PJRT_Device& device) {
  HILO_DO(check_shapes(args, at));
  HILO_DO(check_donations(args, at));
  const auto buffers = arguments_of(args, at);
  auto run = std::make_shared<LaterRun>();
  run->program = args.executable->program;
  for (const PJRT_Buffer* buffer : buffers) {
    HILO_TRY(HeldValue held, buffer->buffer.hold());
    run->arguments.push_back(std::move(held));
  }
  Results results(*run->program, device);
  for (size_t i = 0; i < run->program->results.size(); ++i) {
    run->results.push_back(std::make_shared<PromisedValue>());
    results.add(DeviceBuffer(run->program->results.shape(i), run->results.back()));
  }
  for (size_t i = 0; i < buffers.size(); ++i)
    if (may_be_taken(args, i)) buffers[i]->buffer.erase();
  if (args.device_complete_events) args.device_complete_events[at] = make_event(run->complete);
  results.give(results_of(args, at));
  device.stream.add([run] { run->run(); });
  return {};
}

bool are_there(const Args& args, size_t at) {
  const auto buffers = arguments_of(args, at);
  return std::ranges::all_of(
      buffers, [](const PJRT_Buffer* buffer) { return buffer->buffer.ready().is_done(); });
}

bool is_any_in_other_order(const Args& args, size_t at) {
  const std::vector<Cut>& parameters = args.executable->program->parameters.cuts;
  for (size_t i = 0; i < args.num_args; ++i)
    if (lies_otherwise(*args.argument_lists[at][i], parameters[i])) return true;
  return false;
}

// Functions of the user's may look at what the client has attached until this call returns.
Result<void> run_on(const Args& args, size_t at, PJRT_Device& device) {
  const Program& program = *args.executable->program;
  const bool is_now = !program.user_calls.empty() || (program.is_short && are_there(args, at)) ||
                      is_any_in_other_order(args, at);
  return is_now ? run_now(args, at, device) : run_later(args, at, device);
}

// What one device has given is taken back where a later one fails.
void take_back(const Args& args, size_t at) {
  const size_t results = args.executable->program->results.size();
  for (size_t i = 0; i < results; ++i) delete results_of(args, at)[i];
  if (args.device_complete_events) destroy_event(args.device_complete_events[at]);
}

Result<void> run_alone(const Args& args) {
  if (PJRT_Device* const device = named_device(args)) return run_on(args, 0, *device);
  for (size_t at = 0; at < args.num_devices; ++at)
    if (const auto done = run_on(args, at, *args.executable->devices[at]); !done) {
      while (at > 0) take_back(args, --at);
      return done;
    }
  return {};
}

Result<void> run_each(const Args& args, uint64_t run) {
  const Program& program = *args.executable->program;
  std::vector<Arguments> arguments(args.num_devices);
  Inputs inputs;
  for (size_t i = 0; i < args.num_devices; ++i) {
    HILO_TRY(arguments[i], take_arguments(args, i));
    inputs.devices.push_back(std::move(arguments[i].values));
  }
  const auto calls = calls_of(args);
  RunOptions options;
  options.run = run;
  options.custom_calls = &calls;
  HILO_TRY(Outputs outputs, program.executable.run_devices(std::move(inputs), options));
  for (size_t i = 0; i < args.num_devices; ++i) {
    std::vector<Literal> leaves;
    for_each_leaf(outputs.devices[i], [&](const Literal& leaf) { leaves.push_back(leaf); });
    outputs.devices[i] = Literal();
    give(program, *args.executable->devices[i], std::move(leaves), results_of(args, i));
  }
  return {};
}

// With devices of other processes, which hear of what goes wrong here.
Result<void> run_shared(const Args& args) {
  const SharedRuns::Program& shared = args.executable->program->shared;
  if (shared.ranks.empty()) return run_each(args, 0);
  PJRT_Client& client = *args.executable->client;
  std::unique_lock<std::mutex> turn;
  HILO_TRY(const uint64_t run,
           client.shared_runs.begin(*client.processes.communicator, shared, turn));
  const Result<void> done = run_each(args, run);
  if (!done) client.processes.communicator->stop(run, done.error());
  return done;
}

Result<void> check_shards(const Cut& cut, std::span<const Literal> shards, size_t parameter) {
  for (const Literal& shard : shards)
    if (const std::string fault = literal_fault(shard, *cut.held); !fault.empty())
      return fail(ErrorKind::Input, "parameter {}: its shards are {}, but {} was given", parameter,
                  to_string_without_layout(*cut.shard), fault);
  return {};
}

Result<void> run_together(const Args& args) {
  const Program& program = *args.executable->program;
  HostDevice& host = *args.executable->client->host;
  std::vector<Arguments> shards(args.num_devices);
  for (size_t device = 0; device < args.num_devices; ++device) {
    HILO_TRY(shards[device], take_arguments(args, device));
  }
  std::vector<Literal> arguments;
  for (size_t i = 0; i < args.num_args; ++i) {
    std::vector<Literal> of_all;
    for (Arguments& one : shards) of_all.push_back(std::move(one.values[i]));
    HILO_DO(check_shards(program.parameters.cuts[i], of_all, i));
    arguments.push_back(join_shards(program.parameters.cuts[i], of_all, host));
  }
  HILO_TRY(const std::vector<Literal> results, run_program(args, arguments));
  for (size_t device = 0; device < args.num_devices; ++device) {
    std::vector<Literal> own;
    for (size_t i = 0; i < results.size(); ++i)
      own.push_back(
          take_shard(program.results.cuts[i], results[i], static_cast<int64_t>(device), host));
    give(program, *args.executable->devices[device], std::move(own), results_of(args, device));
  }
  return {};
}

Result<void> execute(const Args& args) {
  HILO_DO(check_call(args));
  if (args.executable->devices.empty()) return {};
  switch (args.executable->program->spread) {
    case Spread::Alone: return run_alone(args);
    case Spread::Each: HILO_DO(run_shared(args)); break;
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
