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
  std::map<std::string, XLA_FFI_Handler, std::less<>> handlers;
  std::map<std::string, int64_t, std::less<>> types;
  int64_t last_type = 0;
};

Registry& registry() {
  static auto* const out = new Registry;  // handlers may be called while the process ends
  return *out;
}

// By the evaluator itself. It calls a LAPACK of the system's, and where there is none the client's
// own functions do.
bool is_known(std::string_view target) {
  const auto known = known_custom_calls();
  const auto found = std::ranges::find(known, target, &CustomCallInfo::target);
  return found != known.end() && (found->family != "lapack" || has_lapack());
}

PJRT_Error* type_register(PJRT_FFI_Type_Register_Args* args) {
  return answer([&] -> Result<void> {
    HILO_TRY(args->type_id,
             register_type(text(args->type_name, args->type_name_size), args->type_id));
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
                            reinterpret_cast<XLA_FFI_Handler>(args->handler));
  });
}

}  // namespace

PJRT_FFI_Extension ffi_extension = {{sizeof(PJRT_FFI_Extension), PJRT_Extension_Type_FFI, nullptr},
                                    type_register,
                                    user_data_add,
                                    add_handler};

Result<void> register_handler(std::string_view name, std::string_view platform,
                              XLA_FFI_Handler handler) {
  if (std::ranges::count(platforms, platform) == 0)
    return fail(ErrorKind::Input, "custom call '{}': a CPU is no platform '{}'", name, platform);
  if (!handler) return fail(ErrorKind::Input, "custom call '{}' has no function", name);
  HILO_DO(check_version(name, handler));
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto [place, is_new] = all.handlers.emplace(name, handler);
  if (!is_new && place->second != handler)
    return fail(ErrorKind::Input, "custom call '{}' is registered with another function", name);
  return {};
}

Result<int64_t> register_type(std::string_view name, int64_t wanted) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (const auto found = all.types.find(name); found != all.types.end()) {
    if (wanted != 0 && wanted != found->second)
      return fail(ErrorKind::Input, "type '{}' has the id {}, not {}", name, found->second, wanted);
    return found->second;
  }
  const int64_t id = wanted != 0 ? wanted : ++all.last_type;
  all.types.emplace(name, id);
  return id;
}

UserCalls name_user_calls(Module& module) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  UserCalls out;
  for (uint32_t i = 0; i < module.instructions.size(); ++i) {
    const InstructionId id{i};
    if (module[id].removed || module[id].op != Op::CustomCall) continue;
    std::string& target = module.mutable_attributes<CustomCallAttributes>(id).custom_call_target;
    if (!all.handlers.contains(target) || is_known(target)) continue;
    CallLayouts layouts = layouts_of(module, id);
    target = name_of(layouts);
    out.emplace(target, std::move(layouts));
  }
  return out;
}

std::map<std::string, CustomCallFunction> functions_of(const UserCalls& calls,
                                                       const PJRT_ExecuteContext* context) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::map<std::string, CustomCallFunction> out;
  for (const auto& [name, layouts] : calls) {
    const XLA_FFI_Handler handler = all.handlers.at(layouts.target);  // none is ever taken out
    CustomCallFunction function = [handler, context](const CustomCallArguments& call) {
      return call_handler(handler, call, context);
    };
    out[name] =
        layouts.are_plain() ? std::move(function) : in_layouts(std::move(function), layouts);
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
