#include "wire/zip.h"

#include <algorithm>
#include <unordered_map>

#include "wire/deflate.h"
#include "wire/literal_bytes.h"
#include "wire/zip_records.h"

namespace hilo {
namespace {

using namespace zip_record;
using Span = std::span<const std::byte>;

std::unexpected<Error> damaged(std::string_view what) {
  return fail(ErrorKind::Format, "damaged zip archive: {}", what);
}

uint64_t number_at(Span bytes, size_t at, size_t width) {
  return little_endian(bytes.subspan(at, width));
}

Result<std::vector<std::byte>> read_bytes(const ByteSource& source, int64_t offset, int64_t count) {
  if (offset < 0 || count < 0 || offset > source.size() || count > source.size() - offset)
    return damaged("a record passes the end of the file");
  std::vector<std::byte> bytes(count);
  HILO_DO(source.read_at(offset, bytes));
  return bytes;
}

struct Directory {
  int64_t offset = 0, size = 0;
};

// The end record stands before a comment of at most 65535 bytes at the end of the file.
Result<Directory> find_directory(const ByteSource& source) {
  const int64_t tail_bytes = std::min<int64_t>(source.size(), end_bytes + 65535);
  const int64_t tail_offset = source.size() - tail_bytes;
  HILO_TRY(const std::vector<std::byte> tail, read_bytes(source, tail_offset, tail_bytes));
  int64_t at = tail_bytes - end_bytes;
  while (at >= 0 && number_at(tail, at, 4) != end_of_central) --at;
  if (at < 0) return damaged("no end of central directory");
  const uint64_t size = number_at(tail, at + 12, 4), offset = number_at(tail, at + 16, 4);
  const bool is_zip64 =
      at >= locator_bytes && number_at(tail, at - locator_bytes, 4) == zip64_locator;
  if (!is_zip64) return Directory{static_cast<int64_t>(offset), static_cast<int64_t>(size)};
  const auto record_offset = static_cast<int64_t>(number_at(tail, at - locator_bytes + 8, 8));
  HILO_TRY(const auto record, read_bytes(source, record_offset, zip64_end_bytes));
  if (number_at(record, 0, 4) != zip64_end_of_central) return damaged("no zip64 end record");
  return Directory{static_cast<int64_t>(number_at(record, 48, 8)),
                   static_cast<int64_t>(number_at(record, 40, 8))};
}

// Replaces the numbers that did not fit 32 bits by those of the zip64 field, which holds only them.
Result<void> apply_zip64(Span extra, std::span<uint64_t* const> numbers) {
  while (extra.size() >= 4) {
    const uint64_t id = number_at(extra, 0, 2), size = number_at(extra, 2, 2);
    if (size > extra.size() - 4) return damaged("an extra field passes its end");
    Span field = extra.subspan(4, size);
    extra = extra.subspan(4 + size);
    if (id != zip64_extra) continue;
    for (uint64_t* number : numbers) {
      if (*number != in_zip64) continue;
      if (field.size() < 8) return damaged("a short zip64 field");
      *number = number_at(field, 0, 8);
      field = field.subspan(8);
    }
  }
  return {};
}

// Reads the member whose central record starts at `at`, and moves `at` behind it.
Result<ZipMember> read_member(Span directory, size_t& at) {
  const Span record = directory.subspan(at);
  if (record.size() < central_bytes || number_at(record, 0, 4) != central_header)
    return damaged("no central directory record");
  const uint64_t name = number_at(record, 28, 2), extra = number_at(record, 30, 2),
                 comment = number_at(record, 32, 2);
  if (central_bytes + name + extra + comment > record.size())
    return damaged("a name passes the end of the central directory");
  if (number_at(record, 8, 2) & 1) return fail(ErrorKind::Unsupported, "zip: encrypted member");
  uint64_t compressed = number_at(record, 20, 4), size = number_at(record, 24, 4),
           offset = number_at(record, 42, 4);
  uint64_t* const numbers[] = {&size, &compressed, &offset};
  HILO_DO(apply_zip64(record.subspan(central_bytes + name, extra), numbers));
  if (std::max({size, compressed, offset}) > INT64_MAX) return damaged("a size of over 2^63");
  ZipMember member;
  member.name.assign(reinterpret_cast<const char*>(record.data()) + central_bytes, name);
  member.method = static_cast<int>(number_at(record, 10, 2));
  member.crc = static_cast<uint32_t>(number_at(record, 16, 4));
  member.compressed = static_cast<int64_t>(compressed);
  member.size = static_cast<int64_t>(size);
  member.header_offset = static_cast<int64_t>(offset);
  at += central_bytes + name + extra + comment;
  return member;
}

Result<int64_t> data_offset(const ByteSource& source, const ZipMember& member) {
  HILO_TRY(const auto header, read_bytes(source, member.header_offset, local_bytes));
  if (number_at(header, 0, 4) != local_header) return damaged("no local header");
  const int64_t offset = member.header_offset + local_bytes +
                         static_cast<int64_t>(number_at(header, 26, 2) + number_at(header, 28, 2));
  if (offset > source.size() || member.compressed > source.size() - offset)
    return damaged("a member passes the end of the file");
  if (member.method != stored && member.method != deflated)
    return fail(ErrorKind::Unsupported, "zip: compression method {}", member.method);
  if (member.method == stored ? member.compressed != member.size
                              : member.size > max_inflated_size(member.compressed))
    return damaged("sizes that cannot be");
  return offset;
}

}  // namespace

Result<std::shared_ptr<const ZipArchive>> ZipArchive::open(
    std::shared_ptr<const ByteSource> source) {
  HILO_TRY(const Directory directory, find_directory(*source));
  HILO_TRY(const auto bytes, read_bytes(*source, directory.offset, directory.size));
  auto archive = std::make_shared<ZipArchive>();
  for (size_t at = 0; at < bytes.size();) {
    HILO_TRY(ZipMember member, read_member(bytes, at));
    archive->members_.push_back(std::move(member));
  }
  archive->source_ = std::move(source);
  return archive;
}

const ZipMember* ZipArchive::find(std::string_view name) const {
  const auto found = std::find_if(members_.rbegin(), members_.rend(),
                                  [&](const ZipMember& member) { return member.name == name; });
  return found == members_.rend() ? nullptr : &*found;
}

Result<Literal> ZipArchive::read(
    const ZipMember& member, const std::function<Result<Literal>(const ReadNext&)>& body) const {
  HILO_TRY(int64_t offset, data_offset(*source_, member));
  std::unique_ptr<Inflater> inflater;
  if (member.method == deflated)
    inflater = std::make_unique<Inflater>(*source_, offset, member.compressed);
  uint32_t crc = 0;
  int64_t left = member.size;
  const ReadNext next = [&](std::span<std::byte> to) -> Result<void> {
    if (static_cast<int64_t>(to.size()) > left) return damaged("a member ends early");
    HILO_DO(inflater ? inflater->read(to) : source_->read_at(offset, to));
    offset += static_cast<int64_t>(to.size());
    left -= static_cast<int64_t>(to.size());
    crc = crc32_of(crc, to);
    return {};
  };
  HILO_TRY(Literal out, body(next));
  std::vector<std::byte> rest(std::min<int64_t>(left, 1 << 16));
  while (left > 0) HILO_DO(next(std::span(rest).first(std::min<int64_t>(left, rest.size()))));
  if (crc != member.crc) return damaged("a checksum does not fit");
  return out;
}

}  // namespace hilo
