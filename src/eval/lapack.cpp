#include "eval/lapack.h"

#include <dlfcn.h>

namespace hilo {
namespace {

void* open_library() {
  for (const char* name : {"libopenblas.so.0", "liblapack.so.3"})
    if (void* file = dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
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

MatrixSizes matrix_sizes(const Dims& dims) {
  check(dims.size() >= 2, "matrix_sizes: not matrices");
  MatrixSizes out{static_cast<int>(dims[dims.size() - 2]), static_cast<int>(dims.back()), 0};
  out.batches = element_count(std::span(dims).first(dims.size() - 2));
  return out;
}

}  // namespace hilo
