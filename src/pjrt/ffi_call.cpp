// A call of a handler: the frame that it sees, and what it may ask for meanwhile.
#include <cstring>

#include "pjrt/buffer.h"
#include "pjrt/error.h"
#include "pjrt/ffi.h"
#include "pjrt/ffi_attributes.h"

struct XLA_FFI_Error {
  PJRT_Error_Code code;
  std::string message;
};

// A run, seen by a handler.
struct XLA_FFI_ExecutionContext {
  const PJRT_ExecuteContext* attached;  // may be null
  hilo::pjrt::FfiStates& states;
};

// What a handler that does not wait fills when it is done.
struct XLA_FFI_Future {
  hilo::Event event = hilo::Event::pending();
};

namespace hilo::pjrt {
namespace {

using Context = XLA_FFI_ExecutionContext;

XLA_FFI_Error* failed(PJRT_Error_Code code, std::string message) {
  return new XLA_FFI_Error{code, std::move(message)};
}
Error take_error(XLA_FFI_Error* error) {
  const std::unique_ptr<XLA_FFI_Error> owned(error);
  return error_of(owned->code, std::move(owned->message));
}

// The functions behind a handler's table.
XLA_FFI_Error* Error_Create(XLA_FFI_Error_Create_Args* args) {
  return failed(static_cast<PJRT_Error_Code>(args->errc), args->message ? args->message : "");
}
void Error_GetMessage(XLA_FFI_Error_GetMessage_Args* args) {
  args->message = args->error->message.c_str();
}
void Error_Destroy(XLA_FFI_Error_Destroy_Args* args) { delete args->error; }

XLA_FFI_Error* Handler_Register(XLA_FFI_Handler_Register_Args* args) {
  const Result<void> done = register_handler(
      {args->name.ptr, args->name.len}, {args->platform.ptr, args->platform.len}, args->bundle);
  if (done) return nullptr;
  return failed(PJRT_Error_Code_INVALID_ARGUMENT, done.error().message);
}

XLA_FFI_Error* Stream_Get(XLA_FFI_Stream_Get_Args*) {
  return failed(PJRT_Error_Code_UNIMPLEMENTED, "a CPU has no streams");
}

XLA_FFI_Error* Type_Register(XLA_FFI_Type_Register_Args* args) {
  const Result<int64_t> id = register_type({args->name.ptr, args->name.len}, args->type_id->type_id,
                                           args->type_info ? args->type_info->deleter : nullptr);
  if (!id) return failed(PJRT_Error_Code_INVALID_ARGUMENT, id.error().message);
  args->type_id->type_id = *id;
  return nullptr;
}

XLA_FFI_Error* ExecutionContext_Get(XLA_FFI_ExecutionContext_Get_Args* args) {
  const PJRT_ExecuteContext* attached = args->ctx->attached;
  if (attached)
    if (const auto found = attached->user_data.find(args->type_id->type_id);
        found != attached->user_data.end()) {
      args->data = found->second;
      return nullptr;
    }
  return failed(PJRT_Error_Code_NOT_FOUND,
                fmt::format("nothing of type {} is attached to this run", args->type_id->type_id));
}

// The state of a stage; null for what is no stage that has one.
FfiState* state_at(Context& context, XLA_FFI_ExecutionStage stage) {
  return stage < context.states.size() ? &context.states[stage] : nullptr;
}

XLA_FFI_Error* State_Set(XLA_FFI_State_Set_Args* args) {
  FfiState* state = state_at(*args->ctx, args->stage);
  if (!state) return failed(PJRT_Error_Code_INVALID_ARGUMENT, "this stage of a call has no state");
  if (state->value)
    return failed(PJRT_Error_Code_ALREADY_EXISTS, "this stage of a call has a state already");
  const int64_t type = args->type_id->type_id;
  state->type = type;
  state->value = std::shared_ptr<void>(args->state, [deleter = deleter_of(type)](void* at) {
    if (deleter) deleter(at);
  });
  return nullptr;
}
XLA_FFI_Error* State_Get(XLA_FFI_State_Get_Args* args) {
  const FfiState* state = state_at(*args->ctx, args->stage);
  if (!state || !state->value)
    return failed(PJRT_Error_Code_NOT_FOUND,
                  "no handler has set a state in this stage of the call");
  if (state->type != args->type_id->type_id)
    return failed(PJRT_Error_Code_INVALID_ARGUMENT,
                  fmt::format("the state of this stage has type {}, not {}", state->type,
                              args->type_id->type_id));
  args->state = state->value.get();
  return nullptr;
}

XLA_FFI_Error* DeviceMemory_Allocate(XLA_FFI_DeviceMemory_Allocate_Args* args) {
  const size_t alignment = std::max<size_t>(args->alignment, alignof(std::max_align_t));
  const size_t bytes = (args->size + alignment - 1) / alignment * alignment;
  args->data = bytes < args->size ? nullptr : std::aligned_alloc(alignment, bytes);
  if (args->data || args->size == 0) return nullptr;
  return failed(PJRT_Error_Code_RESOURCE_EXHAUSTED,
                fmt::format("no memory of {} bytes for a custom call", args->size));
}
XLA_FFI_Error* DeviceMemory_Free(XLA_FFI_DeviceMemory_Free_Args* args) {
  std::free(args->data);
  return nullptr;
}

// At once: a handler that wants threads is served by its own.
XLA_FFI_Error* ThreadPool_Schedule(XLA_FFI_ThreadPool_Schedule_Args* args) {
  args->task(args->data);
  return nullptr;
}
XLA_FFI_Error* ThreadPool_NumThreads(XLA_FFI_ThreadPool_NumThreads_Args* args) {
  *args->num_threads = 1;
  return nullptr;
}

XLA_FFI_Error* Future_Create(XLA_FFI_Future_Create_Args* args) {
  args->future = new XLA_FFI_Future;
  return nullptr;
}
XLA_FFI_Error* Future_SetAvailable(XLA_FFI_Future_SetAvailable_Args* args) {
  args->future->event.finish();
  return nullptr;
}
XLA_FFI_Error* Future_SetError(XLA_FFI_Future_SetError_Args* args) {
  args->future->event.finish(take_error(args->error));
  return nullptr;
}

XLA_FFI_Error* RunId_Get(XLA_FFI_RunId_Get_Args* args) {
  args->run_id = 0;
  return nullptr;
}
XLA_FFI_Error* DeviceOrdinal_Get(XLA_FFI_DeviceOrdinal_Get_Args* args) {
  args->device_ordinal = 0;
  return nullptr;
}

constexpr int32_t major_version = 0, minor_version = 3;

constexpr XLA_FFI_Api api = {
    sizeof(XLA_FFI_Api),
    nullptr,
    {HILO_STRUCT_SIZE(XLA_FFI_Api_Version, minor_version), nullptr, major_version, minor_version},
    nullptr,
#define FFI_FUNCTION(result, function, fields) function,
#include "pjrt/ffi_functions.def"
#undef FFI_FUNCTION
};

// Arrays as a handler sees them.
class Buffers {
 public:
  void add(const Shape& shape, const std::byte* data) {
    XLA_FFI_Buffer buffer{HILO_STRUCT_SIZE(XLA_FFI_Buffer, dims),
                          nullptr,
                          static_cast<uint32_t>(proto_number(shape.type)),
                          const_cast<std::byte*>(data),
                          shape.rank(),
                          const_cast<int64_t*>(shape.dims.data())};
    buffers_.push_back(buffer);
  }
  XLA_FFI_Args shown() {
    types_.assign(buffers_.size(), XLA_FFI_ArgType_BUFFER);
    pointers_.clear();
    for (XLA_FFI_Buffer& buffer : buffers_) pointers_.push_back(&buffer);
    return {HILO_STRUCT_SIZE(XLA_FFI_Args, args), nullptr, std::ssize(buffers_), types_.data(),
            pointers_.data()};
  }

