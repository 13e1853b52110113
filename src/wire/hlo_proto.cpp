// HloModuleProto and HloProto as bytes and as protobuf's text.
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include "wire/hlo_proto.h"
#include "wire/proto_devices.h"
#include "wire/proto_module.h"

namespace hilo {
namespace {

using google::protobuf::Message;
constexpr int deepest_message = 1000;

bool parse_bytes(std::span<const std::byte> bytes, Message& to) {
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const uint8_t*>(bytes.data()),
                                               static_cast<int>(bytes.size()));
  input.SetRecursionLimit(deepest_message);
  return to.ParseFromCodedStream(&input) && input.ConsumedEntireMessage();
}

// Keeps the first error of the text parser, with its place.
class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    if (error.message.empty())
      error = {ErrorKind::Format, "protobuf text: " + message, {"", line + 1, column + 1}};
  }
  Error error;
};

bool parse_text(std::span<const std::byte> bytes, Message& to, Error& error) {
  google::protobuf::io::ArrayInputStream input(bytes.data(), static_cast<int>(bytes.size()));
  FirstError first;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&first);
  parser.SetRecursionLimit(deepest_message);
  parser.AllowUnknownField(true);
  parser.AllowUnknownExtension(true);
  const bool parsed = parser.Parse(&input, &to);
  error = first.error;
  return parsed;
}

}  // namespace

Result<Module> read_hlo_proto(std::span<const std::byte> bytes) {
  if (bytes.size() > INT32_MAX)
    return fail(ErrorKind::Limit, "protobuf holds at most 2 GiB, not {} bytes", bytes.size());
  // An HloProto has its module where a module has its name, and nothing where a module has the
  // shape of its program.
  proto::HloModuleProto module;
  const bool parsed = parse_bytes(bytes, module);
  if (parsed && module.has_host_program_shape()) return read_module_proto(module);
  proto::HloProto outer;
  if (parse_bytes(bytes, outer) && outer.hlo_module().computations_size() > 0)
    return read_module_proto(outer.hlo_module());
  if (!parsed) return fail(ErrorKind::Format, "the bytes are no HloModuleProto, or are cut short");
  return read_module_proto(module);
}

Result<Module> read_hlo_proto_text(std::span<const std::byte> bytes) {
  if (bytes.size() > INT32_MAX)
    return fail(ErrorKind::Limit, "protobuf holds at most 2 GiB, not {} bytes", bytes.size());
  Error error, ignored;
  proto::HloProto outer;
  if (parse_text(bytes, outer, ignored) && outer.has_hlo_module())
    return read_module_proto(outer.hlo_module());
  proto::HloModuleProto module;
  if (!parse_text(bytes, module, error)) return std::unexpected(error);
  return read_module_proto(module);
}

Result<std::string> write_hlo_proto(const Module& module) {
  return within_memory([&] -> Result<std::string> {
    proto::HloModuleProto to;
    write_module_proto(module, to);
    const size_t size = to.ByteSizeLong();
    if (size > INT32_MAX)
      return fail(ErrorKind::Limit, "protobuf holds at most 2 GiB, the module has {} bytes", size);
    std::string out;
    google::protobuf::io::StringOutputStream stream(&out);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    check(to.SerializeToCodedStream(&coded), "write_hlo_proto");
    coded.Trim();
    return out;
  });
}

Result<std::string> write_hlo_proto_text(const Module& module) {
  return within_memory([&] -> Result<std::string> {
    proto::HloModuleProto to;
    write_module_proto(module, to);
    std::string out;
    if (!google::protobuf::TextFormat::PrintToString(to, &out))
      return fail(ErrorKind::Limit, "the module is too large for protobuf's text");
    return out;
  });
}

Result<Sharding> read_sharding_proto(std::string_view bytes) {
  if (bytes.size() > INT32_MAX)
    return fail(ErrorKind::Limit, "protobuf holds at most 2 GiB, not {} bytes", bytes.size());
  proto::OpSharding from;
  if (!parse_bytes(std::as_bytes(std::span(bytes)), from))
    return fail(ErrorKind::Format, "the bytes are no OpSharding, or are cut short");
  return read_sharding(from);
}

std::string write_sharding_proto(const Sharding& sharding) {
  proto::OpSharding to;
  write_sharding(sharding, to);
  return to.SerializeAsString();
}

std::string write_shape_proto(const Shape& shape) {
  proto::ShapeProto to;
  write_shape(shape, to);
  return to.SerializeAsString();
}

}  // namespace hilo
