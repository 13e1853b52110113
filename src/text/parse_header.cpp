// `HloModule NAME, attribute=value, ...`
#include "text/parse_fields.h"

namespace hilo {
namespace {

// { {output}: (parameter, {index}, may-alias|must-alias), ... }
bool read_alias(Parser& parser) {
  auto& out = parser.module.header.input_output_alias;
  if (!parser.expect('{', "before the aliases")) return false;
  if (parser.accept('}')) return true;
  do {
    BufferAlias& alias = out.emplace_back();
    if (!parse_dims(parser, alias.output_index) || !parser.expect(':', "in an alias") ||
        !parser.expect('(', "in an alias") || !parser.non_negative(alias.parameter) ||
        !parser.expect(',', "in an alias") || !parse_dims(parser, alias.parameter_index))
      return false;
    if (parser.accept(',')) {
      alias.must_alias = parser.accept_word("must-alias");
      if (!alias.must_alias && !parser.accept_word("may-alias"))
        return parser.fail_expected("may-alias or must-alias");
    }
    if (!parser.expect(')', "in an alias")) return false;
  } while (parser.accept(','));
  return parser.expect('}', "after the aliases");
}

// { (parameter, {index}), ... }
bool read_donor(Parser& parser) {
  auto& out = parser.module.header.buffer_donor;
  if (!parser.expect('{', "before the donors")) return false;
  if (parser.accept('}')) return true;
  do {
    BufferDonor& donor = out.emplace_back();
    if (!parser.expect('(', "in a donor") || !parser.non_negative(donor.parameter) ||
        !parser.expect(',', "in a donor") || !parse_dims(parser, donor.parameter_index) ||
        !parser.expect(')', "in a donor"))
      return false;
  } while (parser.accept(','));
  return parser.expect('}', "after the donors");
}

bool parse_shape_by_text(Parser& parser, Shape& out) {
  ShapeId id;
  if (!parse_shape_id(parser, id)) return false;
  return out = parser.module.shapes[id], true;
}

// {(shape, ...)->shape}
bool read_entry_layout(Parser& parser) {
  EntryLayout& out = parser.module.header.entry_computation_layout.emplace();
  if (!parser.expect('{', "before the entry layout") || !parser.expect('(', "in the entry layout"))
    return false;
  if (!parser.accept(')')) {
    do {
      if (!parse_shape_by_text(parser, out.parameters.emplace_back())) return false;
    } while (parser.accept(','));
    if (!parser.expect(')', "after the parameters' shapes")) return false;
  }
  if (!parser.accept(std::string_view("->"))) return parser.fail_expected("'->'");
  return parse_shape_by_text(parser, out.result) && parser.expect('}', "after the entry layout");
}

// true, or {true,false}
template <std::vector<bool> ModuleHeader::* member>
bool read_flags(Parser& parser) {
  auto& out = parser.module.header.*member;
  const bool braced = parser.accept('{');
  if (braced && parser.accept('}')) return true;
  do {
    bool value;
    if (!parse_value(parser, value)) return false;
    out.push_back(value);
  } while (braced && parser.accept(','));
  return !braced || parser.expect('}', "after true or false");
}

template <bool ModuleHeader::* member>
bool read_flag(Parser& parser) {
  return parse_value(parser, parser.module.header.*member);
}

template <int64_t ModuleHeader::* member>
bool read_count(Parser& parser) {
  const char* start = (parser.skip(), parser.at);
  int64_t& out = parser.module.header.*member;
  if (!parser.non_negative(out)) return false;
  if (out >= 1 && out <= int64_t{1} << 24) return true;
  return parser.fail_at(start, ErrorKind::Limit, fmt::format("{} is not between 1 and 2^24", out));
}

template <std::string ModuleHeader::* member>
bool read_raw(Parser& parser) {
  std::string_view raw;
  return parser.balanced(raw) && (parser.module.header.*member = raw, true);
}

bool read_frontend_attributes(Parser& parser) {
  return parse_frontend_attributes(parser, parser.module.header.frontend_attributes);
}

struct HeaderReader {
  std::string_view name;
  bool (*read)(Parser&);
};
constexpr HeaderReader readers[] = {
    {"is_scheduled", read_flag<&ModuleHeader::is_scheduled>},
    {"input_output_alias", read_alias},
    {"buffer_donor", read_donor},
    {"alias_passthrough_params", read_flag<&ModuleHeader::alias_passthrough_params>},
    {"entry_computation_layout", read_entry_layout},
    {"allow_spmd_sharding_propagation_to_parameters",
     read_flags<&ModuleHeader::allow_spmd_sharding_propagation_to_parameters>},
    {"allow_spmd_sharding_propagation_to_output",
     read_flags<&ModuleHeader::allow_spmd_sharding_propagation_to_output>},
    {"replica_count", read_count<&ModuleHeader::replica_count>},
    {"num_partitions", read_count<&ModuleHeader::num_partitions>},
    {"frontend_attributes", read_frontend_attributes},
    {"origin_recovery_table", read_raw<&ModuleHeader::origin_recovery_table>},
    {"debug_attributes", read_raw<&ModuleHeader::debug_attributes>},
};

bool read_attribute(Parser& parser, uint64_t& seen) {
  const char* at = (parser.skip(), parser.at);
  const std::string_view name = parser.word();
  if (name.empty()) return parser.fail_expected("the name of a module attribute");
  if (!parser.expect('=', "after the name of a module attribute")) return false;
  for (size_t i = 0; i < std::size(readers); ++i)
    if (readers[i].name == name) {
      if (seen >> i & 1)
        return parser.fail_at(at, ErrorKind::Syntax,
                              fmt::format("the module attribute '{}' stands twice", name));
      seen |= uint64_t{1} << i;
      return readers[i].read(parser);
    }
  std::string_view value;
  if (!parse_raw_value(parser, value)) return false;
  parser.warn(at, fmt::format("unknown module attribute '{}' is kept as it is", name));
  parser.module.header.unknown.emplace_back(name, value);
  return true;
}

}  // namespace

bool parse_header(Parser& parser) {
  std::string_view name;
  if (!parser.name(name, "the name of the module")) return false;
  parser.module.header.name = name;
  if (*parser.at == ':') ++parser.at;  // XLA lets one stand there, without a space
  uint64_t seen = 0;
  while (parser.accept(','))
    if (!read_attribute(parser, seen)) return false;
  return !parser.peek_word("FileNames") || parse_stack_frames(parser);
}

}  // namespace hilo
