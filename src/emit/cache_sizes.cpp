#include "emit/cache_sizes.h"

#include <llvm/IR/Metadata.h>

#include "base/base.h"
#include "machine/machine.h"

namespace hilo {
namespace {

constexpr const char* cpu_flag = "hilo.cpu";

}  // namespace

void set_cpu(llvm::Module& ir, std::string_view cpu) {
  ir.addModuleFlag(llvm::Module::Override, cpu_flag,
                   llvm::MDString::get(ir.getContext(), llvm::StringRef(cpu.data(), cpu.size())));
}

std::string_view cpu_of(const llvm::Module& ir) {
  const auto* name = llvm::dyn_cast_or_null<llvm::MDString>(ir.getModuleFlag(cpu_flag));
  check(name, "modules say for which chip they are");
  return name->getString();
}

CacheSizes cache_sizes(const llvm::Module& ir) {
  const Cores& cores = find_cpu(cpu_of(ir)).cores;
  return {cores.caches[0].bytes, cores.caches[1].bytes, cores.near_cache_bytes()};
}

}  // namespace hilo
