#include "emit/code_memory.h"

#include <llvm/Support/Process.h>
#include <sys/mman.h>

#include "emit/llvm_failure.h"

namespace hilo {
namespace {

size_t whole_pages(size_t bytes) {
  const size_t page = llvm::sys::Process::getPageSizeEstimate();
  return (bytes + page - 1) / page * page;
}

}  // namespace

Result<std::shared_ptr<CodeMemory>> CodeMemory::reserve(size_t bytes) {
  if (bytes > INT32_MAX) return fail(ErrorKind::Limit, "the code takes more than 2 GiB");
  bytes = whole_pages(bytes);
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* const begin = mmap(nullptr, bytes, PROT_NONE, flags, -1, 0);
  if (begin == MAP_FAILED)
    return std::unexpected(memory_error(OutOfMemory(static_cast<int64_t>(bytes))));
  return std::shared_ptr<CodeMemory>(new CodeMemory(static_cast<std::byte*>(begin), bytes));
}

CodeMemory::~CodeMemory() { give_back_rest(); }

Result<void> CodeMemory::close() {
  std::string error;
  if (sections_.finalizeMemory(&error)) return llvm_error(error);
  give_back_rest();
  return {};
}

void CodeMemory::give_back_rest() {
  if (next_ != end_) munmap(next_, static_cast<size_t>(end_ - next_));
  end_ = next_;
}

llvm::sys::MemoryBlock CodeMemory::allocateMappedMemory(Purpose, size_t bytes,
                                                        const llvm::sys::MemoryBlock*,
                                                        unsigned flags, std::error_code& error) {
  bytes = whole_pages(bytes);
  if (bytes > static_cast<size_t>(end_ - next_)) {
    error = std::make_error_code(std::errc::not_enough_memory);
    return {};
  }
  const llvm::sys::MemoryBlock out(next_, bytes);
  error = llvm::sys::Memory::protectMappedMemory(out, flags);
  if (error) return {};
  next_ += bytes;
  return out;
}

std::error_code CodeMemory::protectMappedMemory(const llvm::sys::MemoryBlock& block,
                                                unsigned flags) {
  return llvm::sys::Memory::protectMappedMemory(block, flags);
}

std::error_code CodeMemory::releaseMappedMemory(llvm::sys::MemoryBlock& block) {
  return llvm::sys::Memory::releaseMappedMemory(block);
}

}  // namespace hilo
