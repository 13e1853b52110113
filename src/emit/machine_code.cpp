#include "emit/machine_code.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>

#include <chrono>
#include <mutex>

#include "emit/function_passes.h"

namespace hilo {
namespace {

std::unexpected<Error> llvm_error(llvm::Error error) {
  return fail(ErrorKind::Unsupported, "LLVM: {}", llvm::toString(std::move(error)));
}

void start_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

std::string features_of_host() {
  std::string out;
  for (const auto& feature : llvm::sys::getHostCPUFeatures())
    out += fmt::format("{}{}{}", out.empty() ? "" : ",", feature.second ? "+" : "-",
                       feature.first().str());
  return out;
}

class Clock {
 public:
  // Seconds since the last call.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double out = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return out;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

Result<std::unique_ptr<llvm::MemoryBuffer>> object_of(llvm::Module& ir,
                                                      llvm::TargetMachine& machine) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  llvm::MCContext* context = nullptr;
  if (machine.addPassesToEmitMC(passes, context, stream, true))
    return fail(ErrorKind::Unsupported, "LLVM cannot emit code for this chip");
  passes.run(ir);
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), "hilo", false);
}

}  // namespace

Result<std::unique_ptr<llvm::TargetMachine>> target_machine(const EmitOptions& options) {
  start_llvm();
  const llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) return fail(ErrorKind::Unsupported, "LLVM: {}", error);
  const bool native = options.cpu == "native";
  const std::string cpu = native ? llvm::sys::getHostCPUName().str() : options.cpu;
  const std::string features = native ? features_of_host() : options.features;
  std::unique_ptr<llvm::TargetMachine> out(
      target->createTargetMachine(triple, cpu, features, llvm::TargetOptions(), llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Less, true));
  if (!out) return fail(ErrorKind::Unsupported, "LLVM has no code generator for {}", cpu);
  return out;
}

Result<void> make_machine_code(std::unique_ptr<llvm::LLVMContext> context,
                               std::unique_ptr<llvm::Module> ir, llvm::TargetMachine& machine,
                               Code& code) {
  for (llvm::Function& function : *ir) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    function.addFnAttr("prefer-vector-width", "512");
    // Subnormal numbers are zeros when the code runs, as in the evaluator and in XLA.
    function.addFnAttr("denormal-fp-math", "preserve-sign,preserve-sign");
  }
  Clock clock;
  optimise(*ir, machine);
  code.optimise_seconds = clock.lap();
  HILO_TRY(auto object, object_of(*ir, machine));
  ir.reset();
  context.reset();
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit) return llvm_error(jit.takeError());
  if (auto error = (*jit)->addObjectFile(std::move(object))) return llvm_error(std::move(error));
  auto run = (*jit)->lookup("run");
  if (!run) return llvm_error(run.takeError());
  code.run = run->toPtr<int32_t (*)(RunContext*)>();
  code.keeper = std::shared_ptr<llvm::orc::LLJIT>(std::move(*jit));
  code.machine_seconds = clock.lap();
  return {};
}

}  // namespace hilo
