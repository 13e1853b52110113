// Functions of the user's behind custom calls: who is registered, and what a run hands to them.
// Private to `pjrt`.
#pragma once

#include <array>
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
// Input where a name is taken by other functions, or a handler wants another version.
Result<void> register_handler(std::string_view name, std::string_view platform,
                              const XLA_FFI_Handler_Bundle& handlers);
// The same number for the same name; `wanted` 0: a new one. `deleter` ends a state of the type; may
// be null.
using StateDeleter = void (*)(void* state);
Result<int64_t> register_type(std::string_view name, int64_t wanted, StateDeleter deleter);
StateDeleter deleter_of(int64_t type);  // null for none

// What handlers have left for later ones, by stage.
struct FfiState {
  int64_t type = 0;
  std::shared_ptr<void> value;
};
using FfiStates = std::array<FfiState, XLA_FFI_ExecutionStage_EXECUTE>;

// A call of a program's that registered functions answer.
struct UserCall {
  CallLayouts layouts;
  XLA_FFI_Handler_Bundle handlers;
  FfiStates states;  // of the first stage
};
// Where the evaluator has no function of its own, by the targets that they have then: passes put
// every array row by row, so that calls with layouts are of functions of their own, named by them;
// and so are calls with a state, each of which has its own.
using UserCalls = std::map<std::string, UserCall>;
// With the first stage of their handlers done; its error where it fails.
Result<UserCalls> name_user_calls(Module& module);
// Their functions for one run, over what a client has attached to it; `context` may be null.
std::map<std::string, CustomCallFunction> functions_of(const UserCalls& calls,
                                                       const PJRT_ExecuteContext* context);

// Calls a handler with the values of a custom call; it may read and set states.
Result<void> call_handler(XLA_FFI_Handler handler, XLA_FFI_ExecutionStage stage,
                          const CustomCallArguments& call, const PJRT_ExecuteContext* context,
                          FfiStates& states);
// The first stage, which sees the attributes alone.
Result<void> instantiate(XLA_FFI_Handler handler, std::string_view attributes, FfiStates& states);
// Asks a handler which version of the interface it was written for.
Result<void> check_version(std::string_view name, XLA_FFI_Handler handler);

}  // namespace hilo::pjrt
