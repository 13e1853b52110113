// What object files with steps of Hilo's call: libhilo_run.so, which has neither LLVM nor passes.
#include <atomic>
#include <cstring>
#include <memory>
#include <new>

#include "compile/executable.h"
#include "compile/object_steps.h"

namespace hilo {
namespace {

Result<std::unique_ptr<ExecutableState>> prepare(std::string_view text) {
  HILO_TRY(ObjectSteps read, read_steps(text));
  auto out = std::make_unique<ExecutableState>(std::move(read.module),
                                               std::make_shared<HostDevice>(read.threads));
  out->code.library_steps = std::move(read.steps);
  out->eval.threads = read.threads;
  out->routines = find_routines(out->module, out->code.library_steps, out->eval);
  return out;
}

// The object's state, made by the first call; of several first calls one keeps what it made.
Result<const ExecutableState*> state_of(std::string_view text,
                                        std::atomic<ExecutableState*>& kept) {
  if (const ExecutableState* state = kept.load(std::memory_order_acquire)) return state;
  HILO_TRY(std::unique_ptr<ExecutableState> made, prepare(text));
  ExecutableState* other = nullptr;
  if (kept.compare_exchange_strong(other, made.get())) return made.release();
  return other;
}

Result<void> run(std::string_view text, std::atomic<ExecutableState*>& kept,
                 int32_t (*code)(RunContext*), std::byte* const* memory, int64_t allocations) {
  HILO_TRY(const ExecutableState* state, state_of(text, kept));
  static constexpr std::atomic<bool> never = false;
  const RunOptions options;
  RunDevices devices(*state, options, never);
  return DeviceRun(*state, devices, 0, never, options)
      .run_in({memory, static_cast<size_t>(allocations)}, code);
}

constexpr size_t message_bytes = 512;  // of the workspace; emit/standalone.cpp leaves so many

void tell(char* message, std::string_view text) {
  const size_t bytes = std::min(text.size(), message_bytes - 1);
  std::memcpy(message, text.data(), bytes);
  message[bytes] = '\0';
}

}  // namespace
}  // namespace hilo

// Runs `code` over `memory`, a pointer for each allocation. `text` is that of text_of_steps();
// `state` belongs to it and is null before the first call. Other than 0: the steps failed, and
// `message` says why. The number is that of the interface.
extern "C" [[gnu::visibility("default")]] int32_t hilo_run_object_2(
    const char* text, int64_t bytes, void** state, int32_t (*code)(hilo::RunContext*),
    std::byte* const* memory, int64_t allocations, char* message) {
  static_assert(sizeof(std::atomic<hilo::ExecutableState*>) == sizeof(void*));
  try {
    const auto done = hilo::run({text, static_cast<size_t>(bytes)},
                                *reinterpret_cast<std::atomic<hilo::ExecutableState*>*>(state),
                                code, memory, allocations);
    if (done) return static_cast<int32_t>(hilo::RunStatus::Done);
    hilo::tell(message, done.error().message);
  } catch (const std::bad_alloc&) {
    hilo::tell(message, "a step needs more memory than this machine has");
  }
  return static_cast<int32_t>(hilo::RunStatus::Failed);
}
