#include "kernels/kernels.h"

#include <dlfcn.h>

#include <cstdlib>

namespace hilo {
namespace {

std::vector<std::string> library_names() {
  if (const char* said = std::getenv("HILO_LAPACK"); said && *said) return {said};
  return {"libopenblas.so.0", "liblapack.so.3"};
}

void* open_library() {
  for (const std::string& name : library_names())
    if (void* file = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      // One thread, so that the bits do not depend on how many there are.
      if (void* set = dlsym(file, "openblas_set_num_threads"))
        reinterpret_cast<void (*)(int)>(set)(1);
      if (dlsym(file, "dgetrf_")) return file;
    }
  return nullptr;
}

}  // namespace

void* lapack_symbol(const std::string& name) {
  static void* const file = open_library();
  return file ? dlsym(file, name.c_str()) : nullptr;
}

bool has_lapack() { return lapack_symbol("dgetrf_") != nullptr; }

MatrixSizes matrix_sizes(const Dims& dims) {
  check(dims.size() >= 2, "matrix_sizes: not matrices");
  MatrixSizes out{static_cast<int>(dims[dims.size() - 2]), static_cast<int>(dims.back()), 0};
  out.batches = element_count(std::span(dims).first(dims.size() - 2));
  return out;
}

}  // namespace hilo
