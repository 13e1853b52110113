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

// The calls of a program's that registered functions answer, where the evaluator has none of its
// own, by the targets that they have then: passes put every array row by row, so that calls with
// layouts are of functions of their own, named by them.
using UserCalls = std::map<std::string, CallLayouts>;
UserCalls name_user_calls(Module& module);
// Their functions, over what a client has attached to a run; `context` may be null.
std::map<std::string, CustomCallFunction> functions_of(const UserCalls& calls,
                                                       const PJRT_ExecuteContext* context);

// Calls a handler with the values of a custom call.
Result<void> call_handler(XLA_FFI_Handler handler, const CustomCallArguments& call,
                          const PJRT_ExecuteContext* context);
// Asks a handler which version of the interface it was written for.
Result<void> check_version(std::string_view name, XLA_FFI_Handler handler);

}  // namespace hilo::pjrt
