#include "target/open_emitter.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>

namespace hilo {
namespace {

// The name of the shared object that holds the room `emit` with LLVM, and the variable of the
// environment that says where it is.
constexpr const char* library_name = "libhilo_emit.so";
constexpr const char* variable = "HILO_EMIT";

// Where the user says; where Hilo's libraries are; where the loader looks.
std::vector<std::string> paths() {
  if (const char* said = std::getenv(variable); said && *said) return {said};
  std::vector<std::string> out;
  for (std::string& path : library_paths(library_name))
    if (std::filesystem::exists(path)) out.push_back(std::move(path));
  out.push_back(library_name);
  return out;
}

// Whether the shared object finds memory for itself, and as much again for what its constructors
// take: where they find none the process ends, for dlopen() lets no exception pass.
Result<void> check_room(const std::string& path) {
  std::error_code error;
  const auto file = std::filesystem::file_size(path, error);
  if (error) return {};
  const size_t bytes = 2 * static_cast<size_t>(file);
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* room = mmap(nullptr, bytes, PROT_NONE, flags, -1, 0);
  if (room == MAP_FAILED)
    return std::unexpected(memory_error(OutOfMemory(static_cast<int64_t>(bytes))));
  munmap(room, bytes);
  return {};
}

Result<Emitter> open_emitter() {
  std::string reasons;
  for (const std::string& path : paths()) {
    HILO_DO(check_room(path));
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      void* emit = dlsym(library, "hilo_emit");
      void* find_registers = dlsym(library, "hilo_find_registers");
      void* open = dlsym(library, "hilo_open_emitter");
      if (emit && find_registers && open)
        return Emitter{reinterpret_cast<decltype(Emitter::emit)>(emit),
                       reinterpret_cast<decltype(Emitter::find_registers)>(find_registers),
                       reinterpret_cast<decltype(Emitter::open)>(open)};
    }
    const char* reason = dlerror();
    reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", reason ? reason : path);
  }
  return fail(
      ErrorKind::Unsupported,
      "device cpu: {} cannot be opened: {}; set {} to its path (an installation of Hilo has "
      "it in lib/hilo)",
      library_name, reasons, variable);
}

}  // namespace

Result<Emitter> find_emitter() {
  static std::mutex mutex;
  static std::optional<Emitter> opened;
  const std::lock_guard lock(mutex);
  if (!opened) {
    HILO_TRY(opened, open_emitter());
  }
  return *opened;
}

}  // namespace hilo
