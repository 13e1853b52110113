#include "wire/new_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

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

// The file that a chain of links ends at, so that renaming replaces it and not the link.
std::string behind_links(const std::string& path) {
  std::error_code error;
  const auto target = std::filesystem::canonical(path, error);
  return error ? path : target.string();
}

}  // namespace

Result<NewFile> NewFile::create(const std::string& path) {
  struct stat there = {};
  const bool exists = ::stat(path.c_str(), &there) == 0;
  if (exists && S_ISDIR(there.st_mode)) return cannot_write(path, EISDIR);
  NewFile out;
  out.path_ = path;
  if (!exists || S_ISREG(there.st_mode)) {
    out.place_ = exists ? behind_links(path) : path;
    out.temporary_ = out.place_ + ".XXXXXX";
    out.descriptor_ = ::mkstemp(out.temporary_.data());
    if (out.descriptor_ >= 0)
      ::fchmod(out.descriptor_, exists ? there.st_mode & 0777 : default_mode());
    // A file that may be written in a folder that may not is written where it stands.
    if (out.descriptor_ >= 0 || !exists) return out.or_cannot_write(errno);
  }
  out.destination_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (out.destination_ < 0) return cannot_write(path, errno);
  out.temporary_ = P_tmpdir "/hilo.XXXXXX";
  out.descriptor_ = ::mkstemp(out.temporary_.data());
  return out.or_cannot_write(errno);
}

Result<NewFile> NewFile::or_cannot_write(int error) {
  if (descriptor_ < 0) return cannot_write(path_, error);
  return std::move(*this);
}

NewFile::NewFile(NewFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      destination_(std::exchange(other.destination_, -1)),
      position_(other.position_),
      path_(std::move(other.path_)),
      place_(std::move(other.place_)),
      temporary_(std::move(other.temporary_)) {}

NewFile::~NewFile() {
  if (destination_ >= 0) ::close(destination_);
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

Result<void> NewFile::copy_to_destination() {
  struct stat there = {};
  if (::fstat(destination_, &there) == 0 && S_ISREG(there.st_mode) &&
      ::ftruncate(destination_, 0) != 0)
    return cannot_write(path_, errno);
  std::vector<char> block(1 << 16);
  for (int64_t offset = 0;;) {
    const ssize_t count = ::pread(descriptor_, block.data(), block.size(), offset);
    if (count < 0) return cannot_write(path_, errno);
    if (count == 0) return {};
    for (ssize_t done = 0; done < count;) {
      const ssize_t wrote = ::write(destination_, block.data() + done, count - done);
      if (wrote < 0 && errno != EINTR) return cannot_write(path_, errno);
      if (wrote > 0) done += wrote;
    }
    offset += count;
  }
}

Result<void> NewFile::commit() {
  if (destination_ >= 0) {
    HILO_DO(copy_to_destination());
    if (::close(std::exchange(destination_, -1)) != 0) return cannot_write(path_, errno);
    return {};  // the destructor removes the copy
  }
  const bool closed = ::close(std::exchange(descriptor_, -1)) == 0;
  if (!closed || std::rename(temporary_.c_str(), place_.c_str()) != 0) {
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
