#include "emit/cache_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <span>
#include <vector>

namespace hilo {
namespace {

constexpr off_t largest = 1 << 30;
constexpr std::string_view temporary = ".new.";
constexpr time_t left_behind = 3600;  // seconds

class Descriptor {
 public:
  explicit Descriptor(int number) : number(number) {}
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  Descriptor(const Descriptor&) = delete;
  // Errors of writing that show when a file is closed.
  bool close() { return ::close(std::exchange(number, -1)) == 0; }

  int number;
};

std::unexpected<Error> refuse(std::string_view why) { return fail(ErrorKind::Io, "{}", why); }
std::unexpected<Error> refuse(std::string_view what, int code) {
  return fail(ErrorKind::Io, "{}: {}", what, std::generic_category().message(code));
}

Result<void> check_own(const struct stat& status) {
  if (status.st_uid != geteuid()) return refuse("owned by another user");
  if (status.st_mode & (S_IWGRP | S_IWOTH)) return refuse("writable for others");
  return {};
}

void make_folders(const std::string& path) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1))
    mkdir(path.substr(0, slash).c_str(), 0700);
  mkdir(path.c_str(), 0700);
}

Result<std::string> read_all(int file, off_t bytes) {
  std::string out(static_cast<size_t>(bytes), '\0');
  size_t got = 0;
  while (got < out.size()) {
    const ssize_t now = ::read(file, out.data() + got, out.size() - got);
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) return refuse("cannot be read", errno);
    if (now == 0) break;
    got += static_cast<size_t>(now);
  }
  out.resize(got);
  return out;
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t now = ::write(file, text.data(), text.size());
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) return false;
    text.remove_prefix(static_cast<size_t>(now));
  }
  return true;
}

// Calls body(name) for each entry.
template <class Body>
void for_each_name(int folder, Body&& body) {
  const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* entries = again < 0 ? nullptr : fdopendir(again);
  if (!entries) return;
  while (const dirent* entry = readdir(entries)) body(std::string(entry->d_name));
  closedir(entries);
}

}  // namespace

Result<CacheFolder> CacheFolder::open(const std::string& path) {
  make_folders(path);
  CacheFolder out(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (out.folder_ < 0) return refuse("cannot be opened", errno);
  struct stat status;
  if (fstat(out.folder_, &status) != 0) return refuse("cannot be opened", errno);
  HILO_DO(check_own(status));
  return out;
}

CacheFolder::~CacheFolder() {
  if (folder_ >= 0) ::close(folder_);
}

// O_NONBLOCK: a pipe of this name would keep open() waiting.
Result<std::string> CacheFolder::read(const std::string& name) const {
  const Descriptor file(
      openat(folder_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.number < 0 && errno == ENOENT) return refuse("nothing there");
  if (file.number < 0 && errno == ELOOP) return refuse("not a regular file");
  if (file.number < 0) return refuse("cannot be read", errno);
  struct stat status;
  if (fstat(file.number, &status) != 0) return refuse("cannot be read", errno);
  if (!S_ISREG(status.st_mode)) return refuse("not a regular file");
  HILO_DO(check_own(status));
  if (status.st_size > largest) return refuse("damaged");
  futimens(file.number, nullptr);  // a disk that is only read keeps its times
  return read_all(file.number, status.st_size);
}

Result<void> CacheFolder::write(const std::string& name,
                                std::span<const std::string_view> pieces) const {
  const std::string path = fmt::format("{}{}.{}", temporary, getpid(), gettid());
  unlinkat(folder_, path.c_str(), 0);  // of a process that had the same numbers
  Descriptor file(
      openat(folder_, path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.number < 0) return refuse("cannot be written", errno);
  bool done = true;
  for (std::string_view piece : pieces) done = done && write_all(file.number, piece);
  done = done && file.close() && renameat(folder_, path.c_str(), folder_, name.c_str()) == 0;
  if (done) return {};
  const int code = errno;
  unlinkat(folder_, path.c_str(), 0);
  return refuse("cannot be written", code);
}

std::vector<std::string> CacheFolder::names() const {
  std::vector<std::string> out;
  for_each_name(folder_, [&](std::string name) { out.push_back(std::move(name)); });
  return out;
}

void CacheFolder::shrink_to(int64_t bytes, std::string_view ending) const {
  struct File {
    timespec used;
    std::string name;
    int64_t bytes;
  };
  std::vector<File> files;
  int64_t total = 0;
  for_each_name(folder_, [&](const std::string& name) {
    struct stat status;
    if (fstatat(folder_, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return;
    if (name.starts_with(temporary) && status.st_mtime < time(nullptr) - left_behind)
      unlinkat(folder_, name.c_str(), 0);
    if (!name.ends_with(ending) || !S_ISREG(status.st_mode)) return;
    files.push_back({status.st_mtim, name, status.st_size});
    total += status.st_size;
  });
  std::ranges::sort(files, {}, [](const File& file) {
    return std::tuple(file.used.tv_sec, file.used.tv_nsec, file.name);
  });
  for (const File& file : files) {
    if (total <= bytes) return;
    unlinkat(folder_, file.name.c_str(), 0);
    total -= file.bytes;
  }
}

}  // namespace hilo
