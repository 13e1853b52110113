#include "kernels/sort/sort_network.h"

#include <cstring>

#include "base/base.h"

namespace hilo {
namespace {

#define HILO_KERNELS "kernels/sort/sort_network.def"
#include "kernels/each_processor.def"

}  // namespace

template <class Word>
const NetworkKernels<Word>& network_kernels() {
  static const NetworkKernels<Word>& kernels = best_kernels<Word>();
  return kernels;
}
template const NetworkKernels<uint8_t>& network_kernels();
template const NetworkKernels<uint16_t>& network_kernels();
template const NetworkKernels<uint32_t>& network_kernels();
template const NetworkKernels<int64_t>& network_kernels();

}  // namespace hilo
