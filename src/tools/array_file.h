// A file of named arrays, .npz or .safetensors, found by its content.
#pragma once

#include <variant>

#include "wire/wire.h"

namespace hilo::tools {

class ArrayFile {
 public:
  static Result<ArrayFile> open(const std::string& path) {
    HILO_TRY(auto source, ByteSource::open(path));
    auto out = from(source);
    if (!out) {
      out.error().place.file = path;
      out.error().message += "; a .npz or .safetensors file was expected";
    }
    return out;
  }
  const std::vector<std::string>& names() const {
    return std::visit([](const auto& r) -> const auto& { return r.names(); }, reader_);
  }
  bool has(std::string_view name) const {
    return std::visit([&](const auto& r) { return r.contains(name); }, reader_);
  }
  Result<Literal> read(std::string_view name) const {
    return std::visit([&](const auto& r) { return r.read(name); }, reader_);
  }

 private:
  static Result<ArrayFile> from(const std::shared_ptr<const ByteSource>& source) {
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

  std::variant<NpzReader, SafetensorsReader> reader_;
};

}  // namespace hilo::tools
