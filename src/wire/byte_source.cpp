#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "wire/wire.h"

namespace hilo {
namespace {

std::unexpected<Error> past_end(int64_t offset, size_t count, int64_t size) {
  return fail(ErrorKind::Format, "truncated: {} bytes at {} are needed, the file has {}", count,
              offset, size);
}

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes) {}
  int64_t size() const override { return static_cast<int64_t>(bytes_.size()); }
  Result<void> read_at(int64_t offset, std::span<std::byte> to) const override {
    if (offset < 0 || offset > size() || to.size() > static_cast<size_t>(size() - offset))
      return past_end(offset, to.size(), size());
    if (!to.empty()) std::memcpy(to.data(), bytes_.data() + offset, to.size());
    return {};
  }

 private:
  std::span<const std::byte> bytes_;
};

class FileSource final : public ByteSource {
 public:
  FileSource(int descriptor, int64_t size, std::string path)
      : descriptor_(descriptor), size_(size), path_(std::move(path)) {}
  ~FileSource() override { ::close(descriptor_); }
  int64_t size() const override { return size_; }
  Result<void> read_at(int64_t offset, std::span<std::byte> to) const override {
    while (!to.empty()) {
      const ssize_t got = ::pread(descriptor_, to.data(), to.size(), offset);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return fail(ErrorKind::Io, "cannot read {}: {}", path_, std::strerror(errno));
      if (got == 0) return past_end(offset, to.size(), size_);
      offset += got;
      to = to.subspan(static_cast<size_t>(got));
    }
    return {};
  }

 private:
  int descriptor_;
  int64_t size_;
  std::string path_;
};

}  // namespace

Result<std::shared_ptr<const ByteSource>> ByteSource::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return fail(ErrorKind::Io, "cannot open {}: {}", path, std::strerror(errno));
  struct stat status;
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    return fail(ErrorKind::Io, "cannot read {}: not a regular file", path);
  }
  return std::make_shared<FileSource>(descriptor, status.st_size, path);
}

std::shared_ptr<const ByteSource> ByteSource::memory(std::span<const std::byte> bytes) {
  return std::make_shared<MemorySource>(bytes);
}

namespace {

// A file's bytes are taken at once and stay where they are: a large one is in memory only once.
Result<std::string> read_all(int descriptor, const std::string& path) {
  std::string out;
  struct stat status;
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
    out.reserve(static_cast<size_t>(status.st_size) + 1);
  constexpr size_t block = 1 << 18;
  ssize_t got = 0;
  for (;;) {
    const size_t at = out.size();
    const size_t left = out.capacity() - at;
    const size_t chunk = left > 0 && left < block ? left : block;
    out.resize(at + chunk);
    do got = ::read(descriptor, out.data() + at, chunk);
    while (got < 0 && errno == EINTR);
    out.resize(at + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got <= 0) break;
  }
  if (got < 0) return fail(ErrorKind::Io, "cannot read {}: {}", path, std::strerror(errno));
  return out;
}

}  // namespace

Result<std::string> read_whole_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return fail(ErrorKind::Io, "cannot open {}: {}", path, std::strerror(errno));
  Result<std::string> out = within_memory([&] { return read_all(descriptor, path); });
  ::close(descriptor);
  return out;
}

}  // namespace hilo
