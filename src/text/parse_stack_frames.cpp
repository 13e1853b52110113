// The tables FileNames, FunctionNames, FileLocations and StackFrames after a module's header.
// Rows are numbered from 1.
#include "text/parser.h"

namespace hilo {
namespace {

bool parse_row_number(Parser& parser, size_t expected) {
  const char* start = parser.at;
  int64_t number;
  if (!parser.integer(number)) return false;
  if (number == static_cast<int64_t>(expected)) return true;
  return parser.fail_at(start, ErrorKind::Syntax,
                        fmt::format("expected row {} of the table, found {}", expected, number));
}

bool parse_names(Parser& parser, std::string_view title, std::vector<std::string>& out) {
  if (!parser.accept_word(title)) return parser.fail_expected(title);
  while (parser.skip(), is_digit(*parser.at)) {
    std::string_view text;
    if (!parse_row_number(parser, out.size() + 1) || !parser.string(text)) return false;
    out.emplace_back(text);
  }
  return true;
}

template <class Row>
struct Key {
  std::string_view name;
  int64_t Row::* member;
};
using Location = StackFrameTables::Location;
using Frame = StackFrameTables::Frame;
constexpr Key<Location> location_keys[] = {
    {"file_name_id", &Location::file_name_id},
    {"function_name_id", &Location::function_name_id},
    {"line", &Location::line},
    {"end_line", &Location::end_line},
    {"column", &Location::column},
    {"end_column", &Location::end_column},
};
constexpr Key<Frame> frame_keys[] = {
    {"file_location_id", &Frame::file_location_id},
    {"parent_frame_id", &Frame::parent_frame_id},
};

template <class Row>
bool parse_entry(Parser& parser, std::span<const Key<Row>> keys, Row& out) {
  const std::string_view word = parser.word();
  for (const Key<Row>& key : keys)
    if (key.name == word) return parser.expect('=', "in a row") && parser.integer(out.*key.member);
  parser.at = word.data();
  return parser.fail_expected("a field of the row");
}

template <class Row>
bool parse_rows(Parser& parser, std::string_view title, std::span<const Key<Row>> keys,
                std::vector<Row>& out) {
  if (!parser.accept_word(title)) return parser.fail_expected(title);
  while (parser.skip(), is_digit(*parser.at)) {
    if (!parse_row_number(parser, out.size() + 1) || !parser.expect('{', "before a row"))
      return false;
    Row& row = out.emplace_back();
    while (!parser.accept('}')) {
      if (!parse_entry<Row>(parser, keys, row)) return false;
      parser.accept(',');
    }
  }
  return true;
}

}  // namespace

bool parse_stack_frames(Parser& parser) {
  StackFrameTables& out = parser.module.header.stack_frames;
  return parse_names(parser, "FileNames", out.file_names) &&
         parse_names(parser, "FunctionNames", out.function_names) &&
         parse_rows<Location>(parser, "FileLocations", location_keys, out.locations) &&
         parse_rows<Frame>(parser, "StackFrames", frame_keys, out.frames);
}

}  // namespace hilo
