#include "emit/vector_registers.h"

#include <llvm/IR/Constants.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>

#include "base/base.h"
#include "emit/chip.h"
#include "emit/loop_limits.h"

namespace hilo {
namespace {

static_assert(VectorRegisters().bytes == narrow_vector &&
              registers_of_avx2.bytes == middle_vector &&
              registers_of_avx512.bytes == widest_vector);

constexpr const char *count_flag = "hilo.vector_registers",
                     *bytes_flag = "hilo.vector_register_bytes";

int64_t flag(const llvm::Module& ir, const char* name) {
  const auto* value = llvm::mdconst::extract_or_null<llvm::ConstantInt>(ir.getModuleFlag(name));
  check(value, "modules say what registers there are");
  return value->getSExtValue();
}

}  // namespace

Result<VectorRegisters> find_vector_registers(const EmitOptions& options) {
#ifdef __aarch64__
  return registers_of_neon;
#else
  // This processor's are known before LLVM is open.
  if (options.cpu == "native") return registers_of_host();
  HILO_TRY(const Chip chip, find_chip(options));
  const std::unique_ptr<llvm::MCSubtargetInfo> known(
      chip.target->createMCSubtargetInfo(chip.triple, chip.cpu, chip.features));
  return known->checkFeatures("+avx512vl") ? registers_of_avx512
         : known->checkFeatures("+avx2")   ? registers_of_avx2
                                           : VectorRegisters{};
#endif
}

void set_vector_registers(llvm::Module& ir, const VectorRegisters& registers) {
  ir.addModuleFlag(llvm::Module::Override, count_flag, static_cast<uint32_t>(registers.count));
  ir.addModuleFlag(llvm::Module::Override, bytes_flag, static_cast<uint32_t>(registers.bytes));
}

VectorRegisters vector_registers(const llvm::Module& ir) {
  return {flag(ir, count_flag), flag(ir, bytes_flag)};
}

}  // namespace hilo
