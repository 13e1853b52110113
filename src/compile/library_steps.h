// Steps that run in the evaluator, one instruction at a time. Private to `compile`.
#pragma once

#include <map>

#include "emit/emit.h"
#include "eval/eval.h"

namespace hilo {

// What one device's arrays lie in during a call of the program.
struct DeviceMemory {
  std::vector<Bytes> owners;         // by allocation
  std::vector<std::byte*> pointers;  // the same
  // Sizes of arrays with dynamic dimensions now, by allocation and offset; absent: at the bound.
  // Every step that writes such an array runs here.
  std::map<std::pair<uint32_t, int64_t>, Dims> sizes;
};

// The array of this shape in memory that another owns. `owner` keeps an op from writing over it.
Literal view_of(const Shape& shape, Address address, const DeviceMemory& memory, Bytes owner);

// Unsupported where a step of the entry, which every run comes to, is a custom call that is neither
// known nor supplied.
Result<void> check_custom_calls(const Module& module, std::span<const LibraryStep> steps,
                                const EvalOptions& options);
// Whether the step is one of known_custom_calls(), or no custom call.
bool is_known(const Module& module, InstructionId id);

// Reads the operands of the step and writes its results.
Result<void> run_library_step(const Module& module, const LibraryStep& step, DeviceMemory& memory,
                              VirtualDevices& devices, int64_t device);

}  // namespace hilo
