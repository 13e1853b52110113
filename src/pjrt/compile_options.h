// What a client asks of a compilation: XLA's CompileOptionsProto. Private to `pjrt`.
#pragma once

#include <map>
#include <variant>

#include "pjrt/protobuf_fields.h"
#include "shape/shape.h"

namespace hilo::pjrt {

// What to write of a module; nothing where there is no folder.
struct DumpSettings {
  std::string folder;
  bool as_text = false, as_proto = false;  // neither: text
};

struct CompileSettings {
  int64_t replicas = 1, partitions = 1;
  bool is_portable = false;  // Execute names the device
  bool has_tupled_arguments = false;
  int64_t device_ordinal = -1;
  // Of replica 0 of each partition, then of partition 1 ... as the proto has it; empty: the
  // default.
  std::vector<std::vector<int64_t>> devices;         // [partition][replica]
  std::vector<Dims> argument_orders, result_orders;  // minor to major; empty: none is wanted
  std::vector<bool> propagates_to_parameters, propagates_to_results;
  DumpSettings dump;

  // Device of each replica and partition.
  int64_t device(int64_t replica, int64_t partition) const;
};

// Format for damage; Input for options that nobody knows, with XLA's words, which frameworks' users
// look for.
Result<CompileSettings> read_compile_options(std::string_view bytes);
// DeviceAssignmentProto of the settings.
std::string device_assignment(const CompileSettings& settings);

}  // namespace hilo::pjrt
