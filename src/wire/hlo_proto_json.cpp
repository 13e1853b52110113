// HloModuleProto and HloProto as protobuf's JSON, with the fields' own names. Format:
// protobuf.dev/programming-guides/json.
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/util/json_util.h>

#include "wire/hlo_proto.h"
#include "wire/proto_module.h"

namespace hilo {
namespace {

using google::protobuf::DescriptorProto;
using google::protobuf::FieldDescriptorProto;
using google::protobuf::Message;

// What is no text in XLA's schema either: numbers of literals, and what back ends keep for
// themselves. JSON has these in base 64.
bool holds_bytes(const DescriptorProto& message, const FieldDescriptorProto& field) {
  for (const std::string_view name : {"backend_config", "infeed_config", "outfeed_config"})
    if (field.name() == name) return true;
  return message.name() == "LiteralProto" || message.name() == "Payload";
}

// hlo.proto has its texts as bytes, which are the same on the wire, and a map as a list of entries.
void restore_texts(DescriptorProto& message) {
  for (FieldDescriptorProto& field : *message.mutable_field())
    if (field.type() == FieldDescriptorProto::TYPE_BYTES && !holds_bytes(message, field))
      field.set_type(FieldDescriptorProto::TYPE_STRING);
  for (DescriptorProto& nested : *message.mutable_nested_type()) restore_texts(nested);
}

void restore_map(DescriptorProto& message) {
  DescriptorProto& entry = *message.mutable_nested_type(0);
  entry.set_name("MapEntry");
  entry.mutable_options()->set_map_entry(true);
  message.mutable_field(0)->set_type_name(".hilo.proto.FrontendAttributes.MapEntry");
}

// The messages of XLA's schema; bytes of one are bytes of the other.
class JsonMessages {
 public:
  JsonMessages() {
    google::protobuf::FileDescriptorProto file;
    proto::HloModuleProto::descriptor()->file()->CopyTo(&file);
    for (DescriptorProto& message : *file.mutable_message_type()) {
      restore_texts(message);
      if (message.name() == "FrontendAttributes") restore_map(message);
    }
    check(pool_.BuildFile(file) != nullptr, "the schema of JSON");
  }
  std::unique_ptr<Message> make(const Message& like) {
    const auto* type = pool_.FindMessageTypeByName(like.GetTypeName());
    check(type != nullptr, "a message of the schema of JSON");
    return std::unique_ptr<Message>(factory_.GetPrototype(type)->New());
  }

 private:
  google::protobuf::DescriptorPool pool_;
  google::protobuf::DynamicMessageFactory factory_;
};

Result<void> parse_json(std::string_view text, Message& to) {
  JsonMessages messages;
  const auto from = messages.make(to);
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  const auto status = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(text.data(), text.size()), from.get(), options);
  if (status.ok() && to.ParseFromString(from->SerializeAsString())) return {};
  const std::string why(status.message());
  return fail(ErrorKind::Format, "expected the JSON of an HloModuleProto: {}",
              why.substr(0, why.find('\n')));
}

// protobuf reads "-0" as the integer; numbers of lists stand alone in their lines.
std::string with_negative_zeros(std::string_view json) {
  constexpr std::string_view zero = " -0";
  std::string out;
  size_t from = 0;
  for (size_t at = 0; (at = json.find(zero, at)) != std::string_view::npos;) {
    const size_t before = json.find_last_not_of(' ', at);
    at += zero.size();
    const bool is_alone = before != std::string_view::npos && json[before] == '\n' &&
                          at < json.size() && (json[at] == '\n' || json[at] == ',');
    if (!is_alone) continue;
    out += json.substr(from, at - from);
    out += ".0";
    from = at;
  }
  return out += json.substr(from);
}

}  // namespace

Result<Module> read_hlo_proto_json(std::span<const std::byte> bytes) {
  if (bytes.size() > INT32_MAX)
    return fail(ErrorKind::Limit, "protobuf holds at most 2 GiB, not {} bytes", bytes.size());
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  proto::HloProto outer;
  if (parse_json(text, outer) && outer.has_hlo_module())
    return read_module_proto(outer.hlo_module());
  proto::HloModuleProto module;
  HILO_DO(parse_json(text, module));
  if (module.computations_size() == 0)
    return fail(ErrorKind::Format, "this JSON has no computations: it is no HloModuleProto");
  return read_module_proto(module);
}

Result<std::string> write_hlo_proto_json(const Module& module) {
  HILO_TRY(const std::string bytes, write_hlo_proto(module));
  JsonMessages messages;
  const auto to = messages.make(proto::HloModuleProto());
  if (!to->ParseFromString(bytes))
    return fail(ErrorKind::Unsupported, "a name or a text of the module is no UTF-8, as JSON is");
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  std::string out;
  const auto status = google::protobuf::util::MessageToJsonString(*to, &out, options);
  if (!status.ok())
    return fail(ErrorKind::Limit, "the module cannot be written as JSON: {}",
                std::string(status.message()));
  return with_negative_zeros(out);
}

}  // namespace hilo
