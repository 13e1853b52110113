#include "wire/new_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace hilo {
namespace {

std::unexpected<Error> cannot_write(const std::string& path, int error) {
  return fail(ErrorKind::Io, "cannot write {}: {}", path, std::strerror(error));
}

// What open(path, O_CREAT, 0666) would have given; mkstemp gives 0600.
mode_t default_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

Result<NewFile> NewFile::create(const std::string& path) {
  NewFile out;
  out.path_ = path;
  out.temporary_ = path + ".XXXXXX";
  out.descriptor_ = ::mkstemp(out.temporary_.data());
  if (out.descriptor_ < 0) return cannot_write(path, errno);
  ::fchmod(out.descriptor_, default_mode());
  return out;
}

NewFile::NewFile(NewFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      position_(other.position_),
      path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)) {}

NewFile::~NewFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

Result<void> NewFile::write(std::span<const std::byte> bytes) {
  HILO_DO(write_at(position_, bytes));
  position_ += static_cast<int64_t>(bytes.size());
  return {};
}

Result<void> NewFile::write_at(int64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::pwrite(descriptor_, bytes.data(), bytes.size(), offset);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return cannot_write(path_, errno);
    offset += wrote;
    bytes = bytes.subspan(static_cast<size_t>(wrote));
  }
  return {};
}

Result<void> NewFile::commit() {
  const bool closed = ::close(std::exchange(descriptor_, -1)) == 0;
  if (!closed || std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary_.c_str());
    return cannot_write(path_, error);
  }
  return {};
}

Result<void> write_file(const std::string& path, std::string_view bytes) {
  HILO_TRY(NewFile file, NewFile::create(path));
  HILO_DO(file.write(bytes));
  return file.commit();
}

}  // namespace hilo
