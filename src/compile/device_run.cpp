// A call of a program on one device: memory for each allocation, the code, the results.
#include <algorithm>
#include <cstring>
#include <new>

#include "compile/executable.h"

namespace hilo {
namespace {

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

}  // namespace

DeviceRun::DeviceRun(const ExecutableState& state, RunDevices& devices, int64_t device,
                     const std::atomic<bool>& interrupt, const RunOptions& options)
    : state_(state), devices_(devices), device_(device), options_(options) {
  this->interrupt = &interrupt;
  parallel = run_parallel;
  library = run_library;
  after_step = tell_step;
  library_in_parts = run_in_parts;
}

// After an interrupt the rest is left out, and the run fails at its end at the latest.
void DeviceRun::in_chunks(int64_t count, int64_t grain,
                          const std::function<void(int64_t begin, int64_t end)>& body) const {
  const auto run_range = [&](int64_t piece) {
    if (interrupt->load(std::memory_order_relaxed)) return;
    const FlushSubnormals flush;
    body(piece * grain, std::min(count, (piece + 1) * grain));
  };
  state_.device->threads().run((count + grain - 1) / grain, std::ref(run_range));
}

Parallel DeviceRun::in_chunks() const {
  return {state_.device->threads().threads(),
          [this](int64_t count, int64_t grain, const Parallel::Body& body) {
            in_chunks(count, grain, body);
          }};
}

// Takes no memory, for the code that calls it is no frame that an exception could pass.
void DeviceRun::run_parallel(RunContext* context, TileFunction body, void* const* arguments,
                             int64_t count, int64_t max_chunk, double serial_seconds) {
  const auto& run = *static_cast<DeviceRun*>(context);
  const int64_t threads = run.state_.device->threads().threads();
  const int64_t chunks = chunks_of(serial_seconds, count, threads, find_cpu("native").cores);
  int64_t grain = (count + chunks - 1) / chunks;
  if (max_chunk > 0 && chunks > 1) {  // two a thread: not all threads are equally fast
    grain = max_chunk;
    while (grain > 1 && count / grain < 2 * threads) grain /= 2;
  }
  const auto run_range = [&](int64_t begin, int64_t end) { body(arguments, begin, end); };
  run.in_chunks(count, grain, std::ref(run_range));
}

int32_t DeviceRun::run_library(RunContext* context, int64_t number) {
  DeviceRun& run = *static_cast<DeviceRun*>(context);
  return run.status_of([&] { return run.do_library_step(static_cast<size_t>(number)); });
}

// What the code is told; the error is kept. No exception passes, for the code has no frames for it.
template <class Body>
int32_t DeviceRun::status_of(Body&& body) {
  try {
    Result<void> done = within_memory(body);
    if (done) return static_cast<int32_t>(RunStatus::Done);
    error_ = std::move(done.error());
  } catch (const std::bad_alloc&) {  // not even for the words of the error
  }
  return static_cast<int32_t>(RunStatus::Failed);
}

Result<void> DeviceRun::do_library_step(size_t number) {
  if (const RoutineStep& routine = state_.routines[number]; routine.routine) {
    routine.run(memory_, in_chunks());
    return may_go_on(interrupt);
  }
  return run_library_step(state_.module, state_.code.library_steps[number], memory_, devices_.get(),
                          device_);
}

// Where parts are not told, they are pieces of the whole result.
int32_t DeviceRun::run_in_parts(RunContext* context, int64_t number, TileFunction then,
                                void* const* arguments, int64_t count, int64_t rows,
                                int64_t width) {
  DeviceRun& run = *static_cast<DeviceRun*>(context);
  return run.status_of([&] -> Result<void> {
    constexpr int64_t piece = 1 << 16;  // elements
    const auto n = static_cast<size_t>(number);
    const auto take = [&](const MatrixPart& part) {
      int64_t columns[] = {part.column, part.column + part.columns};
      std::vector<void*> all(arguments, arguments + count);
      all.push_back(columns);
      then(all.data(), part.row, part.row + part.rows);
    };
    if (run.state_.routines[n].run_in_parts(run.memory_, run.in_chunks(), width, take)) return {};
    HILO_DO(run.do_library_step(n));
    run.in_chunks(rows, std::max<int64_t>(1, piece / width),
                  [&](int64_t begin, int64_t end) { take({begin, end - begin, 0, width}); });
    return {};
  });
}

void DeviceRun::tell_step(RunContext* context, int64_t instruction) {
  const DeviceRun& run = *static_cast<DeviceRun*>(context);
  if (run.options_.after_step)
    run.options_.after_step({static_cast<uint32_t>(instruction)}, run.device_);
}

// Throws OutOfMemory.
void DeviceRun::take_memory(std::span<const Literal> arguments) {
  memory_.owners.resize(state_.code.memory.size());
  memory_.pointers.resize(state_.code.memory.size());
  RunFrame frame;
  for (size_t i = 0; i < state_.code.memory.size(); ++i) {
    const MemoryPiece& piece = state_.code.memory[i];
    Bytes& owner = memory_.owners[i];
    if (const auto at = frame.place(piece)) {
      owner = Bytes(Bytes(), frame_.data() + *at);
    } else if (piece.source == MemorySource::Argument) {
      const Literal& value =
          part_of(arguments[static_cast<size_t>(piece.parameter)], piece.parameter_index);
      owner = argument_memory(*state_.device, piece, value);
      if (!value.dynamic_sizes().empty())
        memory_.sizes[{static_cast<uint32_t>(i), 0}] = value.dynamic_sizes();
    } else if (piece.source == MemorySource::Result || piece.source == MemorySource::Temporary) {
      owner = state_.device->allocate(piece.bytes);
    }
    memory_.pointers[i] = piece.source == MemorySource::Constant ? piece.constant : owner.get();
  }
  memory = memory_.pointers.data();
}

Literal DeviceRun::result(const Shape& shape, size_t& leaf) const {
  if (shape.is_tuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.elements) elements.push_back(result(element, leaf));
    return Literal::tuple(std::move(elements));
  }
  const Address address = state_.code.results[leaf++];
  if (!shape.is_array()) return Literal::token();
  const Bytes& owner = memory_.owners[address.allocation];
  if (owner) return view_of(shape, address, memory_, Bytes(owner, owner.get() + address.offset));
  Literal out = Literal::uninitialized(shape);  // a constant's value
  std::memcpy(out.mutable_raw().data(), memory_.pointers[address.allocation] + address.offset,
              out.raw().size());
  return out;
}