 private:
  std::vector<XLA_FFI_Buffer> buffers_;
  std::vector<XLA_FFI_ArgType> types_;
  std::vector<void*> pointers_;
};

// Results that stand in place of operands begin with their values.
void fill_aliased(const CustomCallArguments& call) {
  const auto& attributes = call.module->attributes<CustomCallAttributes>(*call.instruction);
  for (const auto& alias : attributes.output_to_operand_aliasing) {
    const size_t result =
        alias.output_index.empty() ? 0 : static_cast<size_t>(alias.output_index[0]);
    const auto operand = static_cast<size_t>(alias.operand);
    if (result >= call.results.size() || operand >= call.operands.size()) continue;
    const auto from = call.operands[operand].raw();
    const auto to = call.results[result].mutable_raw();
    if (from.data() != to.data() && from.size() == to.size()) std::ranges::copy(from, to.begin());
  }
}

// Calls a handler and waits for it.
Result<void> call_and_wait(XLA_FFI_Handler handler, XLA_FFI_ExecutionStage stage, Context& context,
                           Buffers& operands, Buffers& results, std::string_view backend_config) {
  HILO_TRY(const std::unique_ptr<FfiAttributes> attributes, FfiAttributes::parse(backend_config));
  XLA_FFI_CallFrame frame{HILO_STRUCT_SIZE(XLA_FFI_CallFrame, attrs),
                          nullptr,
                          &api,
                          &context,
                          stage,
                          operands.shown(),
                          results.shown(),
                          attributes->attributes(),
                          nullptr};
  if (XLA_FFI_Error* error = handler(&frame)) return std::unexpected(take_error(error));
  if (!frame.future) return {};
  const std::unique_ptr<XLA_FFI_Future> future(frame.future);
  future->event.wait();
  if (const Error* error = future->event.error()) return std::unexpected(*error);
  return {};
}

}  // namespace

Result<void> call_handler(XLA_FFI_Handler handler, XLA_FFI_ExecutionStage stage,
                          const CustomCallArguments& call, const PJRT_ExecuteContext* attached,
                          FfiStates& states) {
  if (stage == XLA_FFI_ExecutionStage_EXECUTE) fill_aliased(call);
  Buffers operands, results;
  for (const Literal& operand : call.operands) operands.add(operand.shape(), operand.raw().data());
  for (Literal& result : call.results)
    results.add(result.shape(), result.shape().is_array() ? result.mutable_raw().data() : nullptr);
  Context context{attached, states};
  HILO_DO(call_and_wait(handler, stage, context, operands, results, call.backend_config));
  for (Literal& result : call.results)
    if (result.shape().is_array()) extend_narrow(result.mutable_raw(), result.type());
  return {};
}

Result<void> instantiate(XLA_FFI_Handler handler, std::string_view attributes, FfiStates& states) {
  Buffers none;
  Context context{nullptr, states};
  return call_and_wait(handler, XLA_FFI_ExecutionStage_INSTANTIATE, context, none, none,
                       attributes);
}

Result<void> check_version(std::string_view name, XLA_FFI_Handler handler) {
  XLA_FFI_Metadata metadata{};
  metadata.struct_size = HILO_STRUCT_SIZE(XLA_FFI_Metadata, state_type_id);
  metadata.api_version.struct_size = HILO_STRUCT_SIZE(XLA_FFI_Api_Version, minor_version);
  XLA_FFI_Metadata_Extension question{
      {sizeof(XLA_FFI_Metadata_Extension), XLA_FFI_Extension_Metadata, nullptr}, &metadata};
  XLA_FFI_CallFrame frame{};
  frame.struct_size = HILO_STRUCT_SIZE(XLA_FFI_CallFrame, attrs);
  frame.extension_start = &question.extension_base;
  frame.api = &api;
  if (XLA_FFI_Error* error = handler(&frame)) return std::unexpected(take_error(error));
  if (metadata.api_version.major_version == major_version) return {};
  return fail(ErrorKind::Unsupported,
              "custom call '{}' is for version {}.{} of XLA's FFI, not {}.{}", name,
              metadata.api_version.major_version, metadata.api_version.minor_version, major_version,
              minor_version);
}

}  // namespace hilo::pjrt
