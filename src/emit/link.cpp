#include "emit/link.h"

#include <dlfcn.h>
#include <llvm/ExecutionEngine/RuntimeDyld.h>
#include <llvm/ExecutionEngine/SectionMemoryManager.h>
#include <llvm/Object/ObjectFile.h>

#include "emit/complex.h"
#include "emit/llvm_failure.h"
#include "emit/symbols.h"

namespace hilo {
namespace {

// What code names: constants of the module, functions of this process.
class Outside : public llvm::LegacyJITSymbolResolver {
 public:
  explicit Outside(const Module& module) : module_(module) {}
  llvm::JITSymbol findSymbol(const std::string& name) override {
    const void* address = address_of(name);
    if (!address) return nullptr;
    return {reinterpret_cast<uint64_t>(address), llvm::JITSymbolFlags::Exported};
  }
  llvm::JITSymbol findSymbolInLogicalDylib(const std::string&) override { return nullptr; }

 private:
  const void* address_of(const std::string& name) const {
    if (const auto constant = constant_called(name))
      return module_.attributes<ConstantAttributes>(*constant).literal.literal->raw().data();
    for (const ComplexFunction& function : complex_functions())
      if (name == function.name) return function.address;
    return dlsym(RTLD_DEFAULT, name.c_str());
  }
  const Module& module_;
};

}  // namespace

// RuntimeDyld alone: LLJIT around it costs a millisecond for each compilation, and nothing here is
// lazy.
Result<void> link(std::span<const std::unique_ptr<llvm::MemoryBuffer>> objects,
                  const Module& module, Code& code) {
#ifdef __aarch64__  // code reaches its data within 4 GiB: an object's sections lie in one piece
  constexpr bool reserves_space = true;
#else
  constexpr bool reserves_space = false;
#endif
  auto memory = std::make_shared<llvm::SectionMemoryManager>(nullptr, reserves_space);
  Outside outside(module);
  const LostWhereThrown<llvm::RuntimeDyld> kept(*memory, outside);
  llvm::RuntimeDyld& linker = *kept;
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
