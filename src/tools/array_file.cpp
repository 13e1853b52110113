#include "tools/array_file.h"

#include <algorithm>
#include <array>

namespace hilo::tools {
namespace {

// What a file holds instead, or nothing where its bytes do not say it.
std::string_view content_of(const ByteSource& source) {
  if (source.size() == 0) return "an empty file";
  std::array<std::byte, 4096> start;
  const auto head = std::span(start).first(std::min<size_t>(start.size(), source.size()));
  if (!source.read_at(0, head)) return {};
  const Format format = detect_format(head);
  // What no other form claims counts as HLO text, and any bytes as a proto.
  if (format == Format::HloText) return "text";
  return format == Format::HloProto ? std::string_view() : text_of(format);
}

}  // namespace

Error expected_arrays(Error error, const std::string& path, std::string_view expected) {
  error.place.file = path;
  std::string_view found;
  if (const auto source = ByteSource::open(path)) found = content_of(**source);
  if (error.kind == ErrorKind::Format && !found.empty() && !expected.contains(found))
    error.message = fmt::format("found {}", found);
  error.message += fmt::format("; {} was expected", expected);
  return error;
}

Result<ArrayFile> ArrayFile::open(const std::string& path) {
  HILO_TRY(auto source, ByteSource::open(path));
  auto out = from(source);
  if (!out)
    return std::unexpected(expected_arrays(out.error(), path, "a .npz or .safetensors file"));
  return out;
}

Result<ArrayFile> ArrayFile::from(const std::shared_ptr<const ByteSource>& source) {
  char start[2] = {};
  if (source->size() >= 2) HILO_DO(source->read_at(0, std::as_writable_bytes(std::span(start))));
  ArrayFile out;
  if (start[0] == 'P' && start[1] == 'K') {
    HILO_TRY(out.reader_, NpzReader::from(source));
  } else {
    HILO_TRY(out.reader_, SafetensorsReader::from(source));
  }
  return out;
}

}  // namespace hilo::tools
