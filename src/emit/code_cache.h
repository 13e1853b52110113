// Object files of LLVM modules that were compiled before. An entry's name and head say everything
// that the object depends on: the IR, the build of Hilo, LLVM, and the processor. Private to
// `emit`.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>

#include <mutex>

#include "emit/cache_folder.h"
#include "emit/chip.h"

namespace hilo {

// Callable from several threads at once.
class CodeCache {
 public:
  // Without options.folder, and with one that cannot be used, nothing is found and nothing kept.
  CodeCache(const CacheOptions& options, const Chip& chip);

  // What find() and keep() take, of IR that is not optimised yet; empty where there is no cache.
  std::string key_of(const llvm::Module& ir) const;
  // Null where there is none that can be trusted; the report says why.
  std::unique_ptr<llvm::MemoryBuffer> find(const std::string& key);
  void keep(const std::string& key, llvm::StringRef object);
  // After the last call: makes room.
  CacheReport close();

 private:
  std::string head(const std::string& key) const;
  std::string name(const std::string& key) const;
  std::string why_absent(const std::string& key);
  void miss(const std::string& why);
  void tell(const std::string& problem);

  CacheOptions options_;
  std::string maker_, chip_;  // lines of the head
  std::optional<CacheFolder> folder_;
  std::mutex lock_;
  std::optional<std::vector<std::string>> names_;  // of the folder, when something was missing
  bool has_written_ = false;
  CacheReport report_;
};

}  // namespace hilo
