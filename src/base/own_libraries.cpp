#include "base/own_libraries.h"

#include <dlfcn.h>

#include <filesystem>

namespace hilo {
namespace {

namespace fs = std::filesystem;

// The folder of the program or shared object that this code was linked into.
fs::path own_folder() {
  Dl_info info{};
  std::error_code error;
  const bool is_known = dladdr(reinterpret_cast<const void*>(&own_folder), &info) != 0;
  const bool is_shared = is_known && std::string_view(info.dli_fname).contains(".so");
  // A program's name is the word that it was called by.
  const fs::path file =
      is_shared ? fs::canonical(info.dli_fname, error) : fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : file.parent_path();
}

}  // namespace

std::vector<std::string> library_paths(std::string_view file) {
  const fs::path own = own_folder();
  if (own.empty()) return {};
  const fs::path libraries = own / ".." / HILO_LIBRARIES;
  std::vector<std::string> out;
  for (const fs::path& folder : {own, own / "..", own / "hilo", libraries, libraries / "hilo"})
    out.push_back((folder / file).lexically_normal());
  return out;
}

}  // namespace hilo
