#include "eval/triangular_kernels.h"

#include <algorithm>
#include <cmath>

#include "base/base.h"

namespace hilo {
namespace {

#define HILO_KERNELS "eval/triangular_kernels.def"
#include "eval/each_processor.def"

}  // namespace

template <class T>
const TriangularKernels<T>& triangular_kernels() {
  static const TriangularKernels<T>& kernels = best_kernels<T>();
  return kernels;
}
template const TriangularKernels<float>& triangular_kernels();
template const TriangularKernels<double>& triangular_kernels();

}  // namespace hilo
