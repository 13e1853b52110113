// Numbers, truth values and texts of attributes, through protobuf's reflection.
#include <google/protobuf/reflection.h>

#include "wire/proto_values.h"

namespace hilo {
namespace {

using google::protobuf::Message;
using google::protobuf::Reflection;

const Reflection& reflection_of(const Message& message) { return *message.GetReflection(); }

}  // namespace

void put_number(const ProtoPlace& place, int64_t value) {
  const Reflection& reflection = reflection_of(place.message);
  Message* const to = &place.message;
  const FieldDescriptor* const field = &place.field;
  const auto narrow = static_cast<int32_t>(value);
  const bool repeated = field->is_repeated();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
      return repeated ? reflection.AddInt64(to, field, value)
                      : reflection.SetInt64(to, field, value);
    case FieldDescriptor::CPPTYPE_INT32:
      return repeated ? reflection.AddInt32(to, field, narrow)
                      : reflection.SetInt32(to, field, narrow);
    case FieldDescriptor::CPPTYPE_ENUM:
      return repeated ? reflection.AddEnumValue(to, field, narrow)
                      : reflection.SetEnumValue(to, field, narrow);
    case FieldDescriptor::CPPTYPE_BOOL:
      return repeated ? reflection.AddBool(to, field, value != 0)
                      : reflection.SetBool(to, field, value != 0);
    default: fail_check("put_number: not a number", std::source_location::current());
  }
}

bool has_value(const ProtoSource& source) {
  const Reflection& reflection = reflection_of(source.message);
  return source.field.is_repeated() ? reflection.FieldSize(source.message, &source.field) > 0
                                    : reflection.HasField(source.message, &source.field);
}

int64_t number_of(const ProtoSource& source) {
  if (!has_value(source)) return 0;
  const Reflection& reflection = reflection_of(source.message);
  const Message& from = source.message;
  const FieldDescriptor* const field = &source.field;
  const bool repeated = field->is_repeated();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
      return repeated ? reflection.GetRepeatedInt64(from, field, 0)
                      : reflection.GetInt64(from, field);
    case FieldDescriptor::CPPTYPE_INT32:
      return repeated ? reflection.GetRepeatedInt32(from, field, 0)
                      : reflection.GetInt32(from, field);
    case FieldDescriptor::CPPTYPE_ENUM:
      return repeated ? reflection.GetRepeatedEnumValue(from, field, 0)
                      : reflection.GetEnumValue(from, field);
    case FieldDescriptor::CPPTYPE_BOOL: return reflection.GetBool(from, field);
    default: fail_check("number_of: not a number", std::source_location::current());
  }
}

void put_text(const ProtoPlace& place, std::string_view text) {
  reflection_of(place.message).SetString(&place.message, &place.field, std::string(text));
}

std::string text_of(const ProtoSource& source) {
  return reflection_of(source.message).GetString(source.message, &source.field);
}

std::optional<size_t> enumerator_of(const ProtoSource& source, std::span<const EnumText> texts) {
  const bool is_text = source.field.cpp_type() == FieldDescriptor::CPPTYPE_STRING;
  for (size_t i = 0; i < texts.size(); ++i)
    if (is_text ? texts[i].text == text_of(source) : texts[i].number == number_of(source)) return i;
  return std::nullopt;
}

void put(const ProtoPlace& place, int64_t value) { put_number(place, value); }
void put(const ProtoPlace& place, bool value) { put_number(place, value); }
void put(const ProtoPlace& place, const std::string& value) { put_text(place, value); }
void put(const ProtoPlace& place, double value) {
  reflection_of(place.message).SetFloat(&place.message, &place.field, static_cast<float>(value));
}
void put(const ProtoPlace& place, const std::optional<int64_t>& value) {
  if (value) put_number(place, *value);
}

// As a TriState; or as a bool whose "false" has a field of Hilo's own.
void put(const ProtoPlace& place, const std::optional<bool>& value) {
  if (!value) return;
  const bool is_enum = place.field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM;
  put_number(place, is_enum && !*value ? int64_t{proto::TRI_STATE_FALSE} : int64_t{*value});
  if (!is_enum) place.instruction.set_topk_is_stable(*value);
}

void put(const ProtoPlace& place, const Dims& value) {
  for (int64_t number : value) put_number(place, number);
}
void put(const ProtoPlace& place, const std::optional<Dims>& value) {
  if (value) put(place, *value);
}

Result<void> get(const ProtoSource& source, int64_t& value) {
  if (has_value(source)) value = number_of(source);
  return {};
}
Result<void> get(const ProtoSource& source, bool& value) {
  value = number_of(source) != 0;
  return {};
}
Result<void> get(const ProtoSource& source, std::string& value) {
  value = text_of(source);
  return {};
}
// The decimal text of the float is what was meant: 0.001, not 0.0010000000474974513.
Result<void> get(const ProtoSource& source, double& value) {
  const float read = reflection_of(source.message).GetFloat(source.message, &source.field);
  value = std::strtod(fmt::format("{}", read).c_str(), nullptr);
  return {};
}
Result<void> get(const ProtoSource& source, std::optional<int64_t>& value) {
  if (has_value(source)) value = number_of(source);
  return {};
}
Result<void> get(const ProtoSource& source, std::optional<bool>& value) {
  const int64_t number = number_of(source);
  if (source.field.cpp_type() != FieldDescriptor::CPPTYPE_ENUM) {
    if (number != 0 || source.instruction.has_topk_is_stable()) value = number != 0;
  } else if (number == proto::TRI_STATE_TRUE || number == proto::TRI_STATE_FALSE) {
    value = number == proto::TRI_STATE_TRUE;
  }
  return {};
}

Result<void> get(const ProtoSource& source, Dims& value) {
  value = dims_of(
      reflection_of(source.message).GetRepeatedFieldRef<int64_t>(source.message, &source.field));
  return {};
}
Result<void> get(const ProtoSource& source, std::optional<Dims>& value) {
  return has_value(source) ? get(source, value.emplace()) : Result<void>();
}

}  // namespace hilo
