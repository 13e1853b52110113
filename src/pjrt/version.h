// What is stated about this build. Private to `pjrt`.
#pragma once

#include <string_view>

namespace hilo::pjrt {

#ifdef HILO_VERSION
constexpr std::string_view version = HILO_VERSION;
#else
constexpr std::string_view version = "unversioned";
#endif

}  // namespace hilo::pjrt
