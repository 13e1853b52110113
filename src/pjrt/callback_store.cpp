#include "pjrt/callback_store.h"

#include <memory>

namespace hilo::pjrt {
namespace {

// By which a callback makes an error of ours.
PJRT_Error* error_of_callback(PJRT_Error_Code code, const char* message, size_t size) {
  return make_error(code, std::string(text(message, size)));
}
PJRT_CallbackError make_callback_error = error_of_callback;

Result<void> taken(PJRT_Error* error, const std::string& key) {
  if (!error) return {};
  const std::unique_ptr<PJRT_Error> owned(error);
  return fail(ErrorKind::Io, "{}: {}", key, owned->message);
}

template <class Args>
std::string taken(const Args& args) {
  std::string out(text(args.value, args.value_size));
  if (args.value_deleter_callback) args.value_deleter_callback(args.value);
  return out;
}

}  // namespace

Result<void> CallbackStore::put(const std::string& key, const std::string& value) {
  using Args = PJRT_KeyValuePutCallback_Args;
  Args args = {HILO_STRUCT_SIZE(Args, user_arg),
               nullptr,
               key.data(),
               key.size(),
               value.data(),
               value.size(),
               &make_callback_error,
               args_.kv_put_user_arg};
  return taken(args_.kv_put_callback(&args), key);
}

Result<std::string> CallbackStore::get(const std::string& key, double timeout_s) {
  const bool can_try =
      knows(&args_, &PJRT_Client_Create_Args::kv_try_get_user_arg) && args_.kv_try_get_callback;
  if (timeout_s <= 0 && can_try) return try_get(key);
  using Args = PJRT_KeyValueGetCallback_Args;
  Args args = {};
  args.struct_size = HILO_STRUCT_SIZE(Args, value_deleter_callback);
  args.key = key.data();
  args.key_size = key.size();
  args.timeout_in_ms = static_cast<int>(timeout_s * 1000);
  args.callback_error = &make_callback_error;
  args.user_arg = args_.kv_get_user_arg;
  HILO_DO(taken(args_.kv_get_callback(&args), key));
  return taken(args);
}

Result<std::string> CallbackStore::try_get(const std::string& key) {
  using Args = PJRT_KeyValueTryGetCallback_Args;
  Args args = {};
  args.struct_size = HILO_STRUCT_SIZE(Args, value_deleter_callback);
  args.key = key.data();
  args.key_size = key.size();
  args.callback_error = &make_callback_error;
  args.user_arg = args_.kv_try_get_user_arg;
  HILO_DO(taken(args_.kv_try_get_callback(&args), key));
  return taken(args);
}

}  // namespace hilo::pjrt
