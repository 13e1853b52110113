#include "emit/cache_sizes.h"

#include <llvm/IR/Constants.h>

#include "base/base.h"
#include "machine/machine.h"

namespace hilo {
namespace {

constexpr const char *first_flag = "hilo.first_cache", *second_flag = "hilo.second_cache",
                     *near_flag = "hilo.near_caches";

int64_t flag(const llvm::Module& ir, const char* name) {
  const auto* value = llvm::mdconst::extract_or_null<llvm::ConstantInt>(ir.getModuleFlag(name));
  check(value, "modules say what caches there are");
  return value->getSExtValue();
}

}  // namespace

CacheSizes find_cache_sizes(std::string_view cpu) {
  const Cores& cores = find_cpu(cpu).cores;
  return {cores.caches[0].bytes, cores.caches[1].bytes, cores.near_cache_bytes()};
}

void set_cache_sizes(llvm::Module& ir, const CacheSizes& sizes) {
  const auto set = [&](const char* name, int64_t bytes) {
    llvm::Type* type = llvm::Type::getInt64Ty(ir.getContext());
    ir.addModuleFlag(llvm::Module::Override, name, llvm::ConstantInt::getSigned(type, bytes));
  };
  set(first_flag, sizes.first);
  set(second_flag, sizes.second);
  set(near_flag, sizes.near);
}

CacheSizes cache_sizes(const llvm::Module& ir) {
  return {flag(ir, first_flag), flag(ir, second_flag), flag(ir, near_flag)};
}

}  // namespace hilo
