// A file of named arrays, .npz or .safetensors, found by its content.
#pragma once

#include <variant>

#include "wire/wire.h"

namespace hilo::tools {

class ArrayFile {
 public:
  static Result<ArrayFile> open(const std::string& path);
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
  static Result<ArrayFile> from(const std::shared_ptr<const ByteSource>& source);

  std::variant<NpzReader, SafetensorsReader> reader_;
};

// The reader's error with the file's name, with what is there where that can be said ("found text"
// in place of a size that the text's first letters give), and with what was expected.
Error expected_arrays(Error error, const std::string& path, std::string_view expected);

}  // namespace hilo::tools
