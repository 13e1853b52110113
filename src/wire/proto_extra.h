// What any instruction may carry besides its op's attributes, as messages.
#pragma once

#include "ir/ir.h"
#include "wire/proto_devices.h"

namespace hilo {

void write_frontend(const FrontendAttributes& attributes, proto::FrontendAttributes& to);
FrontendAttributes read_frontend(const proto::FrontendAttributes& from);

void write_metadata(const Metadata& metadata, proto::OpMetadata& to);
// Payloads may stand in the module, by index.
using Payloads = google::protobuf::RepeatedPtrField<std::string>;
Metadata read_metadata(const proto::OpMetadata& from, const Payloads& payloads,
                       StringArena& strings);

// All but control predecessors, which are ids.
void write_extra(const Extra& extra, proto::HloInstructionProto& to);
Result<Extra> read_extra(const proto::HloInstructionProto& from, const Payloads& payloads,
                         StringArena& strings);

// origin={({"a"}, {"b" {1,2}})}
bool write_origin(std::string_view text, proto::OriginalValueProto& to);
Result<std::string> print_origin(const proto::OriginalValueProto& from);

// Whether text is a brace-balanced dictionary of JSON's words, as HLO text has it unquoted.
bool is_dictionary(std::string_view text);

}  // namespace hilo
