// A file that appears whole or not at all: written beside its place, renamed at the end. What is no
// regular file (a device, a pipe) stays what it is and is given the bytes at the end.
#pragma once

#include "wire/wire.h"

namespace hilo {

class NewFile {
 public:
  static Result<NewFile> create(const std::string& path);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();  // removes what commit() did not put in place

  Result<void> write(std::span<const std::byte> bytes);
  Result<void> write(std::string_view text) { return write(std::as_bytes(std::span(text))); }
  Result<void> write_at(int64_t offset, std::span<const std::byte> bytes);
  int64_t position() const { return position_; }
  Result<void> commit();

 private:
  NewFile() = default;
  Result<NewFile> or_cannot_write(int error);
  Result<void> copy_to_destination();
  int descriptor_ = -1;
  int destination_ = -1;  // open where nothing may be renamed to
  int64_t position_ = 0;
  std::string path_, place_, temporary_;
};

}  // namespace hilo
