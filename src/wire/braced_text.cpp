#include "wire/braced_text.h"

#include <fmt/core.h>
#include <google/protobuf/descriptor.h>

#include <algorithm>

#include "wire/text_scanner.h"

namespace hilo {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

std::string in_case(std::string_view text, int (*convert)(int)) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [&](unsigned char c) { return convert(c); });
  return out;
}

bool read_value(TextScanner& scanner, Message& to, const FieldDescriptor& field) {
  const auto& reflection = *to.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE: {
      std::string_view inside;
      return scanner.braced(inside) && read_braced(inside, *reflection.MutableMessage(&to, &field));
    }
    case FieldDescriptor::CPPTYPE_STRING: {
      std::string_view inside;
      return scanner.string(inside) && (reflection.SetString(&to, &field, unquoted(inside)), true);
    }
    case FieldDescriptor::CPPTYPE_DOUBLE: {
      double value;
      return scanner.number(value) && (reflection.SetDouble(&to, &field, value), true);
    }
    case FieldDescriptor::CPPTYPE_INT64: {
      int64_t value;
      return scanner.number(value) && (reflection.SetInt64(&to, &field, value), true);
    }
    case FieldDescriptor::CPPTYPE_INT32: {
      int32_t value;
      return scanner.number(value) && (reflection.SetInt32(&to, &field, value), true);
    }
    case FieldDescriptor::CPPTYPE_ENUM: {
      const auto* value = field.enum_type()->FindValueByName(in_case(scanner.word(), std::toupper));
      return value && (reflection.SetEnum(&to, &field, value), true);
    }
    default: return false;
  }
}

std::string print_value(const Message& from, const FieldDescriptor& field,
                        std::string_view between) {
  const auto& reflection = *from.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return print_braced(reflection.GetMessage(from, &field), between);
    case FieldDescriptor::CPPTYPE_STRING: return quoted(reflection.GetString(from, &field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return fmt::format("{}", reflection.GetDouble(from, &field));
    case FieldDescriptor::CPPTYPE_INT64:
      return fmt::format("{}", reflection.GetInt64(from, &field));
    case FieldDescriptor::CPPTYPE_INT32:
      return fmt::format("{}", reflection.GetInt32(from, &field));
    case FieldDescriptor::CPPTYPE_ENUM:
      return in_case(reflection.GetEnum(from, &field)->name(), std::tolower);
    default: return "";
  }
}

}  // namespace

std::vector<std::string_view> split_braced(std::string_view text) {
  if (text.empty()) return {};
  TextScanner scanner(text);
  std::vector<std::string_view> parts;
  if (!scanner.accept('{') || !scanner.peek('{')) return {text};
  std::string_view part;
  do {
    if (scanner.braced(part)) parts.push_back(part);
  } while (scanner.accept(','));
  return parts;
}

bool read_braced(std::string_view text, Message& to) {
  TextScanner scanner(text);
  if (!scanner.accept('{')) return false;
  while (!scanner.accept('}')) {
    const std::string name(scanner.word());
    const FieldDescriptor* field = to.GetDescriptor()->FindFieldByName(name);
    if (!field || field->is_repeated() || !scanner.accept('=')) return false;
    if (!read_value(scanner, to, *field)) return false;
    scanner.accept(',');
  }
  return scanner.at_end();
}

std::string print_braced(const Message& from, std::string_view separator) {
  std::vector<const FieldDescriptor*> fields;
  for (int i = 0; i < from.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = from.GetDescriptor()->field(i);
    if (!field->is_repeated() && from.GetReflection()->HasField(from, field))
      fields.push_back(field);
  }
  std::string text = "{";
  for (const FieldDescriptor* field : fields) {
    if (text.size() > 1) text += separator;
    text += field->name() + "=" + print_value(from, *field, separator);
  }
  return text + "}";
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || c == '\'') out += '\\', out += c;
    else if (c == '\n') out += "\\n";
    else if (c == '\r') out += "\\r";
    else if (c == '\t') out += "\\t";
    else if (code < 32 || code >= 127) out += fmt::format("\\{:03o}", code);
    else out += c;
  }
  return out + "\"";
}

std::string unquoted(std::string_view inside) {
  std::string out;
  for (size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] != '\\' || i + 1 == inside.size()) {
      out += inside[i];
      continue;
    }
    constexpr std::string_view letters = "nrt", meanings = "\n\r\t";
    const char next = inside[++i];
    const size_t letter = letters.find(next);
    int code = 0;
    size_t digits = 0;
    while (digits < 3 && i + digits < inside.size() && inside[i + digits] >= '0' &&
           inside[i + digits] <= '7')
      code = code * 8 + (inside[i + digits++] - '0');
    if (digits > 0) i += digits - 1;
    out += digits > 0                         ? static_cast<char>(code)
           : letter == std::string_view::npos ? next
                                              : meanings[letter];
  }
  return out;
}

}  // namespace hilo
