// The table: every position filled, for clients call without looking.
#include "pjrt/error.h"
#include "pjrt/extensions.h"
#include "pjrt/functions.h"
#include "pjrt/pjrt.h"

namespace hilo::pjrt {
namespace {

// The version whose structs are known here: what is newer is added behind.
constexpr int32_t minor_version = 112;

template <class Args, class Value>
bool is_given(const Args* args, Value* Args::* field) {
  return knows(args, field) && args->*field;
}

PJRT_Error* refuse(std::string_view function, std::string_view field) {
  return make_error(PJRT_Error_Code_INVALID_ARGUMENT,
                    fmt::format("{}: {} is null", function, field));
}

#define FIELD(type, name)
#define REQUIRED(type, name) \
  if (!is_given(args, &Args::name)) return refuse(function_name, #name);
#define FUNCTION(function, fields)                                \
  PJRT_Error* checked_##function(PJRT_##function##_Args* args) {  \
    using Args [[maybe_unused]] = PJRT_##function##_Args;         \
    constexpr std::string_view function_name = "PJRT_" #function; \
    if (!args) return refuse(function_name, "args");              \
    fields return function(args);                                 \
  }
#define VOID_FUNCTION(function, fields)
#define ABSENT(function)                                                                       \
  PJRT_Error* function(PJRT_##function##_Args*) {                                              \
    return make_error(PJRT_Error_Code_UNIMPLEMENTED, "PJRT_" #function " is not implemented"); \
  }
#include "pjrt/functions.def"
#undef FUNCTION
#undef VOID_FUNCTION
#undef ABSENT
#undef FIELD
#undef REQUIRED

constexpr PJRT_Api make_table(PJRT_Extension_Base* extensions) {
  return {
      sizeof(PJRT_Api),
      extensions,
      {HILO_STRUCT_SIZE(PJRT_Api_Version, minor_version), nullptr, 0, minor_version},
#define FUNCTION(function, fields) checked_##function,
#define VOID_FUNCTION(function, fields) function,
#define ABSENT(function) function,
#include "pjrt/functions.def"
#undef FUNCTION
#undef VOID_FUNCTION
#undef ABSENT
  };
}

}  // namespace
}  // namespace hilo::pjrt

extern "C" [[gnu::visibility("default")]] const PJRT_Api* GetPjrtApi() {
  static const PJRT_Api table = hilo::pjrt::make_table(hilo::pjrt::extensions());
  return &table;
}
