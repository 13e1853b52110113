// window={size=3x3 stride=2x2 pad=1_1x1_1 lhs_dilate=1x2 rhs_dilate=2x1 rhs_reversal=1x1} and
// dim_labels=b01f_01io->b01f.
#include "text/parse_fields.h"

namespace hilo {
namespace {

struct WindowKey {
  std::string_view name;
  int64_t WindowDim::* member;
};
constexpr WindowKey window_keys[] = {
    {"size", &WindowDim::size},
    {"stride", &WindowDim::stride},
    {"lhs_dilate", &WindowDim::base_dilation},
    {"rhs_dilate", &WindowDim::window_dilation},
};

// The i-th dimension; all groups must have as many.
WindowDim* window_dim(Lexer& lexer, Window& window, size_t i, bool first) {
  if (i < window.dims.size()) return &window.dims[i];
  if (first) return &window.dims.emplace_back();
  lexer.fail(ErrorKind::Shape, fmt::format("this part of the window has more than {} dimensions",
                                           window.dims.size()));
  return nullptr;
}

template <class Body>
bool parse_by_x(Lexer& lexer, Window& window, Body body) {
  const bool first = window.dims.empty();
  size_t i = 0;
  for (;; ++lexer.at) {
    WindowDim* dim = window_dim(lexer, window, i++, first);
    if (!dim || !body(*dim)) return false;
    if (*lexer.at != 'x') break;
  }
  if (i == window.dims.size()) return true;
  return lexer.fail(ErrorKind::Shape,
                    fmt::format("expected {} dimensions in this part of the window, found {}",
                                window.dims.size(), i));
}

bool parse_window_part(Lexer& lexer, Window& out) {
  const char* start = (lexer.skip(), lexer.at);
  const std::string_view key = lexer.word();
  if (!lexer.expect('=', "in a window")) return false;
  for (const WindowKey& known : window_keys)
    if (key == known.name)
      return parse_by_x(lexer, out,
                        [&](WindowDim& dim) { return lexer.integer(dim.*known.member); });
  if (key == "pad")
    return parse_by_x(lexer, out, [&](WindowDim& dim) {
      return lexer.integer(dim.padding_low) && lexer.expect('_', "in a padding") &&
             lexer.integer(dim.padding_high);
    });
  if (key == "rhs_reversal")
    return parse_by_x(lexer, out, [&](WindowDim& dim) {
      int64_t value = 0;
      if (!lexer.integer(value)) return false;
      return dim.reversal = value != 0, true;
    });
  lexer.at = start;
  return lexer.fail_expected("size, stride, pad, lhs_dilate, rhs_dilate or rhs_reversal");
}

}  // namespace

bool parse_value(Parser& parser, Window& out) {
  if (!parser.expect('{', "before a window")) return false;
  while (!parser.accept('}')) {
    if (!parse_window_part(parser, out)) return false;
    parser.accept(',');
  }
  return true;
}

namespace {

// One of the three parts: the positions of two letters, of the digits and of '?'.
struct LabelPart {
  char first_letter, second_letter;
  int64_t first = -1, second = -1;
  Dims spatial, unknown;
};

bool parse_label_part(Lexer& lexer, LabelPart& part) {
  int64_t i = 0;
  std::array<int64_t, 10> spatial;
  spatial.fill(-1);
  for (;; ++i, ++lexer.at) {
    const char c = *lexer.at;
    int64_t* place = c == part.first_letter    ? &part.first
                     : c == part.second_letter ? &part.second
                     : is_digit(c)             ? &spatial[c - '0']
                                               : nullptr;
    if (c == '?') part.unknown.push_back(i);
    else if (!place) break;
    else if (*place >= 0) return lexer.fail(ErrorKind::Syntax, fmt::format("'{}' stands twice", c));
    else *place = i;
  }
  for (int64_t position : spatial)
    if (position >= 0) part.spatial.push_back(position);
  for (size_t k = 0; k < part.spatial.size(); ++k)
    if (spatial[k] < 0)
      return lexer.fail(ErrorKind::Syntax, fmt::format("the spatial dimension {} is missing", k));
  if (part.first >= 0 && part.second >= 0) return true;
  return lexer.fail_expected(
      fmt::format("the labels '{}' and '{}'", part.first_letter, part.second_letter));
}

}  // namespace

bool parse_value(Parser& parser, ConvolutionLabels& out) {
  LabelPart input{'b', 'f', -1, -1, {}, {}}, kernel{'i', 'o', -1, -1, {}, {}}, output = input;
  parser.skip();
  const char* start = parser.at;
  if (!parse_label_part(parser, input) || !parser.expect('_', "after the labels of the input") ||
      !parse_label_part(parser, kernel))
    return false;
  if (!parser.accept(std::string_view("->"))) return parser.fail_expected("'->' in dim_labels");
  if (!parse_label_part(parser, output)) return false;
  if (input.spatial.size() != kernel.spatial.size() ||
      input.spatial.size() != output.spatial.size())
    return parser.fail_at(start, ErrorKind::Shape,
                          "the three parts of dim_labels have different spatial dimensions");
  out = {input.first,   input.second,  std::move(input.spatial),
         kernel.first,  kernel.second, std::move(kernel.spatial),
         output.first,  output.second, std::move(output.spatial),
         input.unknown, kernel.unknown};
  return true;
}

}  // namespace hilo
