#include "emit/link.h"

#include <dlfcn.h>
#include <llvm/ExecutionEngine/RuntimeDyld.h>
#include <llvm/ExecutionEngine/SectionMemoryManager.h>
#include <llvm/Object/ObjectFile.h>

namespace hilo {
namespace {

class Process : public llvm::LegacyJITSymbolResolver {
 public:
  llvm::JITSymbol findSymbol(const std::string& name) override {
    void* address = dlsym(RTLD_DEFAULT, name.c_str());
    if (!address) return nullptr;
    return {reinterpret_cast<uint64_t>(address), llvm::JITSymbolFlags::Exported};
  }
  llvm::JITSymbol findSymbolInLogicalDylib(const std::string&) override { return nullptr; }
};

std::unexpected<Error> llvm_error(std::string_view text) {
  return fail(ErrorKind::Unsupported, "LLVM: {}", text);
}

}  // namespace

// RuntimeDyld alone: LLJIT around it costs a millisecond for each compilation, and nothing here is
// lazy.
Result<void> link(std::span<const std::unique_ptr<llvm::MemoryBuffer>> objects, Code& code) {
  auto memory = std::make_shared<llvm::SectionMemoryManager>();
  Process process;
  llvm::RuntimeDyld linker(*memory, process);
  for (const auto& object : objects) {
    auto file = llvm::object::ObjectFile::createObjectFile(object->getMemBufferRef());
    if (!file) return llvm_error(llvm::toString(file.takeError()));
    linker.loadObject(**file);
    if (linker.hasError()) return llvm_error(linker.getErrorString().str());
  }
  linker.resolveRelocations();
  if (linker.hasError()) return llvm_error(linker.getErrorString().str());
  const uint64_t run = linker.getSymbol("run").getAddress();
  check(run != 0, "emit: the linked code has an entry");
  std::string error;
  if (memory->finalizeMemory(&error)) return llvm_error(error);
  code.run = reinterpret_cast<int32_t (*)(RunContext*)>(run);
  code.keeper = std::move(memory);
  return {};
}

}  // namespace hilo
