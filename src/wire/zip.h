// Zip archives. Format: PKWARE's APPNOTE.TXT 6.3: stored and deflated members, zip64, data
// descriptors; one disk, no encryption.
#pragma once

#include "wire/new_file.h"
#include "wire/npy.h"

namespace hilo {

struct ZipMember {
  std::string name;
  int method = 0;  // 0: stored, 8: deflated
  uint32_t crc = 0;
  int64_t compressed = 0, size = 0, header_offset = 0;
};

class ZipArchive {
 public:
  static Result<std::shared_ptr<const ZipArchive>> open(std::shared_ptr<const ByteSource> source);
  const std::vector<ZipMember>& members() const { return members_; }
  const ZipMember* find(std::string_view name) const;  // the last of that name
  // Hands body a stream of the member's bytes, then checks the checksum of all of them.
  Result<Literal> read(const ZipMember& member,
                       const std::function<Result<Literal>(const ReadNext&)>& body) const;

 private:
  std::shared_ptr<const ByteSource> source_;
  std::vector<ZipMember> members_;
};

class ZipWriter {
 public:
  ZipWriter(NewFile file, bool deflate) : file_(std::move(file)), deflate_(deflate) {}
  Result<void> add(std::string_view name,
                   const std::function<Result<void>(const WriteNext&)>& body);
  Result<void> finish();  // central directory; puts the file in place

 private:
  NewFile file_;
  bool deflate_;
  std::vector<ZipMember> members_;
};

}  // namespace hilo
