// The fields of a protobuf message, one after another, without its schema. Format: protobuf.dev,
// "Encoding". Private to `pjrt`.
#pragma once

#include <optional>
#include <vector>

#include "base/base.h"

namespace hilo::pjrt {

struct ProtobufField {
  int64_t number = 0;
  uint64_t value = 0;      // of a varint or of a fixed number's bits
  std::string_view bytes;  // of a text, a message, a packed list
  bool has_bytes = false;
};

class ProtobufFields {
 public:
  explicit ProtobufFields(std::string_view message) : rest_(message) {}
  // Nothing at the end. Format where the bytes are no message.
  Result<std::optional<ProtobufField>> next();

 private:
  Result<std::string_view> take(uint64_t bytes);
  std::string_view rest_;
};

// The last field of a number that holds bytes; empty where there is none.
Result<std::string_view> find_bytes_field(std::string_view message, int64_t number);
// The numbers of a repeated field: a packed list of them, or one.
Result<void> append_numbers(const ProtobufField& field, std::vector<int64_t>& to);

// Appended to a message.
void put_varint_field(std::string& to, int64_t number, uint64_t value);
void put_bytes_field(std::string& to, int64_t number, std::string_view bytes);

}  // namespace hilo::pjrt
