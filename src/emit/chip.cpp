#include "emit/chip.h"

#include <fmt/format.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>
#include <mutex>

#include "emit/host_features.h"
#include "emit/llvm_failure.h"

namespace hilo {
namespace {

// Passes of the code generator that have no switch but LLVM's command line.
void turn_on(llvm::StringRef option) {
  auto& options = llvm::cl::getRegisteredOptions();
  const auto found = options.find(option);
  check(found != options.end(), "LLVM has such an option");
  static_cast<llvm::cl::opt<bool>*>(found->second)->setValue(true);
}

// This LLVM is this library's own copy, so that nobody else's options are touched.
void start_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    // Kernels' addresses are a base and one counter, which the chip's addressing does by itself;
    // looking for better ones is a fifth of the code generator's time.
    turn_on("disable-lsr");
  });
}

// LLVM reads the list again for each machine and each kind of function.
std::string features_of_host(const llvm::MCSubtargetInfo& implied) {
  std::string out;
  for (const auto& feature : host_features()) {
    const std::string text = (feature.second ? "+" : "-") + feature.first().str();
    if (!implied.checkFeatures(text)) out += (out.empty() ? "" : ",") + text;
  }
  return out;
}

// Vectors whose length only the running machine knows (SVE) are left out: kernels are written for
// lengths known here, NEON's units are as many as fill SVE's, and results are the same bits. So is
// SSE4A, whose instructions have no form of AVX and cost a hundred cycles among those that do
// (places of the largest of 7 bf16 on an EPYC with AVX2: 33 and 3 ns).
std::string without_slow_ones(const llvm::Triple& triple, std::string features) {
  if (!triple.isAArch64() && !triple.isX86()) return features;
  return features + (features.empty() ? "" : ",") + (triple.isX86() ? "-sse4a" : "-sve");
}

// "; near it: znver3, znver4", of those that LLVM has for this kind of machine.
std::string near_names(const llvm::MCSubtargetInfo& any, llvm::StringRef cpu) {
  std::vector<std::pair<unsigned, llvm::StringRef>> names = {
      {cpu.edit_distance("native"), "native"}};
  for (const auto& known : any.getAllProcessorDescriptions())
    names.emplace_back(cpu.edit_distance(known.Key), llvm::StringRef(known.Key));
  std::ranges::sort(names);
  constexpr size_t most = 3;
  std::string out = "; near it: ";
  for (size_t i = 0; i < std::min(most, names.size()); ++i)
    out += (i ? ", " : "") + names[i].second.str();
  return out;
}

// Code that needs what this machine lacks would end the process with SIGILL.
Result<void> check_runs_here(const Chip& chip) {
  const std::unique_ptr<llvm::MCSubtargetInfo> wanted(
      chip.target->createMCSubtargetInfo(chip.triple, chip.cpu, chip.features));
  std::vector<std::string> lacking;
  for (const auto& feature : host_features())
    if (!feature.second && wanted->checkFeatures("+" + feature.first().str()))
      lacking.push_back(feature.first().str());
  if (lacking.empty()) return {};
  std::ranges::sort(lacking);
  return fail(ErrorKind::Unsupported, "code for {} needs {}, which this machine lacks", chip.cpu,
              fmt::join(lacking, ", "));
}

std::unexpected<Error> no_generator(std::string_view cpu) {
  return fail(ErrorKind::Unsupported, "LLVM has no code generator for {}", cpu);
}

// Features: those of the host where they are not given.
Result<Chip> chip_of(llvm::StringRef cpu, std::optional<std::string> features) {
  start_llvm();
  Chip out;
  out.triple = llvm::Triple(llvm::sys::getProcessTriple());
  std::string error;
  out.target = llvm::TargetRegistry::lookupTarget(out.triple, error);
  if (!out.target) return llvm_error(error);
  const std::unique_ptr<llvm::MCSubtargetInfo> any(
      out.target->createMCSubtargetInfo(out.triple, "", ""));
  if (features && (!any || !any->isCPUStringValid(cpu)))
    return fail(ErrorKind::Usage, "'{}' is no processor of {} that LLVM knows{}", cpu.str(),
                out.triple.str(), any ? near_names(*any, cpu) : "");
  out.cpu = cpu.str();
  const std::unique_ptr<llvm::MCSubtargetInfo> implied(
      out.target->createMCSubtargetInfo(out.triple, out.cpu, ""));
  if (!implied) return no_generator(out.cpu);
  out.features = without_slow_ones(out.triple, features ? *features : features_of_host(*implied));
  return out;
}

// This machine's, or the lesser one that HILO_PROCESSOR names.
Result<Chip> chip_of_host() {
  const std::string_view limit = processor().limit;
  if (limit.empty()) return chip_of(llvm::sys::getHostCPUName(), std::nullopt);
  HILO_TRY(Chip out, chip_of(limit, ""));
  HILO_DO(check_runs_here(out));
  return out;
}

}  // namespace

Result<std::unique_ptr<llvm::TargetMachine>> Chip::machine() const {
  std::unique_ptr<llvm::TargetMachine> out(
      target->createTargetMachine(triple, cpu, features, llvm::TargetOptions(), llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Less, true));
  if (!out) return no_generator(cpu);
  return out;
}

Result<Chip> find_chip(const EmitOptions& options) {
  if (options.cpu != "native") {
    HILO_TRY(Chip out, chip_of(options.cpu, options.features));
    if (options.object_name.empty()) HILO_DO(check_runs_here(out));
    return out;
  }
  static const Result<Chip> host = chip_of_host();
  return host;
}

}  // namespace hilo
