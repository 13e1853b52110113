#include "text/parse_fields.h"

#include <algorithm>

namespace hilo {

bool parse_value(Parser& parser, bool& out) {
  if (parser.accept_word("true")) return out = true, true;
  if (parser.accept_word("false")) return out = false, true;
  return parser.fail_expected("true or false");
}
bool parse_value(Parser& parser, int64_t& out) { return parser.integer(out); }
bool parse_value(Parser& parser, double& out) { return parser.number(out); }
bool parse_value(Parser& parser, std::string& out) {
  std::string_view text;
  return parser.string(text) && (out = text, true);
}

bool parse_dims(Lexer& lexer, Dims& out) {
  if (!lexer.expect('{', "before a list of integers")) return false;
  if (read_plain_integers(lexer, out, '}') || lexer.accept('}')) return true;
  std::array<int64_t, 8> first;  // so that a short list is allocated once
  size_t count = 0;
  do {
    int64_t value;
    if (!lexer.integer(value)) return false;
    if (count == first.size()) out.assign(first.begin(), first.end());
    if (count < first.size()) first[count] = value;
    else out.push_back(value);
    ++count;
  } while (lexer.accept(','));
  if (count <= first.size()) out.assign(first.begin(), first.begin() + count);
  return lexer.expect('}', "after a list of integers");
}
bool parse_value(Parser& parser, Dims& out) { return parse_dims(parser, out); }

bool parse_enum(Lexer& lexer, std::span<const EnumText> texts, size_t& out) {
  const char* start = (lexer.skip(), lexer.at);
  const std::string_view word = lexer.word();
  const auto same = [](char a, char b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return lower(a) == lower(b);
  };
  for (size_t i = 0; i < texts.size() && !word.empty(); ++i)
    if (std::equal(word.begin(), word.end(), texts[i].text.begin(), texts[i].text.end(), same))
      return out = i, true;
  std::string known;
  for (const EnumText& text : texts)
    if (!text.text.empty()) known += fmt::format("{}{}", known.empty() ? "" : ", ", text.text);
  lexer.at = start;
  return lexer.fail_expected("one of " + known);
}

bool parse_value(Parser& parser, Precisions& out) {
  if (!parser.expect('{', "before the precisions")) return false;
  if (parser.accept('}')) return true;
  do {
    if (!parse_value(parser, out.emplace_back())) return false;
  } while (parser.accept(','));
  // Defaults alone say nothing, and are not printed.
  if (std::count(out.begin(), out.end(), Precision::Default) == std::ssize(out)) out.clear();
  return parser.expect('}', "after the precisions");
}

bool parse_value(Parser& parser, SliceDims& out) {
  if (!parser.expect('{', "before the slices")) return false;
  if (parser.accept('}')) return true;
  do {
    SliceDim& dim = out.dims.emplace_back();
    if (!parser.expect('[', "before a slice") || !parser.integer(dim.start) ||
        !parser.expect(':', "in a slice") || !parser.integer(dim.limit) ||
        (parser.accept(':') && !parser.integer(dim.stride)) || !parser.expect(']', "after a slice"))
      return false;
  } while (parser.accept(','));
  return parser.expect('}', "after the slices");
}

// lo_hi[_interior]x...; a scalar's is empty.
bool parse_value(Parser& parser, PaddingConfig& out) {
  parser.skip();
  if (!is_digit(*parser.at) && *parser.at != '-') return true;
  for (;;) {
    PaddingDim& dim = out.dims.emplace_back();
    if (!parser.integer(dim.low) || !parser.expect('_', "in a padding") ||
        !parser.integer(dim.high) ||
        (*parser.at == '_' && (++parser.at, !parser.integer(dim.interior))))
      return false;
    if (dim.interior < 0)
      return parser.fail(ErrorKind::Shape, "interior padding cannot be negative");
    if (*parser.at != 'x') return true;
    ++parser.at;
  }
}

namespace {

// {{0,1},{2,3}}
template <class Body>
bool parse_lists(Parser& parser, std::string_view what, Body body) {
  if (!parser.expect('{', fmt::format("before the {}", what))) return false;
  if (parser.accept('}')) return true;
  do {
    Dims list;
    if (!parse_dims(parser, list) || !body(std::move(list))) return false;
  } while (parser.accept(','));
  return parser.expect('}', fmt::format("after the {}", what));
}

bool parse_iota_groups(Parser& parser, ReplicaGroups& out) {
  const char* start = parser.at;
  out.form = ReplicaGroups::Form::Iota;
  if (!parse_bracketed(parser, out.iota.reshape)) return false;
  if (!parser.accept(std::string_view("<="))) return parser.fail_expected("'<=' in an iota list");
  if (!parse_iota(parser, out.iota)) return false;
  if (out.iota.reshape.size() != 2)
    return parser.fail_at(start, ErrorKind::Shape,
                          "expected [number of groups, devices in a group] in a device list");
  return check_device_count(parser, start, out.iota.reshape, out.iota.dims);
}

}  // namespace

bool parse_value(Parser& parser, SourceTargetPairs& out) {
  return parse_lists(parser, "pairs", [&](Dims list) {
    if (list.size() != 2)
      return parser.fail(ErrorKind::Syntax,
                         fmt::format("expected {{source,target}}, found {} numbers", list.size()));
    out.pairs.emplace_back(list[0], list[1]);
    return true;
  });
}

bool parse_value(Parser& parser, SliceSizesList& out) {
  return parse_lists(parser, "slice sizes",
                     [&](Dims list) { return out.lists.push_back(std::move(list)), true; });
}

bool parse_value(Parser& parser, ReplicaGroups& out) {
  if (parser.peek('[')) return parse_iota_groups(parser, out);
  if (parser.accept_word("mesh")) {
    out.form = ReplicaGroups::Form::Mesh;
    return parse_mesh(parser, out.mesh) && parse_axes(parser, out.axes);
  }
  return parse_lists(parser, "replica groups",
                     [&](Dims list) { return out.groups.push_back(std::move(list)), true; });
}

bool parse_value(Parser& parser, OutputOperandAliases& out) {
  if (!parser.expect('{', "before the aliases")) return false;
  if (parser.accept('}')) return true;
  do {
    OutputOperandAlias& alias = out.emplace_back();
    if (!parse_dims(parser, alias.output_index) || !parser.expect(':', "in an alias") ||
        !parser.expect('(', "in an alias") || !parser.non_negative(alias.operand) ||
        !parser.expect(',', "in an alias") || !parse_dims(parser, alias.operand_index) ||
        !parser.expect(')', "in an alias"))
      return false;
  } while (parser.accept(','));
  return parser.expect('}', "after the aliases");
}

bool parse_value(Parser& parser, LiteralRef& out) {
  Shape shape;
  int64_t left = parser.options.max_literal_bytes - parser.literal_bytes_used;
  const int64_t before = left;
  if (!parse_shape(parser, shape, parser.options.max_depth)) return false;
  const char* start = parser.at;
  if (!parse_literal(parser, shape, left, out)) return false;
  parser.literal_bytes_used += before - left;
  if (out.elided) parser.warn(start, "this literal is elided; its values are made up");
  return true;
}

bool parse_value(Parser& parser, RawText& out) {
  std::string_view raw;
  return parser.balanced(raw) && (out.text = raw, true);
}

bool parse_value(Parser& parser, Shape& out) {
  return parse_shape(parser, out, parser.options.max_depth);
}

bool parse_value(Parser& parser, std::vector<Shape>& out) {
  if (!parser.expect('{', "before the shapes")) return false;
  if (parser.accept('}')) return true;
  do {
    if (!parse_value(parser, out.emplace_back())) return false;
  } while (parser.accept(','));
  return parser.expect('}', "after the shapes");
}

bool parse_value(Parser& parser, ComputationId& out) {
  if (parser.peek('{')) return parse_computation_body(parser, "_", out);
  const char* start = parser.at;
  std::string_view name;
  if (!parser.name(name, "the name of a computation")) return false;
  out.value = parser.computations.find(name);
  if (out) return true;
  return fail_unknown_name(parser, start, "computation", name, parser.computations);
}

bool parse_value(Parser& parser, std::vector<ComputationId>& out) {
  if (!parser.peek('{')) return parse_value(parser, out.emplace_back());
  parser.accept('{');
  if (parser.accept('}')) return true;
  do {
    if (!parse_value(parser, out.emplace_back())) return false;
  } while (parser.accept(','));
  return parser.expect('}', "after the computations");
}

}  // namespace hilo
