#include <sys/resource.h>

#include "base/base.h"

namespace hilo {
namespace {

// "; this process may have 2147483648 bytes (ulimit -v)", or nothing.
std::string address_space_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  return fmt::format("; this process may have {} bytes (ulimit -v)", limit.rlim_cur);
}

}  // namespace

Error memory_error(const std::bad_alloc& error) {
  const auto* known = dynamic_cast<const OutOfMemory*>(&error);
  try {
    const std::string asked =
        known ? fmt::format("{} bytes more were", known->bytes()) : "more memory was";
    return {
        ErrorKind::Memory,
        fmt::format("{} asked for, which the system does not give{}", asked, address_space_limit()),
        {}};
  } catch (const std::bad_alloc&) {
    return {ErrorKind::Memory, "out of memory", {}};  // so short that it takes none
  }
}

Error thread_error(int64_t threads) {
  return {ErrorKind::Memory,
          fmt::format("{} threads are needed, which the system does not give{}", threads,
                      address_space_limit()),
          {}};
}

}  // namespace hilo
