#include "text/text.h"

#include <algorithm>

#include "text/parser.h"

namespace hilo {

Result<Module> parse(std::shared_ptr<const std::string> text, const ParseOptions& options) {
  return within_memory([&] -> Result<Module> {
    Module module;
    if (text->size() > size_t{UINT32_MAX})
      return fail(ErrorKind::Limit, "the text has {} bytes; at most 4 GiB can be read",
                  text->size());
    module.file = options.file;
    module.source = module.strings.keep(std::move(text));
    module.add_attributes(NoneAttributes());  // make_attributes gives this one to all
    const size_t guess = std::min<size_t>(module.source.size() / 64 + 16, 1 << 20);
    module.reserve(guess, guess * 2);
    Parser parser(module.source, options, module);
    const bool parsed = parse_module(parser);
    if (parsed && !parser.first_error) return module;
    if (!parser.first_error && options.errors) options.errors->push_back(parser.error());
    Error error = parser.first_error ? *parser.first_error : parser.error();
    // The last one may not have been closed.
    parser.broken.resize(module.computations.size(), true);
    if (options.partial) *options.partial = {std::move(module), std::move(parser.broken)};
    return std::unexpected(std::move(error));
  });
}

Result<Module> parse(std::string_view text, const ParseOptions& options) {
  return within_memory([&] { return parse(std::make_shared<const std::string>(text), options); });
}

namespace {

// A shape or a literal alone: a lexer over a copy of the text, and what must hold at its end.
template <class Body>
Result<void> parse_alone(std::string_view text, Body body) {
  return within_memory([&] -> Result<void> {
    const std::string copy(text);
    StringArena strings;
    Lexer lexer(copy, strings);
    if (body(lexer) && (lexer.at_end() || lexer.fail_expected("the end of the text")) &&
        !lexer.failure)
      return {};
    Place place = lexer.location_of(lexer.failure->at);
    return std::unexpected(Error{lexer.failure->kind, lexer.failure->message, std::move(place)});
  });
}

}  // namespace

Result<Shape> parse_shape(std::string_view text) {
  Shape shape;
  HILO_DO(parse_alone(
      text, [&](Lexer& lexer) { return parse_shape(lexer, shape, ParseOptions().max_depth); }));
  return shape;
}

Result<Literal> parse_literal(std::string_view text, const Shape& shape) {
  LiteralRef literal;
  int64_t bytes_left = ParseOptions().max_literal_bytes;
  HILO_DO(parse_alone(
      text, [&](Lexer& lexer) { return parse_literal(lexer, shape, bytes_left, literal); }));
  return *literal.literal;
}

Result<Sharding> parse_sharding(std::string_view text) {
  Sharding sharding;
  HILO_DO(parse_alone(text, [&](Lexer& lexer) {
    return parse_sharding(lexer, sharding, ParseOptions().max_depth);
  }));
  return sharding;
}

}  // namespace hilo
