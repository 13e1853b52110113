// Functions of the user's behind custom calls: who is registered, and what a run hands to them.
// Private to `pjrt`.
#pragma once

#include <map>

#include "compile/compile.h"
#include "pjrt/ffi_abi.h"
#include "pjrt/ffi_layouts.h"

// What a client attaches to a run.
struct PJRT_ExecuteContext {
  std::map<int64_t, void*> user_data;  // by type
};

namespace hilo::pjrt {

// Clients register for the process, without naming a client: the interface's only global state.
// Input where a name is taken by another function, or the handler wants another version.
Result<void> register_handler(std::string_view name, std::string_view platform,
                              XLA_FFI_Handler handler);
// The same number for the same name; `wanted` 0: a new one.
Result<int64_t> register_type(std::string_view name, int64_t wanted);

// For each registered function that the evaluator has none of its own for, over what a client has
// attached to the run, and for each of these calls of them; `context` may be null.
std::map<std::string, CustomCallFunction> registered_calls(const PJRT_ExecuteContext* context,
                                                           const LaidOutCalls& laid_out = {});

// Calls a handler with the values of a custom call.
Result<void> call_handler(XLA_FFI_Handler handler, const CustomCallArguments& call,
                          const PJRT_ExecuteContext* context);
// Asks a handler which version of the interface it was written for.
Result<void> check_version(std::string_view name, XLA_FFI_Handler handler);

}  // namespace hilo::pjrt
