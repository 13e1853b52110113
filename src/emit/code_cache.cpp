#include "emit/code_cache.h"

#include <elf.h>
#include <link.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Support/SHA256.h>

#include <algorithm>

namespace hilo {
namespace {

constexpr std::string_view first_line = "hilo code 1\n", ending = ".hilo-code";

std::string sha256(llvm::StringRef text) {
  llvm::SHA256 hash;
  hash.update(text);
  return llvm::toHex(hash.final(), true);
}

void find_build_id(const dl_phdr_info& object, const ElfW(Phdr) & part, std::string& out) {
  const char* at = reinterpret_cast<const char*>(object.dlpi_addr + part.p_vaddr);
  const char* const end = at + part.p_memsz;
  const auto aligned = [](size_t bytes) { return (bytes + 3) / 4 * 4; };
  while (at + sizeof(ElfW(Nhdr)) <= end) {
    const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
    const char* const name = at + sizeof *note;
    const char* const data = name + aligned(note->n_namesz);
    if (note->n_type == NT_GNU_BUILD_ID &&
        llvm::StringRef(name, note->n_namesz) == llvm::StringRef("GNU\0", 4))
      out = llvm::toHex(llvm::StringRef(data, note->n_descsz), true);
    at = data + aligned(note->n_descsz);
  }
}

int look_at_object(dl_phdr_info* object, size_t, void* out) {
  const auto here = reinterpret_cast<ElfW(Addr)>(&look_at_object) - object->dlpi_addr;
  const std::span parts(object->dlpi_phdr, object->dlpi_phnum);
  const bool is_this = std::ranges::any_of(parts, [&](const ElfW(Phdr) & part) {
    return part.p_type == PT_LOAD && here - part.p_vaddr < part.p_memsz;
  });
  if (!is_this) return 0;
  for (const ElfW(Phdr) & part : parts)
    if (part.p_type == PT_NOTE) find_build_id(*object, part, *static_cast<std::string*>(out));
  return 1;
}

// The linker's hash of this shared object, with LLVM in it; empty where it made none.
std::string build_id() {
  std::string out;
  dl_iterate_phdr(look_at_object, &out);
  return out;
}

// The text of the line that begins with `name` and a space.
std::string_view line_of(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with(name) && line.substr(name.size()).starts_with(' '))
      return line.substr(name.size() + 1);
    if (line.empty() || line.size() == text.size()) return {};
    text.remove_prefix(line.size() + 1);
  }
  return {};
}

constexpr size_t hash_length = 64;
std::string hash_line(llvm::StringRef object) {
  return fmt::format("sha256 {}\n\n", sha256(object));
}
constexpr size_t hash_line_length = 7 + hash_length + 2;

}  // namespace

CodeCache::CodeCache(const CacheOptions& options, const Chip& chip) : options_(options) {
  if (options.folder.empty()) return;
  report_.folder = options.folder;
  const std::string build = build_id();
  maker_ = fmt::format("hilo {}\nllvm {}\n", build, LLVM_VERSION_STRING);
  chip_ =
      fmt::format("triple {}\ncpu {}\nfeatures {}\n", chip.triple.str(), chip.cpu, chip.features);
  Result<CacheFolder> opened = fail(ErrorKind::Io, "this build of Hilo has no build id");
  if (!build.empty()) opened = CacheFolder::open(options.folder);
  if (opened) folder_.emplace(std::move(*opened));
  else tell(opened.error().message);
}

std::string CodeCache::key_of(const llvm::Module& ir) const {
  if (!folder_) return {};
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::WriteBitcodeToFile(ir, stream);
  return sha256(llvm::StringRef(bytes.data(), bytes.size()));
}

std::string CodeCache::head(const std::string& key) const {
  return fmt::format("{}{}{}ir {}\n", first_line, maker_, chip_, key);
}

std::string CodeCache::name(const std::string& key) const {
  return fmt::format("{}-{}{}", key, sha256(maker_ + chip_).substr(0, 16), ending);
}

std::unique_ptr<llvm::MemoryBuffer> CodeCache::find(const std::string& key) {
  if (key.empty()) return nullptr;
  const auto text = folder_->read(name(key));
  if (!text) {
    const bool is_absent = text.error().message == "nothing there";
    miss(is_absent ? why_absent(key) : text.error().message);
    return nullptr;
  }
  const std::string expected = head(key);
  const size_t start = expected.size() + hash_line_length;
  if (!text->starts_with(expected) || text->size() < start ||
      text->substr(expected.size(), hash_line_length) !=
          hash_line(llvm::StringRef(*text).substr(start))) {
    miss("damaged");
    return nullptr;
  }
  const std::lock_guard guard(lock_);
  ++report_.hits;
  return llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(*text).substr(start), "hilo");
}

// By the heads of other entries of the same IR.
std::string CodeCache::why_absent(const std::string& key) {
  std::vector<std::string> others;
  {
    const std::lock_guard guard(lock_);
    if (!names_) names_ = folder_->names();
    std::ranges::copy_if(*names_, std::back_inserter(others), [&](const std::string& other) {
      return other.starts_with(key + "-") && other.ends_with(ending);
    });
  }
  std::ranges::sort(others);
  std::string out = "nothing there";
  for (const std::string& other : others) {
    const auto text = folder_->read(other);
    if (!text || !text->starts_with("hilo code ")) continue;
    if (!text->starts_with(first_line) || !text->contains("\n" + maker_))
      out = "made by another version of Hilo";
    else if (!text->contains("\n" + chip_))
      return fmt::format("made for another processor ({})", line_of(*text, "cpu"));
  }
  return out;
}

void CodeCache::keep(const std::string& key, llvm::StringRef object) {
  if (key.empty()) return;
  const std::string first = head(key), second = hash_line(object);
  const std::string_view pieces[] = {first, second, {object.data(), object.size()}};
  const auto done = folder_->write(name(key), pieces);
  if (!done) return tell(done.error().message);
  const std::lock_guard guard(lock_);
  has_written_ = true;
}

CacheReport CodeCache::close() {
  if (has_written_) folder_->shrink_to(options_.max_bytes, ending);
  return report_;
}

void CodeCache::miss(const std::string& why) {
  const std::lock_guard guard(lock_);
  ++report_.misses[why];
}

void CodeCache::tell(const std::string& problem) {
  const std::lock_guard guard(lock_);
  if (std::ranges::count(report_.problems, problem) == 0) report_.problems.push_back(problem);
}

}  // namespace hilo
