#include "compile/executable.h"

#include <cstring>

namespace hilo {
namespace {

// One call: the memory of each allocation, and what went wrong.
struct Run : RunContext {
  const ExecutableState* state;
  const RunOptions* options;
  std::vector<Bytes> owners;         // by allocation
  std::vector<std::byte*> pointers;  // the same
  std::optional<Error> error;
};

// After an interrupt the rest is left out, and the run fails at its end at the latest.
void run_parallel(RunContext* context, TileFunction body, void* const* arguments, int64_t count,
                  int64_t grain) {
  const int64_t tiles = (count + grain - 1) / grain;
  static_cast<Run*>(context)->state->device.threads().run(tiles, [&](int64_t tile) {
    if (context->interrupt->load(std::memory_order_relaxed)) return;
    const FlushSubnormals flush;
    body(arguments, tile * grain, std::min(count, (tile + 1) * grain));
  });
}

int32_t run_library(RunContext* context, int64_t number) {
  Run& run = *static_cast<Run*>(context);
  const auto done = run.state->library->run(number, run.pointers.data(), run.interrupt);
  if (done) return static_cast<int32_t>(RunStatus::Done);
  run.error = done.error();
  return static_cast<int32_t>(RunStatus::Failed);
}

void tell_step(RunContext* context, int64_t instruction) {
  const auto& tell = static_cast<Run*>(context)->options->after_step;
  if (tell) tell({static_cast<uint32_t>(instruction)});
}

const Literal& part_of(const Literal& value, const Dims& index) {
  const Literal* out = &value;
  for (int64_t element : index) out = &out->elements()[static_cast<size_t>(element)];
  return *out;
}

// An argument's memory, or that of a copy where it is written over and somebody else holds it.
Bytes argument_memory(HostDevice& device, const MemoryPiece& piece, const Literal& value) {
  if (!piece.is_written || value.is_unique()) return value.storage();
  Bytes copy = device.allocate(piece.bytes);
  std::memcpy(copy.get(), value.raw().data(), value.raw().size());
  return copy;
}

Result<void> check_arguments(const Module& module, std::span<const Literal> arguments) {
  const std::vector<InstructionId>& parameters = module[module.entry].parameters;
  if (arguments.size() != parameters.size())
    return fail(ErrorKind::Input, "{} arguments are needed, {} were given", parameters.size(),
                arguments.size());
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Shape& wanted = module.shape(parameters[i]);
    if (arguments[i].has_value() && same_dims(arguments[i].shape(), wanted)) continue;
    return fail(ErrorKind::Input, "parameter {} is {}, but {} was given",
                module[parameters[i]].name, to_string_without_layout(wanted),
                arguments[i].has_value() ? to_string_without_layout(arguments[i].shape())
                                         : std::string("nothing"));
  }
  return {};
}

// bad_alloc when there is too little memory.
void find_run_memory(Run& run, std::span<const Literal> arguments) {
  const ExecutableState& state = *run.state;
  run.owners.resize(state.memory.size());
  run.pointers.resize(state.memory.size());
  for (size_t i = 0; i < state.memory.size(); ++i) {
    const MemoryPiece& piece = state.memory[i];
    if (piece.source == MemorySource::Argument) {
      const Literal& value = arguments[static_cast<size_t>(piece.parameter)];
      run.owners[i] = argument_memory(state.device, piece, part_of(value, piece.parameter_index));
    } else if (piece.source == MemorySource::Result || piece.source == MemorySource::Temporary) {
      run.owners[i] = state.device.allocate(piece.bytes);
    }
    run.pointers[i] = piece.source == MemorySource::Constant ? piece.constant : run.owners[i].get();
  }
}

Literal result_of(const Run& run, const Shape& shape, size_t& leaf) {
  if (shape.is_tuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.elements) elements.push_back(result_of(run, element, leaf));
    return Literal::tuple(std::move(elements));
  }
  const Address address = run.state->code.results[leaf++];
  if (!shape.is_array()) return Literal::token();
  const Bytes& owner = run.owners[address.allocation];
  if (owner) return Literal::view(shape, Bytes(owner, owner.get() + address.offset));
  Literal out = Literal::uninitialized(shape);  // a constant's value
  std::memcpy(out.mutable_raw().data(), run.pointers[address.allocation] + address.offset,
              out.raw().size());
  return out;
}

// A plan's constant: the bytes of the instruction's literal.
std::byte* constant_bytes(const Module& module, const Plan& plan, const Allocation& allocation) {
  for (const Slot& slot : allocation.slots) {
    const InstructionId id = plan.aliases[slot.value].definition().instruction;
    if (module[id].op != Op::Constant) continue;
    const auto& literal = module.attributes<ConstantAttributes>(id).literal.literal;
    if (literal && literal->shape().is_array())
      return const_cast<std::byte*>(literal->raw().data());
  }
  return nullptr;
}

}  // namespace

std::vector<MemoryPiece> find_memory(const Module& module, const Plan& plan, const Code& code) {
  std::vector<MemoryPiece> out(plan.allocations.size() + 1);
  for (size_t i = 0; i < out.size(); ++i) out[i].bytes = code.allocation_bytes[i];
  out.back().source = MemorySource::Temporary;
  for (size_t i = 0; i < plan.allocations.size(); ++i) {
    const Allocation& allocation = plan.allocations[i];
    MemoryPiece& piece = out[i];
    if (allocation.is_tuple || allocation.is_thread_local) {
      piece.source = MemorySource::Temporary;  // the table is not used, its place may be
    } else if (allocation.parameter) {
      piece.source = MemorySource::Argument;
      piece.parameter = *allocation.parameter;
      piece.parameter_index = allocation.parameter_index;
      piece.is_written = allocation.slots.size() > 1;
    } else if (allocation.is_constant) {
      piece.constant = constant_bytes(module, plan, allocation);
      if (piece.constant) piece.source = MemorySource::Constant;
    } else {
      piece.source = allocation.is_live_out ? MemorySource::Result : MemorySource::Temporary;
    }
  }
  return out;
}

const Module& Executable::module() const { return state_->module; }
const CompileReport& Executable::report() const { return state_->report; }

Result<Literal> Executable::run(std::vector<Literal> arguments, const RunOptions& options) const {
  static constexpr std::atomic<bool> never = false;
  HILO_DO(check_arguments(state_->module, arguments));
  Run run;
  run.state = state_.get();
  run.options = &options;
  try {
    find_run_memory(run, arguments);
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::Memory, "a run needs {} bytes, which this machine does not have",
                report().run_bytes);
  }
  run.memory = run.pointers.data();
  run.interrupt = options.interrupt ? options.interrupt : &never;
  run.parallel = run_parallel;
  run.library = run_library;
  run.after_step = tell_step;
  const auto status = [&] {
    const FlushSubnormals flush;
    return static_cast<RunStatus>(state_->code.run(&run));
  }();
  if (status == RunStatus::Interrupted || (status == RunStatus::Done && run.interrupt->load()))
    return fail(ErrorKind::Interrupted, "stopped by the user");
  if (status == RunStatus::Failed) return std::unexpected(std::move(*run.error));
  size_t leaf = 0;
  return result_of(run, state_->module.shape(state_->module[state_->module.entry].root), leaf);
}

}  // namespace hilo
