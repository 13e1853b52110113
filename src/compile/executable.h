// What an Executable keeps, and a call of it. Private to `compile`.
#pragma once

#include "compile/compile.h"
#include "compile/routine_steps.h"

namespace hilo {

struct ExecutableState {
  Module module;
  Code code;
  std::vector<RoutineStep> routines;  // by library step
  EvalOptions eval;                   // of library steps
  int64_t devices = 1;                // that have inputs and outputs
  bool runs_alone = true;             // one device, which meets no other here or elsewhere
  std::shared_ptr<HostDevice> device;
  CompileReport report;
  int64_t taken_bytes = 0;          // by a run, on all devices, beside its arguments
  std::vector<SharedShape> leaves;  // of the result, dense and row-major

  ExecutableState(Module module, std::shared_ptr<HostDevice> device)
      : module(std::move(module)), device(std::move(device)) {}
};

// Temporaries that lie in the frame of a run, on the stack: the first ones of the code's memory
// that fit, so that small programs take no memory.
class RunFrame {
 public:
  static constexpr int64_t bytes = 4096, alignment = 64;
  // Where the next piece lies in it, if it does.
  std::optional<int64_t> place(const MemoryPiece& piece) {
    if (piece.source != MemorySource::Temporary || piece.bytes > bytes - taken_)
      return std::nullopt;
    const int64_t at = taken_;
    taken_ += (piece.bytes + alignment - 1) / alignment * alignment;
    return at;
  }

 private:
  int64_t taken_ = 0;
};

// The virtual devices of a call, for the steps that the evaluator does.
class RunDevices {
 public:
  // Those that all devices of the call share.
  explicit RunDevices(VirtualDevices& shared) : devices_(&shared) {}
  // Of a program that runs alone: made when the evaluator is first asked. To make them is a walk
  // over the module, and what is left to the evaluator often stands in branches that are not taken.
  RunDevices(const ExecutableState& state, const RunOptions& options,
             const std::atomic<bool>& interrupt)
      : state_(&state), options_(&options), interrupt_(&interrupt) {}
  VirtualDevices& get();

 private:
  VirtualDevices* devices_ = nullptr;
  const ExecutableState* state_ = nullptr;
  const RunOptions* options_ = nullptr;
  const std::atomic<bool>* interrupt_ = nullptr;
  std::optional<EvalOptions> eval_;
  std::optional<VirtualDevices> made_;
};

// A call of the program on one device.
class DeviceRun : private RunContext {
 public:
  DeviceRun(const ExecutableState& state, RunDevices& devices, int64_t device,
            const std::atomic<bool>& interrupt, const RunOptions& options);
  Result<Literal> run(std::span<const Literal> arguments);
  Result<std::vector<Literal>> run_leaves(std::span<const Literal> arguments);
  // `code`, over memory that the caller has for each allocation.
  Result<void> run_in(std::span<std::byte* const> memory, int32_t (*code)(RunContext*));

 private:
  void in_chunks(int64_t count, int64_t grain,
                 const std::function<void(int64_t begin, int64_t end)>& body) const;
  static void run_parallel(RunContext* context, TileFunction body, void* const* arguments,
                           int64_t count, int64_t max_chunk, double serial_seconds);
  static int32_t run_library(RunContext* context, int64_t number);
  Result<void> do_library_step(size_t number);
  template <class Body>
  int32_t status_of(Body&& body);
  Parallel in_chunks() const;
  static int32_t run_in_parts(RunContext* context, int64_t number, TileFunction then,
                              void* const* arguments, int64_t count, int64_t rows, int64_t width);
  static void tell_step(RunContext* context, int64_t instruction);
  void take_memory(std::span<const Literal> arguments);
  Result<void> run_code(int32_t (*code)(RunContext*));
  Result<void> run_on(std::span<const Literal> arguments);
  Literal result(const Shape& shape, size_t& leaf) const;
  Literal leaf_at(const Shape& shape, size_t leaf) const;

  const ExecutableState& state_;
  RunDevices& devices_;
  int64_t device_;
  const RunOptions& options_;
  DeviceMemory memory_;
  std::optional<Error> error_;
  alignas(RunFrame::alignment) std::array<std::byte, RunFrame::bytes> frame_;  // not initialised
};

}  // namespace hilo
