// HloModuleProto and HloProto as bytes and as protobuf's text and JSON.
#pragma once

#include "wire/wire.h"

namespace hilo {

Result<Module> read_hlo_proto(std::span<const std::byte> bytes);
Result<Module> read_hlo_proto_text(std::span<const std::byte> bytes);
Result<Module> read_hlo_proto_json(std::span<const std::byte> bytes);

}  // namespace hilo
