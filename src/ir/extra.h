// What any instruction may carry besides its op's attributes.
#pragma once

#include <map>

#include "ir/sharding.h"

namespace hilo {

// Sorted by key. A value is a string, or a JSON-like dictionary kept as it stood.
struct FrontendValue {
  std::string text;  // unquoted
  bool is_dictionary = false;
  bool operator==(const FrontendValue&) const = default;
};
using FrontendAttributes = std::map<std::string, FrontendValue>;

struct Metadata {  // views into the module's strings
  std::string_view op_type, op_name, source_file;
  int64_t source_line = 0, source_end_line = 0, source_column = 0, source_end_column = 0;
  int64_t stack_frame_id = 0;     // 0: none
  std::string_view profile_type;  // the text after profile_type=, braces included
  std::string_view deduplicated_name, scheduling_name, metadata_payload;
  std::string_view unknown;  // fields nobody knows as they stood, a space between them
  bool operator==(const Metadata&) const = default;
};

// {mode=highest} or {tolerance={atol=1,rtol=0.5,ulps=2}}, kept as it stood.
struct Extra {
  std::shared_ptr<const Sharding> sharding;
  FrontendAttributes frontend_attributes;
  std::vector<InstructionId> control_predecessors;
  std::string statistics, result_accuracy, origin;  // as they stood, braces included
  std::vector<bool> parameter_replication;
  std::string_view backend_config;  // the value: unquoted text, or the JSON dictionary as it stood
  bool backend_config_is_json = false;
  std::vector<std::pair<std::string, std::string>> unknown;  // name and raw value, printed again
};

}  // namespace hilo
