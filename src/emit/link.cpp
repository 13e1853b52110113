#include "emit/link.h"

#include <dlfcn.h>
#include <llvm/ExecutionEngine/RuntimeDyld.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/Process.h>

#include "emit/code_memory.h"
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

using Objects = std::vector<std::unique_ptr<llvm::object::ObjectFile>>;

Result<Objects> read_objects(std::span<const std::unique_ptr<llvm::MemoryBuffer>> files) {
  Objects out;
  for (const auto& file : files) {
    auto object = llvm::object::ObjectFile::createObjectFile(file->getMemBufferRef());
    if (!object) return llvm_error(llvm::toString(object.takeError()));
    out.push_back(std::move(*object));
  }
  return out;
}

// At least what is taken: whole pages for each section and a table of addresses. Relocations of 24
// bytes, in sections that are not loaded, have stubs of up to 20 bytes and addresses of 8.
size_t bytes_to_reserve(const Objects& objects) {
  const size_t page = llvm::sys::Process::getPageSizeEstimate();
  size_t out = 0;
  for (const auto& object : objects) {
    out += page;
    for (const llvm::object::SectionRef& section : object->sections())
      out += 2 * (section.getSize() + section.getAlignment().value()) + page;
  }
  return out;
}

}  // namespace

// RuntimeDyld alone: LLJIT around it costs a millisecond for each compilation, and nothing here is
// lazy.
Result<void> link(std::span<const std::unique_ptr<llvm::MemoryBuffer>> objects,
                  const Module& module, Code& code) {
  HILO_TRY(const Objects opened, read_objects(objects));
  HILO_TRY(const std::shared_ptr<CodeMemory> memory, CodeMemory::reserve(bytes_to_reserve(opened)));
  Outside outside(module);
  const LostWhereThrown<llvm::RuntimeDyld> kept(memory->sections(), outside);
  llvm::RuntimeDyld& linker = *kept;
  for (const auto& object : opened) {
    linker.loadObject(*object);
    if (linker.hasError()) return llvm_error(linker.getErrorString().str());
  }
  linker.resolveRelocations();
  if (linker.hasError()) return llvm_error(linker.getErrorString().str());
  const uint64_t run = linker.getSymbol("run").getAddress();
  check(run != 0, "emit: the linked code has an entry");
  HILO_DO(memory->close());
  code.run = reinterpret_cast<int32_t (*)(RunContext*)>(run);
  code.keeper = memory;
  return {};
}

}  // namespace hilo
