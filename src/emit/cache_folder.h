// A folder of files that only this user can have written. Private to `emit`.
#pragma once

#include <span>
#include <vector>

#include "base/base.h"

namespace hilo {

class CacheFolder {
 public:
  // Made where it is absent, for this user alone (0700), as are the folders above it. An error
  // where it is another user's or can be written by others.
  static Result<CacheFolder> open(const std::string& path);
  CacheFolder(CacheFolder&& other) noexcept : folder_(std::exchange(other.folder_, -1)) {}
  CacheFolder& operator=(CacheFolder&& other) noexcept {
    std::swap(folder_, other.folder_);
    return *this;
  }
  ~CacheFolder();

  // The whole file, which then counts as used now. An error's message is why it cannot be trusted
  // or read: "nothing there", "not a regular file", "owned by another user", ...
  Result<std::string> read(const std::string& name) const;
  // By way of a temporary file that is renamed, so that others see the whole file or none.
  Result<void> write(const std::string& name, std::span<const std::string_view> pieces) const;
  std::vector<std::string> names() const;
  // Removes files with this ending that were used longest ago until no more than so many bytes are
  // left, and temporary files that somebody left behind an hour ago.
  void shrink_to(int64_t bytes, std::string_view ending) const;

 private:
  explicit CacheFolder(int folder) : folder_(folder) {}
  int folder_;  // descriptor
};

}  // namespace hilo
