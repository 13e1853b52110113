#include "pjrt/protobuf_fields.h"

#include <cstring>

namespace hilo::pjrt {
namespace {

enum WireType : uint8_t { Varint = 0, Fixed64 = 1, Delimited = 2, Fixed32 = 5 };

void put_varint(std::string& to, uint64_t value) {
  for (; value >= 0x80; value >>= 7) to.push_back(static_cast<char>(value | 0x80));
  to.push_back(static_cast<char>(value));
}

Result<uint64_t> take_varint(std::string_view& rest) {
  uint64_t out = 0;
  for (int shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    out |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return out;
  }
  return fail(ErrorKind::Format, "compile options: a number has no end");
}

}  // namespace

Result<std::string_view> ProtobufFields::take(uint64_t bytes) {
  if (bytes > rest_.size())
    return fail(ErrorKind::Format, "compile options: a field of {} bytes, where {} are left", bytes,
                rest_.size());
  const std::string_view out = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return out;
}

Result<std::optional<ProtobufField>> ProtobufFields::next() {
  if (rest_.empty()) return std::nullopt;
  HILO_TRY(const uint64_t tag, take_varint(rest_));
  ProtobufField out;
  out.number = static_cast<int64_t>(tag >> 3);
  switch (tag & 7) {
    case Varint: {
      HILO_TRY(out.value, take_varint(rest_));
      return out;
    }
    case Fixed64:
    case Fixed32: {
      HILO_TRY(const std::string_view bytes, take((tag & 7) == Fixed64 ? 8 : 4));
      std::memcpy(&out.value, bytes.data(), bytes.size());
      return out;
    }
    case Delimited: {
      HILO_TRY(const uint64_t size, take_varint(rest_));
      HILO_TRY(out.bytes, take(size));
      out.has_bytes = true;
      return out;
    }
    default: return fail(ErrorKind::Format, "compile options: no field has the type {}", tag & 7);
  }
}

Result<std::string_view> find_bytes_field(std::string_view message, int64_t number) {
  ProtobufFields fields(message);
  std::string_view out;
  while (true) {
    HILO_TRY(const std::optional<ProtobufField> field, fields.next());
    if (!field) return out;
    if (field->number == number) out = field->bytes;
  }
}

Result<void> append_numbers(const ProtobufField& field, std::vector<int64_t>& to) {
  if (!field.has_bytes) {
    to.push_back(static_cast<int64_t>(field.value));
    return {};
  }
  std::string_view rest = field.bytes;
  while (!rest.empty()) {
    HILO_TRY(const uint64_t value, take_varint(rest));
    to.push_back(static_cast<int64_t>(value));
  }
  return {};
}

void put_varint_field(std::string& to, int64_t number, uint64_t value) {
  put_varint(to, static_cast<uint64_t>(number) << 3 | Varint);
  put_varint(to, value);
}

void put_bytes_field(std::string& to, int64_t number, std::string_view bytes) {
  put_varint(to, static_cast<uint64_t>(number) << 3 | Delimited);
  put_varint(to, bytes.size());
  to += bytes;
}

}  // namespace hilo::pjrt
