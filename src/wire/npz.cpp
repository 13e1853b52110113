#include "wire/npy.h"
#include "wire/zip.h"

namespace hilo {
namespace {

constexpr std::string_view suffix = ".npy";

}  // namespace

Result<NpzReader> NpzReader::from(std::shared_ptr<const ByteSource> source) {
  return within_memory([&] -> Result<NpzReader> {
    NpzReader out;
    HILO_TRY(out.archive_, ZipArchive::open(std::move(source)));
    for (const ZipMember& member : out.archive_->members())
      if (member.name.ends_with(suffix))
        out.names_.push_back(member.name.substr(0, member.name.size() - suffix.size()));
    return out;
  });
}

Result<NpzReader> NpzReader::open(const std::string& path) {
  HILO_TRY(auto source, ByteSource::open(path));
  Result<NpzReader> out = from(std::move(source));
  if (!out) out.error().place.file = path;
  return out;
}

bool NpzReader::contains(std::string_view name) const {
  return archive_->find(std::string(name) + std::string(suffix)) != nullptr;
}

Result<Literal> NpzReader::read(std::string_view name) const {
  return within_memory([&] -> Result<Literal> {
    const ZipMember* member = archive_->find(std::string(name) + std::string(suffix));
    if (member == nullptr) return fail(ErrorKind::Input, "the archive has no array '{}'", name);
    Result<Literal> out = archive_->read(
        *member, [&](const ReadNext& next) { return read_npy_stream(next, member->size); });
    if (!out) out.error().message = fmt::format("{}: {}", name, out.error().message);
    return out;
  });
}

Result<std::vector<NamedLiteral>> read_npz(const std::string& path) {
  HILO_TRY(const NpzReader reader, NpzReader::open(path));
  std::vector<NamedLiteral> out;
  for (const std::string& name : reader.names()) {
    Result<Literal> literal = reader.read(name);
    if (!literal) {
      literal.error().place.file = path;
      return std::unexpected(literal.error());
    }
    out.push_back({name, *std::move(literal)});
  }
  return out;
}

Result<NpzWriter> NpzWriter::create(const std::string& path, bool deflate) {
  HILO_TRY(NewFile file, NewFile::create(path));
  NpzWriter out;
  out.zip_ = std::make_shared<ZipWriter>(std::move(file), deflate);
  return out;
}

Result<void> NpzWriter::add(std::string_view name, const Literal& literal) {
  return zip_->add(std::string(name) + std::string(suffix),
                   [&](const WriteNext& write) { return write_npy_stream(write, literal); });
}

Result<void> NpzWriter::finish() { return zip_->finish(); }

Result<void> write_npz(const std::string& path, std::span<const NamedLiteral> arrays,
                       bool deflate) {
  HILO_TRY(NpzWriter writer, NpzWriter::create(path, deflate));
  for (const NamedLiteral& array : arrays) HILO_DO(writer.add(array.name, array.literal));
  return writer.finish();
}

}  // namespace hilo
