#include "emit/host_features.h"

#include <llvm/TargetParser/Host.h>

#ifdef __aarch64__
#include <sys/auxv.h>
#endif

namespace hilo {

#ifdef __aarch64__
// LLVM reads few of AArch64's features itself and takes the others from the processor's name, which
// virtual machines hide; the kernel tells them all ("ARM64 ELF hwcaps" in Linux's documentation).
llvm::StringMap<bool> host_features() {
  struct Row {
    const char* name;
    unsigned long word, bits;
  };
  constexpr Row rows[] = {
      {"lse", AT_HWCAP, HWCAP_ATOMICS},      {"rdm", AT_HWCAP, HWCAP_ASIMDRDM},
      {"jsconv", AT_HWCAP, HWCAP_JSCVT},     {"complxnum", AT_HWCAP, HWCAP_FCMA},
      {"rcpc", AT_HWCAP, HWCAP_LRCPC},       {"dotprod", AT_HWCAP, HWCAP_ASIMDDP},
      {"fp16fml", AT_HWCAP, HWCAP_ASIMDFHM}, {"fullfp16", AT_HWCAP, HWCAP_FPHP | HWCAP_ASIMDHP},
      {"flagm", AT_HWCAP, HWCAP_FLAGM},      {"fptoint", AT_HWCAP2, HWCAP2_FRINT},
      {"i8mm", AT_HWCAP2, HWCAP2_I8MM},      {"bf16", AT_HWCAP2, HWCAP2_BF16}};
  auto out = llvm::sys::getHostCPUFeatures();
  for (const Row& row : rows) out[row.name] = (getauxval(row.word) & row.bits) == row.bits;
  return out;
}
#else
llvm::StringMap<bool> host_features() { return llvm::sys::getHostCPUFeatures(); }
#endif

}  // namespace hilo
