#include "kernels/linalg/triangular_kernels.h"

#include <algorithm>
#include <cmath>

#include "base/base.h"

namespace hilo {
namespace {

#define HILO_KERNELS "kernels/linalg/triangular_kernels.def"
#include "kernels/each_processor.def"

}  // namespace

template <class T>
const TriangularKernels<T>& triangular_kernels() {
  static const TriangularKernels<T>& kernels = best_kernels<T>();
  return kernels;
}
template const TriangularKernels<float>& triangular_kernels();
template const TriangularKernels<double>& triangular_kernels();

}  // namespace hilo
