#include "compile/compile.h"

#include <chrono>

#include "compile/executable.h"

namespace hilo {
namespace {

template <class Body>
auto timed(double& seconds, Body&& body) {
  const auto start = std::chrono::steady_clock::now();
  auto out = body();
  seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

void count_memory(const std::vector<MemoryPiece>& memory, CompileReport& report) {
  for (const MemoryPiece& piece : memory) {
    if (piece.source == MemorySource::None || piece.source == MemorySource::Constant) continue;
    if (__builtin_add_overflow(report.run_bytes, piece.bytes, &report.run_bytes))
      report.run_bytes = INT64_MAX;
    if (piece.source == MemorySource::Temporary) report.temp_bytes += piece.bytes;
  }
}

}  // namespace

Result<Executable> compile(Module module, const Target& target, const CompileOptions& options) {
  CompileReport report;
  const Machine& machine = *target.machine();
  HILO_DO(timed(report.prepare_seconds, [&] { return target.prepare(module, machine); }));
  auto state = std::make_shared<ExecutableState>(std::move(module), options.threads);
  HILO_TRY(const Plan planned,
           timed(report.plan_seconds, [&] { return plan(state->module, machine); }));
  EmitOptions emit = options.emit;
  if (emit.threads == 0) emit.threads = options.threads;
  HILO_TRY(state->code, target.emit(state->module, planned, emit));
  EvalOptions eval = options.eval;
  eval.threads = options.threads;
  state->library = std::make_unique<LibrarySteps>(state->module, state->code.library_steps, eval);
  state->memory = find_memory(state->module, planned, state->code);
  report.lower_seconds = state->code.lower_seconds;
  report.optimise_seconds = state->code.optimise_seconds;
  report.machine_seconds = state->code.machine_seconds;
  report.kernels = state->code.kernels;
  count_memory(state->memory, report);
  for (const LibraryStep& step : state->code.library_steps)
    report.evaluated.push_back({step.instruction, step.reason});
  state->report = std::move(report);
  Executable out;
  out.state_ = std::move(state);
  return out;
}

}  // namespace hilo