// A program of library steps alone has no code.
Result<void> DeviceRun::run_code(int32_t (*code)(RunContext*)) {
  const FlushSubnormals flush;
  auto status = RunStatus::Done;
  if (code) {
    status = static_cast<RunStatus>(code(this));
  } else {
    for (size_t i = 0; i < state_.code.library_steps.size() && status == RunStatus::Done; ++i) {
      status = static_cast<RunStatus>(run_library(this, static_cast<int64_t>(i)));
      tell_step(this, state_.code.library_steps[i].instruction.value);
    }
  }
  if (status == RunStatus::Failed)
    return std::unexpected(error_ ? std::move(*error_) : memory_error(std::bad_alloc()));
  return may_go_on(interrupt);
}

Result<void> DeviceRun::run_in(std::span<std::byte* const> places, int32_t (*code)(RunContext*)) {
  memory_.pointers.assign(places.begin(), places.end());
  memory = memory_.pointers.data();
  return run_code(code);
}

Result<void> DeviceRun::run_on(std::span<const Literal> arguments) {
  try {
    take_memory(arguments);
  } catch (const std::bad_alloc& error) {
    return fail(ErrorKind::Memory, "a run needs {} bytes: {}", state_.report.run_bytes,
                memory_error(error).message);
  }
  return run_code(state_.code.run);
}

Result<Literal> DeviceRun::run(std::span<const Literal> arguments) {
  HILO_DO(run_on(arguments));
  return within_memory([&] -> Result<Literal> {
    size_t leaf = 0;
    return result(state_.module.shape(state_.module[state_.module.entry].root), leaf);
  });
}

// One of dynamic size needs its sizes; all others have a shape that is made once.
Literal DeviceRun::leaf_at(const Shape& shape, size_t leaf) const {
  const Address address = state_.code.results[leaf];
  const Bytes* owner = shape.is_array() ? &memory_.owners[address.allocation] : nullptr;
  if (!owner || !*owner || shape.has_dynamic_dims()) {
    size_t at = leaf;
    return result(shape, at);
  }
  return Literal::uninitialized(
      state_.leaves[leaf], [&](int64_t) { return Bytes(*owner, owner->get() + address.offset); });
}

Result<std::vector<Literal>> DeviceRun::run_leaves(std::span<const Literal> arguments) {
  HILO_DO(run_on(arguments));
  return within_memory([&] -> Result<std::vector<Literal>> {
    std::vector<Literal> out;
    out.reserve(state_.leaves.size());
    for (size_t i = 0; i < state_.leaves.size(); ++i) out.push_back(leaf_at(*state_.leaves[i], i));
    return out;
  });
}

}  // namespace hilo
