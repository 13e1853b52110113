#include <algorithm>
#include <mutex>

#include "pjrt/error.h"
#include "pjrt/extension_tables.h"
#include "pjrt/ffi.h"
#include "pjrt/functions.h"

namespace hilo::pjrt {
namespace {

constexpr std::string_view platforms[] = {"Host", "host", "cpu", "CPU"};

struct Registry {
  std::mutex mutex;
  std::map<std::string, XLA_FFI_Handler_Bundle, std::less<>> handlers;
  std::map<std::string, int64_t, std::less<>> types;
  std::map<int64_t, StateDeleter> deleters;  // by type
};

Registry& registry() {
  static auto* const out = new Registry;  // handlers may be called while the process ends
  return *out;
}

// By the evaluator itself. It calls a LAPACK of the system's, and where there is none the client's
// own functions do.
bool is_known(std::string_view target) {
  const CustomCallInfo* known = find_custom_call(target);
  return known && (known->family != "lapack" || has_lapack());
}

PJRT_Error* type_register(PJRT_FFI_Type_Register_Args* args) {
  return answer([&] -> Result<void> {
    HILO_TRY(args->type_id,
             register_type(text(args->type_name, args->type_name_size), args->type_id,
                           knows(args, &PJRT_FFI_Type_Register_Args::type_info) && args->type_info
                               ? args->type_info->deleter
                               : nullptr));
    return {};
  });
}

PJRT_Error* user_data_add(PJRT_FFI_UserData_Add_Args* args) {
  return answer([&] -> Result<void> {
    if (!args->context) return fail(ErrorKind::Input, "no context to add user data to");
    args->context->user_data[args->user_data.type_id] = args->user_data.data;
    return {};
  });
}

PJRT_Error* add_handler(PJRT_FFI_Register_Handler_Args* args) {
  return answer([&] {
    return register_handler(text(args->target_name, args->target_name_size),
                            text(args->platform_name, args->platform_name_size),
                            {.execute = reinterpret_cast<XLA_FFI_Handler>(args->handler)});
  });
}

}  // namespace

PJRT_FFI_Extension ffi_extension = {{sizeof(PJRT_FFI_Extension), PJRT_Extension_Type_FFI, nullptr},
                                    type_register,
                                    user_data_add,
                                    add_handler};

Result<void> register_handler(std::string_view name, std::string_view platform,
                              const XLA_FFI_Handler_Bundle& handlers) {
  if (std::ranges::count(platforms, platform) == 0)
    return fail(ErrorKind::Input, "custom call '{}': a CPU is no platform '{}'", name, platform);
  if (!handlers.execute) return fail(ErrorKind::Input, "custom call '{}' has no function", name);
  for (const XLA_FFI_Handler handler :
       {handlers.instantiate, handlers.prepare, handlers.initialize, handlers.execute})
    if (handler) HILO_DO(check_version(name, handler));
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto [known, is_new] = all.handlers.emplace(name, handlers);
  if (!is_new && known->second != handlers)
    return fail(ErrorKind::Input, "custom call '{}' is registered with another function", name);
  return {};
}

Result<int64_t> register_type(std::string_view name, int64_t wanted, StateDeleter deleter) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (const auto found = all.types.find(name); found != all.types.end()) {
    if (wanted != 0 && wanted != found->second)
      return fail(ErrorKind::Input, "type '{}' has the id {}, not {}", name, found->second, wanted);
    return found->second;
  }
  if (all.deleters.contains(wanted))
    return fail(ErrorKind::Input, "type '{}' wants the id {}, which another has", name, wanted);
  int64_t id = wanted;
  while (id == 0 || all.deleters.contains(id)) ++id;
  all.types.emplace(name, id);
  all.deleters.emplace(id, deleter);
  return id;
}

StateDeleter deleter_of(int64_t type) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.deleters.find(type);
  return found == all.deleters.end() ? nullptr : found->second;
}

// The handlers of a target that the evaluator does not know.
static std::optional<XLA_FFI_Handler_Bundle> handlers_of(std::string_view target) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.handlers.find(target);
  if (found == all.handlers.end() || is_known(target)) return std::nullopt;
  return found->second;
}

Result<UserCalls> name_user_calls(Module& module) {
  UserCalls out;
  for (uint32_t i = 0; i < module.instructions.size(); ++i) {
    const InstructionId id{i};
    if (module[id].removed || module[id].op != Op::CustomCall) continue;
    std::string& target = module.mutable_attributes<CustomCallAttributes>(id).custom_call_target;
    const auto handlers = handlers_of(target);
    if (!handlers) continue;
    UserCall call{layouts_of(module, id), *handlers, {}};
    target = name_of(call.layouts);
    if (handlers->instantiate) {
      target += fmt::format("#{}", i);
      HILO_DO(
          instantiate(handlers->instantiate, module.extra(module[id]).backend_config, call.states));
    }
    out.emplace(target, std::move(call));
  }
  return out;
}

namespace {

// A call in one run, which its devices may do at once.
class RunningCall {
 public:
  RunningCall(const UserCall& call, const PJRT_ExecuteContext* context)
      : handlers_(call.handlers), states_(call.states), context_(context) {}

  Result<void> run(const CustomCallArguments& call) {
    std::call_once(is_prepared_, [&] { prepared_ = prepare(call); });
    if (!prepared_) return prepared_;
    FfiStates states = states_;
    return call_handler(handlers_.execute, XLA_FFI_ExecutionStage_EXECUTE, call, context_, states);
  }

 private:
  Result<void> prepare(const CustomCallArguments& call) {
    if (handlers_.prepare)
      HILO_DO(
          call_handler(handlers_.prepare, XLA_FFI_ExecutionStage_PREPARE, call, context_, states_));
    if (handlers_.initialize)
      HILO_DO(call_handler(handlers_.initialize, XLA_FFI_ExecutionStage_INITIALIZE, call, context_,
                           states_));
    return {};
  }

  XLA_FFI_Handler_Bundle handlers_;
  FfiStates states_;
  const PJRT_ExecuteContext* context_;
  std::once_flag is_prepared_;
  Result<void> prepared_;
};

}  // namespace

std::map<std::string, CustomCallFunction> functions_of(const UserCalls& calls,
                                                       const PJRT_ExecuteContext* context) {
  std::map<std::string, CustomCallFunction> out;
  for (const auto& [name, call] : calls) {
    CustomCallFunction function = [running = std::make_shared<RunningCall>(call, context)](
                                      const CustomCallArguments& arguments) {
      return running->run(arguments);
    };
    out[name] = call.layouts.are_plain() ? std::move(function)
                                         : in_layouts(std::move(function), call.layouts);
  }
  return out;
}

PJRT_Error* ExecuteContext_Create(PJRT_ExecuteContext_Create_Args* args) {
  return answer([&] -> Result<void> {
    args->context = new PJRT_ExecuteContext;
    return {};
  });
}

PJRT_Error* ExecuteContext_Destroy(PJRT_ExecuteContext_Destroy_Args* args) {
  delete args->context;
  return nullptr;
}

}  // namespace hilo::pjrt
