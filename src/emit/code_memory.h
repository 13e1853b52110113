// Memory of linked code. Private to `emit`.
#pragma once

#include <llvm/ExecutionEngine/SectionMemoryManager.h>

#include <memory>

#include "base/base.h"

namespace hilo {

// Sections of all objects of a program, side by side: code says where its data and other objects'
// functions are in 32 bits, and the linker does not see when they are farther apart. The system
// itself puts each section into any hole between others that is large enough.
class CodeMemory : private llvm::SectionMemoryManager::MemoryMapper {
 public:
  // With addresses for so many bytes, which take no memory.
  static Result<std::shared_ptr<CodeMemory>> reserve(size_t bytes);
  ~CodeMemory() override;

  llvm::RuntimeDyld::MemoryManager& sections() { return sections_; }
  // All sections have their bytes: code can be called, and addresses that are left are given back.
  Result<void> close();

 private:
  using Purpose = llvm::SectionMemoryManager::AllocationPurpose;

  CodeMemory(std::byte* begin, size_t bytes)
      : next_(begin), end_(begin + bytes), sections_(this, false) {}
  llvm::sys::MemoryBlock allocateMappedMemory(Purpose purpose, size_t bytes,
                                              const llvm::sys::MemoryBlock* near, unsigned flags,
                                              std::error_code& error) override;
  std::error_code protectMappedMemory(const llvm::sys::MemoryBlock& block, unsigned flags) override;
  std::error_code releaseMappedMemory(llvm::sys::MemoryBlock& block) override;
  void give_back_rest();

  std::byte *next_, *end_;               // what is not given out yet
  llvm::SectionMemoryManager sections_;  // which gives its pages back through this
};

}  // namespace hilo
