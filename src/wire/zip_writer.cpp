#include "wire/deflate.h"
#include "wire/literal_bytes.h"
#include "wire/zip.h"
#include "wire/zip_records.h"

namespace hilo {
namespace {

using namespace zip_record;

constexpr uint64_t version_needed = 45;    // zip64
constexpr uint64_t dos_date = 1 << 5 | 1;  // 1 January 1980: the same bytes every time

// What local and central records have in common, from the version needed to the name's length.
void append_description(std::string& out, const ZipMember& member) {
  append_little_endian(out, version_needed, 2);
  append_little_endian(out, 1 << 11, 2);  // the name is UTF-8
  append_little_endian(out, member.method, 2);
  append_little_endian(out, 0, 2);
  append_little_endian(out, dos_date, 2);
  append_little_endian(out, member.crc, 4);
  append_little_endian(out, in_zip64, 4);
  append_little_endian(out, in_zip64, 4);
  append_little_endian(out, member.name.size(), 2);
}

std::string local_record(const ZipMember& member) {
  std::string out;
  append_little_endian(out, local_header, 4);
  append_description(out, member);
  append_little_endian(out, 20, 2);
  out += member.name;
  append_little_endian(out, zip64_extra, 2);
  append_little_endian(out, 16, 2);
  append_little_endian(out, member.size, 8);
  append_little_endian(out, member.compressed, 8);
  return out;
}

std::string central_record(const ZipMember& member) {
  std::string out;
  append_little_endian(out, central_header, 4);
  append_little_endian(out, 3 << 8 | version_needed, 2);  // made by Unix
  append_description(out, member);
  append_little_endian(out, 28, 2);
  append_little_endian(out, 0, 2);  // comment
  append_little_endian(out, 0, 2);  // disk
  append_little_endian(out, 0, 2);  // internal attributes
  append_little_endian(out, uint64_t{0600} << 16, 4);
  append_little_endian(out, in_zip64, 4);
  out += member.name;
  append_little_endian(out, zip64_extra, 2);
  append_little_endian(out, 24, 2);
  append_little_endian(out, member.size, 8);
  append_little_endian(out, member.compressed, 8);
  append_little_endian(out, member.header_offset, 8);
  return out;
}

std::string end_records(size_t members, int64_t directory, int64_t directory_bytes) {
  std::string out;
  append_little_endian(out, zip64_end_of_central, 4);
  append_little_endian(out, zip64_end_bytes - 12, 8);
  append_little_endian(out, 3 << 8 | version_needed, 2);
  append_little_endian(out, version_needed, 2);
  append_little_endian(out, 0, 8);  // disks
  append_little_endian(out, members, 8);
  append_little_endian(out, members, 8);
  append_little_endian(out, directory_bytes, 8);
  append_little_endian(out, directory, 8);
  append_little_endian(out, zip64_locator, 4);
  append_little_endian(out, 0, 4);
  append_little_endian(out, directory + directory_bytes, 8);
  append_little_endian(out, 1, 4);
  append_little_endian(out, end_of_central, 4);
  append_little_endian(out, 0, 4);
  append_little_endian(out, 0xffff, 2);
  append_little_endian(out, 0xffff, 2);
  append_little_endian(out, in_zip64, 4);
  append_little_endian(out, in_zip64, 4);
  append_little_endian(out, 0, 2);
  return out;
}

}  // namespace

Result<void> ZipWriter::add(std::string_view name,
                            const std::function<Result<void>(const WriteNext&)>& body) {
  if (name.size() > 65535) return fail(ErrorKind::Limit, "a name of {} bytes", name.size());
  ZipMember member;
  member.name = name;
  member.method = deflate_ ? deflated : stored;
  member.header_offset = file_.position();
  HILO_DO(file_.write(local_record(member)));
  const int64_t start = file_.position();
  const WriteNext to_file = [&](std::span<const std::byte> bytes) { return file_.write(bytes); };
  std::unique_ptr<Deflater> deflater;
  if (deflate_) deflater = std::make_unique<Deflater>(to_file);
  HILO_DO(body([&](std::span<const std::byte> bytes) -> Result<void> {
    member.crc = crc32_of(member.crc, bytes);
    member.size += static_cast<int64_t>(bytes.size());
    return deflater ? deflater->write(bytes) : to_file(bytes);
  }));
  if (deflater) HILO_DO(deflater->finish());
  member.compressed = file_.position() - start;
  const std::string header = local_record(member);
  HILO_DO(file_.write_at(member.header_offset, std::as_bytes(std::span(header))));
  members_.push_back(std::move(member));
  return {};
}

Result<void> ZipWriter::finish() {
  const int64_t directory = file_.position();
  for (const ZipMember& member : members_) HILO_DO(file_.write(central_record(member)));
  HILO_DO(file_.write(end_records(members_.size(), directory, file_.position() - directory)));
  return file_.commit();
}

}  // namespace hilo
