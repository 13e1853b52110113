// Shapes and layouts. Format: `f32[4,<=8]{1,0:T(8,128)S(1)}`, `(shape, ...)`, `b(shape)`; the
// suffixes of a layout may stand in any order.
#include "text/parser.h"

namespace hilo {
namespace {

// Deeper tuples are refused whatever the options say: shapes are copied and compared recursively.
constexpr int deepest_shape = 1024;
constexpr int64_t largest_layout_number = int64_t{1} << 31;

bool parse_element_type(Lexer& lexer, ElementType& out) {
  const char* start = (lexer.skip(), lexer.at);
  const auto type = element_type_of(lexer.word());
  if (type) return out = *type, true;
  lexer.at = start;
  return lexer.fail_expected("an element type");
}

bool parse_integers(Lexer& lexer, Dims& out, char close) {
  if (lexer.accept(close)) return true;
  do {
    int64_t value;
    if (!lexer.non_negative(value)) return false;
    out.push_back(value);
  } while (lexer.accept(','));
  return lexer.expect(close, "after the integers");
}

bool parse_tile(Lexer& lexer, Tile& out) {
  do {
    int64_t value = Tile::combine;
    const char* start = (lexer.skip(), lexer.at);
    if (!lexer.accept('*')) {
      if (!lexer.integer(value)) return false;
      if (value < 1 || value > largest_layout_number)
        return lexer.fail_at(start, ErrorKind::Limit,
                             fmt::format("a tile cannot be {} wide", value));
    }
    out.dims.push_back(value);
  } while (lexer.accept(','));
  return lexer.expect(')', "after a tile");
}

bool parse_bounded(Lexer& lexer, int64_t& out) {
  const char* start = (lexer.skip(), lexer.at);
  if (!lexer.expect('(', "in a layout") || !lexer.non_negative(out)) return false;
  if (out > largest_layout_number)
    return lexer.fail_at(start, ErrorKind::Limit, fmt::format("{} is too large in a layout", out));
  return lexer.expect(')', "in a layout");
}

bool parse_type_in_parentheses(Lexer& lexer, ElementType& out) {
  return lexer.expect('(', "in a layout") && parse_element_type(lexer, out) &&
         lexer.expect(')', "in a layout");
}

bool parse_split_configs(Lexer& lexer, Layout& out) {
  while (lexer.accept('(')) {
    SplitConfig& split = out.split_configs.emplace_back();
    if (!lexer.non_negative(split.dim) || !lexer.expect(':', "in SC(...)") ||
        !parse_integers(lexer, split.split_indices, ')'))
      return false;
  }
  return !out.split_configs.empty() || lexer.fail_expected("'(' after SC");
}

bool parse_dim_level_types(Lexer& lexer, Layout& out) {
  if (!lexer.expect('(', "after D")) return false;
  const char* start = lexer.at;
  while (is_class(*lexer.at, WordChar | GapChar) || *lexer.at == ',' || *lexer.at == '+' ||
         *lexer.at == '~')
    ++lexer.at;
  out.dim_level_types.assign(start, lexer.at);
  return lexer.expect(')', "after D(...");
}

bool parse_suffix(Lexer& lexer, Layout& out) {
  if (lexer.accept(std::string_view("SC"))) return parse_split_configs(lexer, out);
  const char c = *lexer.at++;
  switch (c) {
    case 'T':
      if (!lexer.peek('(')) return lexer.fail_expected('(', "after T");
      while (lexer.accept('('))
        if (!parse_tile(lexer, out.tiles.emplace_back())) return false;
      return true;
    case 'D': return parse_dim_level_types(lexer, out);
    case 'L': return parse_bounded(lexer, out.tail_padding_alignment);
    case '#': return parse_type_in_parentheses(lexer, out.index_type);
    case '*': return parse_type_in_parentheses(lexer, out.pointer_type);
    case 'E': return parse_bounded(lexer, out.element_size_bits);
    case 'S': return parse_bounded(lexer, out.memory_space);
    case 'M': return parse_bounded(lexer, out.dynamic_shape_metadata_prefix_bytes);
    default: break;
  }
  --lexer.at;
  if (c == 'P')
    return lexer.fail(ErrorKind::Unsupported, "a physical shape P(...) cannot stand in an array");
  return lexer.fail_expected("a layout suffix (T, L, #, *, E, S, SC, M) or '}'");
}

bool check_layout(Lexer& lexer, const char* start, Layout& layout, size_t rank) {
  const Dims& order = layout.minor_to_major;
  if (order.size() != rank)
    return lexer.fail_at(
        start, ErrorKind::Shape,
        fmt::format("the shape has {} dimensions, its layout {}", rank, order.size()));
  const auto fail = [&] {
    return lexer.fail_at(
        start, ErrorKind::Shape,
        fmt::format("the layout is not a permutation of 0 to {}", static_cast<int64_t>(rank) - 1));
  };
  uint64_t low = 0;  // the first 64 dimensions that were seen
  std::vector<bool> high(rank > 64 ? rank - 64 : 0);
  for (int64_t dim : order) {
    if (dim >= static_cast<int64_t>(rank)) return fail();
    const bool seen = dim < 64 ? low >> dim & 1 : static_cast<bool>(high[dim - 64]);
    if (seen) return fail();
    if (dim < 64) low |= uint64_t{1} << dim;
    else high[dim - 64] = true;
  }
  if (layout.tail_padding_alignment == 0) layout.tail_padding_alignment = 1;
  return true;
}

bool parse_layout(Lexer& lexer, Layout& out, size_t rank) {
  const char* start = lexer.at++;  // '{'
  if (read_plain_integers(lexer, out.minor_to_major, '}'))
    return check_layout(lexer, start, out, rank);
  if (!lexer.peek(':') && !lexer.peek('}')) {
    do {
      int64_t dim;
      if (!lexer.non_negative(dim)) return false;
      out.minor_to_major.push_back(dim);
    } while (lexer.accept(','));
  }
  if (lexer.accept(':'))
    while (!lexer.peek('}'))
      if (!parse_suffix(lexer, out)) return false;
  return lexer.expect('}', "after a layout") && check_layout(lexer, start, out, rank);
}

// A '{' after an array is a layout when an integer or ':' follows; `[]{}` is the empty one.
bool at_layout(Lexer& lexer, size_t rank) {
  if (rank == 0 && lexer.at[0] == '{' && lexer.at[1] == '}') return true;
  lexer.skip();
  if (*lexer.at != '{') return false;
  const char* start = lexer.at++;
  lexer.skip();
  const bool yes = is_digit(*lexer.at) || *lexer.at == ':';
  lexer.at = start;
  return yes;
}

bool parse_dimension(Lexer& lexer, Shape& out) {
  int64_t size = Shape::unbounded;
  const bool unbounded = lexer.accept('?');
  const bool bounded = !unbounded && lexer.accept(std::string_view("<="));
  if (!unbounded && !lexer.non_negative(size)) return false;
  out.dims.push_back(size);
  if (unbounded || bounded) {
    out.dynamic.resize(out.dims.size());
    out.dynamic.back() = true;
  }
  return true;
}

bool check_size(Lexer& lexer, const char* start, const Shape& shape) {
  int64_t bytes = std::max<int64_t>(1, storage_bytes(shape.type));
  for (int64_t dim : shape.dims)
    if (dim > 0 && __builtin_mul_overflow(bytes, dim, &bytes))
      return lexer.fail_at(start, ErrorKind::Limit, "the shape has more than 2^63 - 1 bytes");
  return true;
}

bool parse_dimensions(Lexer& lexer, Shape& out) {
  if (read_plain_integers(lexer, out.dims, ']') || lexer.accept(']')) return true;
  do {
    if (!parse_dimension(lexer, out)) return false;
  } while (lexer.accept(','));
  return lexer.expect(']', "after the dimensions");
}

bool parse_array(Lexer& lexer, Shape& out) {
  const char* start = (lexer.skip(), lexer.at);
  if (!parse_element_type(lexer, out.type)) return false;
  if (out.type == ElementType::Tuple || out.type == ElementType::Buffer) {
    lexer.at = start;
    return lexer.fail_expected("a shape");
  }
  if (!lexer.expect('[', "after the element type") || !parse_dimensions(lexer, out)) return false;
  if (!out.dynamic.empty()) out.dynamic.resize(out.dims.size());
  if (!is_array(out.type)) {
    if (out.dims.empty()) return true;
    return lexer.fail_at(start, ErrorKind::Shape,
                         fmt::format("{} has no dimensions", text_of(out.type)));
  }
  if (!check_size(lexer, start, out)) return false;
  out.has_layout = true;
  const char* after = lexer.at;
  if (at_layout(lexer, out.dims.size())) return parse_layout(lexer, out.layout, out.dims.size());
  lexer.at = after;
  out.layout = Layout::descending(out.dims.size());
  return true;
}

// Opens `(` or `b(`; false when an array or a token stands here.
bool open_group(Lexer& lexer, Shape& out) {
  if (lexer.accept('(')) return out.type = ElementType::Tuple, true;
  if (*lexer.at != 'b' || is_class(lexer.at[1], WordChar)) return false;
  const char* start = lexer.at++;
  if (lexer.accept('(')) return out.type = ElementType::Buffer, true;
  lexer.at = start;
  return false;
}

}  // namespace

bool read_plain_integers(Lexer& lexer, Dims& out, char close) {
  constexpr size_t most = 16, max_digits = 18;
  int64_t values[most];
  size_t count = 0;
  for (const char* p = lexer.at; count < most;) {
    const char* first = p;
    int64_t value = 0;
    while (is_digit(*p) && p < first + max_digits) value = value * 10 + (*p++ - '0');
    if (p == first || is_digit(*p)) return false;
    values[count++] = value;
    const char c = *p++;
    if (c == ',') continue;
    if (c != close) return false;
    lexer.at = p;
    out.assign(values, values + count);
    return true;
  }
  return false;
}

bool parse_shape(Lexer& lexer, Shape& out, int max_depth) {
  std::vector<Shape> open;
  const size_t deepest = static_cast<size_t>(std::min(max_depth, deepest_shape));
  for (;;) {
    Shape shape;
    if (open_group(lexer, shape)) {
      if (open.size() == deepest)
        return lexer.fail(ErrorKind::Limit,
                          fmt::format("shapes nested more than {} deep", deepest));
      const bool empty = shape.is_tuple() && lexer.accept(')');
      if (!empty) {
        shape.elements.reserve(8);
        open.push_back(std::move(shape));
        continue;
      }
    } else if (!parse_array(lexer, shape)) {
      return false;
    }
    for (;;) {
      if (open.empty()) return out = std::move(shape), true;
      open.back().elements.push_back(std::move(shape));
      if (open.back().is_tuple() && lexer.accept(',')) break;
      if (!lexer.expect(')', "after the shapes of a tuple")) return false;
      shape = std::move(open.back());
      open.pop_back();
    }
  }
}

bool at_shape(Lexer& lexer) {
  lexer.skip();
  if (*lexer.at == '(') return true;
  if (*lexer.at < 'a' || *lexer.at > 'z') return false;
  const char* p = word_end(lexer.at, lexer.end);
  if (*p == ' ' && p[1] == '[') return true;
  return *p == '[' || (*p == '(' && p == lexer.at + 1 && *lexer.at == 'b');
}

namespace {

// The end of the array shape that starts at p, or of the tuple; only a guess, which the parse of
// the same text has confirmed once for every shape in the table.
const char* guess_array_end(const char* p, const char* end) {
  p = first_of<']', '\n', 0>(p, end);
  if (*p != ']' || *++p != '{' || !(is_digit(p[1]) || p[1] == ':')) return p;
  p = first_of<'}', '\n', 0>(p, end);
  return *p == '}' ? p + 1 : p;
}

const char* guess_shape_end(const char* p, const char* end) {
  if (*p != '(') return guess_array_end(p, end);
  for (int depth = 0;; ++p) {
    p = first_of<'(', ')', '/', '\n', 0>(p, end);
    if (*p == '(') {
      if (++depth > deepest_shape) return p;
    } else if (*p == ')' && --depth == 0) {
      return p + 1;
    } else if (*p == '\n' || *p == 0 || (*p == '/' && p[1] != '*')) {
      return p;
    } else if (*p == '/') {
      const void* close = std::memchr(p + 2, '/', end - p - 2);
      if (!close || static_cast<const char*>(close)[-1] != '*') return p;
      p = static_cast<const char*>(close);
    }
  }
}

// Whether the real parse may find a layout after the guessed end, which no space ends.
bool layout_follows(const char* p) {
  if (*p == ' ') ++p;
  if (*p != '{') return is_class(*p, GapChar);
  if (*++p == '\n')
    while (*p == '\n' || *p == ' ') ++p;
  return is_digit(*p) || *p == ':' || *p == '}' || is_class(*p, GapChar);
}

}  // namespace

bool parse_shape_id(Parser& parser, ShapeId& out) {
  parser.skip();
  const char* start = parser.at;
  const char* guess = guess_shape_end(start, parser.end);
  const std::string_view raw(start, guess - start);
  const uint64_t hash = hash_of_span(raw.data(), raw.size());
  const bool plain = !layout_follows(guess);
  if (plain)
    if (const uint32_t known = parser.shapes.find(raw, hash); known != SpanTable::none) {
      parser.at = guess;
      return out = {known}, true;
    }
  Shape shape;
  if (!parse_shape(parser, shape, parser.options.max_depth)) return false;
  out = parser.module.shapes.intern(std::move(shape));
  if (plain && parser.at == guess) parser.shapes.value(raw, hash) = out.value;
  return true;
}

}  // namespace hilo
