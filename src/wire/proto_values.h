// One writer and one reader for each type that a field of an attribute struct may have; the wire
// form of attributes is built from these by overload.
#pragma once

#include <google/protobuf/descriptor.h>

#include "ir/ir.h"
#include "wire/proto_devices.h"

namespace hilo {

using google::protobuf::FieldDescriptor;

// A field below an instruction: the message it stands in, and its descriptor.
struct ProtoPlace {
  proto::HloInstructionProto& instruction;
  google::protobuf::Message& message;
  const FieldDescriptor& field;
  int operand_count;
  std::vector<ComputationId>& called;
};
struct ProtoSource {
  const proto::HloInstructionProto& instruction;
  const google::protobuf::Message& message;
  const FieldDescriptor& field;
  int64_t rank;  // of the instruction's array, or of the first element of its tuple
  std::span<const ComputationId>& called;  // those not taken yet
};

// A number, truth value or text of any width; a repeated field holds it as its only element.
void put_number(const ProtoPlace& place, int64_t value);
int64_t number_of(const ProtoSource& source);  // 0 when there is none
bool has_value(const ProtoSource& source);
void put_text(const ProtoPlace& place, std::string_view text);
std::string text_of(const ProtoSource& source);
// The text or the number of an enumerator; none: an unknown one.
std::optional<size_t> enumerator_of(const ProtoSource& source, std::span<const EnumText> texts);

void put(const ProtoPlace& place, int64_t value);
void put(const ProtoPlace& place, bool value);
void put(const ProtoPlace& place, double value);
void put(const ProtoPlace& place, const std::string& value);
void put(const ProtoPlace& place, const std::optional<int64_t>& value);
void put(const ProtoPlace& place, const std::optional<bool>& value);
void put(const ProtoPlace& place, const Dims& value);
void put(const ProtoPlace& place, const std::optional<Dims>& value);
void put(const ProtoPlace& place, const Window& value);
void put(const ProtoPlace& place, const ConvolutionLabels& value);
void put(const ProtoPlace& place, const std::optional<ConvolutionLabels>& value);
void put(const ProtoPlace& place, const SliceDims& value);
void put(const ProtoPlace& place, const PaddingConfig& value);
void put(const ProtoPlace& place, const Precisions& value);
void put(const ProtoPlace& place, const OutputOperandAliases& value);
void put(const ProtoPlace& place, const LiteralRef& value);
void put(const ProtoPlace& place, const RawText& value);
void put(const ProtoPlace& place, const std::optional<Shape>& value);
void put(const ProtoPlace& place, const std::optional<std::vector<Shape>>& value);
void put(const ProtoPlace& place, const ReplicaGroups& value);
void put(const ProtoPlace& place, const SourceTargetPairs& value);
void put(const ProtoPlace& place, const SliceSizesList& value);
void put(const ProtoPlace& place, ComputationId value);
void put(const ProtoPlace& place, const std::vector<ComputationId>& value);
template <class E>
  requires std::is_enum_v<E>
void put(const ProtoPlace& place, E value) {
  static constexpr auto texts = enum_texts(std::type_identity<E>());
  const EnumText& text = texts[static_cast<size_t>(value)];
  if (place.field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) put_text(place, text.text);
  else put_number(place, text.number);
}

Result<void> get(const ProtoSource& source, int64_t& value);
Result<void> get(const ProtoSource& source, bool& value);
Result<void> get(const ProtoSource& source, double& value);
Result<void> get(const ProtoSource& source, std::string& value);
Result<void> get(const ProtoSource& source, std::optional<int64_t>& value);
Result<void> get(const ProtoSource& source, std::optional<bool>& value);
Result<void> get(const ProtoSource& source, Dims& value);
Result<void> get(const ProtoSource& source, std::optional<Dims>& value);
Result<void> get(const ProtoSource& source, Window& value);
Result<void> get(const ProtoSource& source, ConvolutionLabels& value);
Result<void> get(const ProtoSource& source, std::optional<ConvolutionLabels>& value);
Result<void> get(const ProtoSource& source, SliceDims& value);
Result<void> get(const ProtoSource& source, PaddingConfig& value);
Result<void> get(const ProtoSource& source, Precisions& value);
Result<void> get(const ProtoSource& source, OutputOperandAliases& value);
Result<void> get(const ProtoSource& source, LiteralRef& value);
Result<void> get(const ProtoSource& source, RawText& value);
Result<void> get(const ProtoSource& source, std::optional<Shape>& value);
Result<void> get(const ProtoSource& source, std::optional<std::vector<Shape>>& value);
Result<void> get(const ProtoSource& source, ReplicaGroups& value);
Result<void> get(const ProtoSource& source, SourceTargetPairs& value);
Result<void> get(const ProtoSource& source, SliceSizesList& value);
Result<void> get(const ProtoSource& source, ComputationId& value);
Result<void> get(const ProtoSource& source, std::vector<ComputationId>& value);
template <class E>
  requires std::is_enum_v<E>
Result<void> get(const ProtoSource& source, E& value) {
  static constexpr auto texts = enum_texts(std::type_identity<E>());
  const std::optional<size_t> found = enumerator_of(source, texts);
  if (!found && !has_value(source)) return {};  // of a field that is absent, number 0 is the value
  if (!found)
    return fail(ErrorKind::Unsupported, "{}: an enumerator that nobody knows", source.field.name());
  value = static_cast<E>(*found);
  return {};
}

}  // namespace hilo
