// metadata={op_type="" op_name="" source_file="" source_line=N ...}; commas are optional. Equal
// metadata is stored once, found by its text.
#include "text/parser.h"

namespace hilo {
namespace {

struct TextKey {
  std::string_view name;
  std::string_view Metadata::* member;
};
constexpr TextKey text_keys[] = {
    {"op_name", &Metadata::op_name},
    {"source_file", &Metadata::source_file},
    {"op_type", &Metadata::op_type},
    {"deduplicated_name", &Metadata::deduplicated_name},
    {"scheduling_name", &Metadata::scheduling_name},
    {"metadata_payload", &Metadata::metadata_payload},
};
struct NumberKey {
  std::string_view name;
  int64_t Metadata::* member;
};
constexpr NumberKey number_keys[] = {
    {"stack_frame_id", &Metadata::stack_frame_id},
    {"source_line", &Metadata::source_line},
    {"source_end_line", &Metadata::source_end_line},
    {"source_column", &Metadata::source_column},
    {"source_end_column", &Metadata::source_end_column},
};

bool parse_entry(Parser& parser, Metadata& out) {
  const char* start = (parser.skip(), parser.at);
  const std::string_view key = parser.word();
  if (key.empty()) return parser.fail_expected("a metadata field or '}'");
  if (!parser.expect('=', "in metadata")) return false;
  for (const TextKey& known : text_keys)
    if (key == known.name) return parser.string(out.*known.member);
  for (const NumberKey& known : number_keys)
    if (key == known.name) return parser.integer(out.*known.member);
  if (key == "profile_type") return parser.balanced(out.profile_type);
  std::string_view value;
  if (parser.peek('{')   ? !parser.balanced(value)
      : parser.peek('"') ? !parser.string(value)
                         : (parser.word(), false))
    return false;
  parser.warn(start, fmt::format("unknown metadata field '{}'", key));
  const std::string_view raw(start, parser.at - start);
  out.unknown =
      out.unknown.empty() ? raw : parser.strings().copy(fmt::format("{} {}", out.unknown, raw));
  return true;
}

// The end of the group at p, when its strings and braces are closed; else p.
const char* group_end(const char* p, const char* end) {
  const char* start = p;
  for (int depth = 0; p < end; ++p) {
    if (*p == '{') ++depth;
    if (*p == '}' && --depth == 0) return p + 1;
    if (*p == '/' || *p == '\n') return start;  // comments and rare forms are for the real parse
    if (*p != '"') continue;
    do {
      p = static_cast<const char*>(std::memchr(p + 1, '"', end - p - 1));
      if (!p) return start;
    } while (p[-1] == '\\' && p[-2] != '\\');
  }
  return start;
}

}  // namespace

bool parse_metadata(Parser& parser, MetadataId& out) {
  parser.skip();
  const char* stop = group_end(parser.at, parser.end);
  const std::string_view raw(parser.at, stop - parser.at);
  const uint64_t hash = hash_of_span(raw.data(), raw.size());
  if (const uint32_t known = parser.metadata.find(raw, hash); known != SpanTable::none) {
    parser.at = stop;
    return out = {known}, true;
  }
  Metadata value;
  if (!parser.expect('{', "before metadata")) return false;
  while (!parser.accept('}')) {
    if (!parse_entry(parser, value)) return false;
    parser.accept(',');
  }
  out = {static_cast<uint32_t>(parser.module.metadata.size())};
  parser.module.metadata.push_back(value);
  if (parser.at == stop) parser.metadata.value(raw, hash) = out.value;
  return true;
}

}  // namespace hilo
