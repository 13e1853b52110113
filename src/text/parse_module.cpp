// Modules and computations: `[ENTRY] [%]name [(p: shape, ...) -> shape] { instructions }`.
#include <algorithm>

#include "text/parser.h"

namespace hilo {

void Scope::reset(std::string_view name) {
  computation = name;
  names.clear();
  failed.clear();
  instructions.clear();
  parameters.clear();
  unnamed.clear();
  tuple_elements.clear();
  root = {};
  broken = false;
  cut_off = false;
}

void Parser::warn(const char* where, std::string message) {
  constexpr size_t max_warnings = 1000;
  if (options.warnings && options.warnings->size() < max_warnings)
    options.warnings->push_back({std::move(message), location_here(where)});
}

Place Parser::location_here(const char* position) const {
  Place place = location_of(position);
  place.file = options.file;
  if (depth > 0) place.computation = scopes[depth - 1]->computation;
  place.instruction = instruction;
  if (op) place.op = text_of(*op);
  return place;
}

Error Parser::error() const {
  return {failure->kind, failure->message, location_here(failure->at)};
}

namespace {

constexpr size_t deepest_inline_body = 100;
constexpr size_t max_errors = 20;

bool open_scope(Parser& parser, std::string_view name) {
  if (parser.depth == deepest_inline_body)
    return parser.fail(ErrorKind::Limit,
                       fmt::format("computations nested more than {} deep", deepest_inline_body));
  if (parser.depth == parser.scopes.size()) parser.scopes.push_back(std::make_unique<Scope>());
  ++parser.depth;
  parser.scope().reset(name);
  parser.scope().expected = {static_cast<uint32_t>(parser.module.computations.size())};
  return true;
}

// Whether an instruction or a '}' begins here, at the start of a line.
bool at_instruction(Parser& parser) {
  const char* start = parser.at;
  std::string_view name;
  parser.skip();
  bool yes = *parser.at == '}' || parser.at == parser.end;
  if (!yes) {
    parser.accept_word("ROOT");
    if (*parser.at == '%') ++parser.at;
    parser.skip();
    if (*parser.at == '%') ++parser.at;
    yes = !parser.word_here().empty() && parser.peek('=');
  }
  parser.at = start;
  return yes;
}

// Whether a computation begins here, at the start of a line: `ENTRY name`, or `name ... {` and the
// end of the line.
bool at_computation(Parser& parser) {
  const char* start = parser.at;
  parser.skip();
  bool yes = parser.accept_word("ENTRY");
  if (!yes) {
    if (*parser.at == '%') ++parser.at;
    const bool is_named = !parser.word_here().empty() && (parser.peek('{') || parser.peek('('));
    const char* last =
        static_cast<const char*>(std::memchr(parser.at, '\n', parser.end - parser.at));
    if (!last) last = parser.end;
    while (last > parser.at && is_class(last[-1], GapChar)) --last;
    yes = is_named && last > parser.at && last[-1] == '{';
  }
  parser.at = start;
  return yes;
}

// After an error in an instruction: notes it and goes on at the next one, when the caller wants
// all errors; or at the next computation, where the '}' before it stood in a line that was given
// up.
bool recover(Parser& parser, const char* start, size_t depth, size_t operands) {
  if (!parser.options.errors) return false;
  if (!parser.failed_names_used) parser.options.errors->push_back(parser.error());
  parser.failed_names_used = false;
  if (!parser.first_error) parser.first_error = parser.error();
  if (parser.options.errors->size() >= max_errors) return false;
  parser.depth = depth;
  parser.operands.resize(operands);
  parser.scope().broken = true;
  if (!parser.instruction.empty()) parser.scope().failed[parser.instruction] = 0;
  if (parser.at <= start) parser.at = start;
  parser.failure.reset();
  do {
    const void* newline = std::memchr(parser.at, '\n', parser.end - parser.at);
    parser.at = newline ? static_cast<const char*>(newline) + 1 : parser.end;
    if (at_computation(parser)) return parser.scope().cut_off = true;
  } while (parser.at != parser.end && !at_instruction(parser));
  return true;
}

bool parse_instructions(Parser& parser) {
  const size_t depth = parser.depth, operands = parser.operands.size();
  if (!parser.expect('{', "before the instructions of a computation")) return false;
  while (!parser.scope().cut_off && !parser.accept('}')) {
    parser.instruction = {};
    if (parser.at_end())
      return parser.fail_expected('}', "after the instructions of a computation");
    const char* start = parser.at;
    if (!parse_instruction(parser) && !recover(parser, start, depth, operands)) return false;
  }
  parser.instruction = {};
  parser.op.reset();
  return true;
}

// The nested and the implied instructions get names that nobody else has.
void name_unnamed(Parser& parser) {
  Scope& scope = parser.scope();
  if (scope.unnamed.empty()) return;
  std::array<size_t, op_count> counts{};  // of names OPCODE.anon.N that are taken
  for (InstructionId id : scope.unnamed) {
    Instruction& instruction = parser.module[id];
    const std::string base = fmt::format("{}.anon", text_of(instruction.op));
    size_t& count = counts[static_cast<size_t>(instruction.op)];
    std::string name = base;
    while (scope.names.find(name) != SpanTable::none) name = fmt::format("{}.{}", base, ++count);
    instruction.name = parser.strings().copy(name);
    scope.names[instruction.name] = id.value;
  }
}

bool collect_parameters(Parser& parser, std::vector<InstructionId>& out) {
  const Module& module = parser.module;
  const size_t count = parser.scope().parameters.size();
  out.resize(count);
  for (InstructionId id : parser.scope().parameters) {
    const Instruction& instruction = module[id];
    const auto number = module.attributes<ParameterAttributes>(instruction).number;
    if (number >= static_cast<int64_t>(count) || out[number]) {
      parser.instruction = instruction.name;
      const bool twice = number < static_cast<int64_t>(count);
      return parser.fail_at(instruction.name.data(), ErrorKind::Structure,
                            twice ? fmt::format("there are two parameters {}", number)
                                  : fmt::format("this is parameter {}, but there are only {} "
                                                "parameters",
                                                number, count));
    }
    out[number] = id;
  }
  return true;
}

// Ends the computation that the innermost scope has collected.
bool close_scope(Parser& parser, ComputationId& out) {
  Scope& scope = parser.scope();
  Module& module = parser.module;
  if (scope.instructions.empty() && !scope.broken)
    return parser.fail(ErrorKind::Structure, "the computation has no instructions");
  name_unnamed(parser);
  out = {static_cast<uint32_t>(module.computations.size())};
  Computation& computation = module.computations.emplace_back();
  computation.name = scope.computation;
  computation.instructions.assign(scope.instructions.begin(), scope.instructions.end());
  if (out != scope.expected)
    for (InstructionId id : computation.instructions) module[id].computation = out;
  computation.root = scope.root;
  if (!computation.root && !computation.instructions.empty())
    computation.root = computation.instructions.back();
  if (!scope.broken && !collect_parameters(parser, computation.parameters)) return false;
  parser.broken.push_back(scope.broken);
  --parser.depth;
  return true;
}

bool parse_thread(Parser& parser, ComputationId computation) {
  const char* before = parser.at;
  if (!parser.accept(',')) return true;
  if (!parser.accept_word("execution_thread")) return parser.at = before, true;
  std::string_view thread;
  if (!parser.expect('=', "after execution_thread") || !parser.string(thread)) return false;
  parser.module[computation].execution_thread = thread;
  return true;
}

// (p: shape, ...) -> shape; only the result is compared, as XLA does.
bool parse_signature(Parser& parser, ShapeId& result) {
  if (!parser.accept('(')) return true;
  if (!parser.accept(')')) {
    do {
      std::string_view name;
      ShapeId ignored;
      if (!parser.name(name, "the name of a parameter")) return false;
      if (!parser.accept(':') && !at_shape(parser))  // XLA reads it without the colon, too
        return parser.fail_expected(':', "after the name of a parameter");
      if (!parse_shape_id(parser, ignored)) return false;
    } while (parser.accept(','));
    if (!parser.expect(')', "after the parameters")) return false;
  }
  if (!parser.accept(std::string_view("->"))) return parser.fail_expected("'->'");
  return parse_shape_id(parser, result);
}

bool check_result(Parser& parser, const char* at, ShapeId stated, ComputationId id) {
  const Module& module = parser.module;
  if (!stated || parser.broken[id.value]) return true;
  const ShapeId actual = module[module[id].root].shape;
  if (stated == actual || same_dims(module.shapes[stated], module.shapes[actual])) return true;
  return parser.fail_at(at, ErrorKind::Shape,
                        fmt::format("the signature says that the result is {}, but the root is {}",
                                    to_string_without_layout(module.shapes[stated]),
                                    to_string_without_layout(module.shapes[actual])));
}

bool parse_computation(Parser& parser) {
  const bool is_entry = parser.accept_word("ENTRY");
  std::string_view name;
  if (!parser.name(name, "a computation")) return false;
  if (is_entry && parser.module.entry)
    return parser.fail_at(name.data(), ErrorKind::Structure, "the module has two entries");
  ShapeId stated;
  ComputationId id;
  if (!open_scope(parser, name) || !parse_signature(parser, stated) ||
      !parse_instructions(parser) || !close_scope(parser, id) || !parse_thread(parser, id) ||
      !check_result(parser, name.data(), stated, id))
    return false;
  uint32_t& place = parser.computations[name];
  if (place != SpanTable::none)
    return parser.fail_at(name.data(), ErrorKind::Name,
                          fmt::format("there are two computations named '{}'", name));
  place = id.value;
  if (is_entry) parser.module.entry = id;
  return true;
}

// `foo = add(f32[10] x, f32[10] y)` alone.
bool parse_bare_instruction(Parser& parser) {
  parser.bare = true;
  ComputationId id;
  if (!open_scope(parser, "_") || !parse_instruction(parser) || !close_scope(parser, id))
    return false;
  parser.module.header.name = "_";
  parser.module.header.is_scheduled = true;
  parser.module.entry = id;
  return parser.at_end() || parser.fail_expected("nothing after a bare instruction");
}

bool at_bare_instruction(Parser& parser) {
  const char* start = (parser.skip(), parser.at);
  parser.accept_word("ROOT");
  if (parser.peek('%')) ++parser.at;
  const bool is_unnamed = at_shape(parser) && *parser.at != '(';
  parser.word_here();
  const bool bare = is_unnamed || parser.peek('=');
  parser.at = start;
  return bare;
}

// Without the header attribute the shapes of the entry say it.
void infer_entry_layout(Module& module) {
  if (module.header.entry_computation_layout) return;
  EntryLayout& layout = module.header.entry_computation_layout.emplace();
  const Computation& entry = module[module.entry];
  for (InstructionId id : entry.parameters) layout.parameters.push_back(module.shape(id));
  if (entry.root) layout.result = module.shape(entry.root);
}

}  // namespace

bool parse_computation_body(Parser& parser, std::string_view base, ComputationId& out) {
  std::string name(base);
  for (size_t i = parser.computations.size(); parser.computations.find(name) != SpanTable::none;
       ++i)
    name = fmt::format("{}.{}", base, i);
  const std::string_view kept = parser.strings().copy(name);
  parser.computations[kept] = SpanTable::none - 1;  // taken by the one being read
  const std::string_view outer = parser.instruction;
  const std::optional<Op> outer_op = parser.op;
  if (!open_scope(parser, kept) || !parse_instructions(parser) || !close_scope(parser, out))
    return false;
  parser.computations[kept] = out.value;
  parser.instruction = outer;
  parser.op = outer_op;
  return true;
}

bool parse_module(Parser& parser) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";  // some editors put it there
  if (std::string_view(parser.at, parser.end).starts_with(byte_order_mark))
    parser.at += byte_order_mark.size();
  if (parser.at_end())
    return parser.fail(ErrorKind::Syntax,
                       "there is nothing in it; HloModule, a computation or an instruction was "
                       "expected");
  const bool header = parser.accept_word("HloModule");
  if (header && !parse_header(parser)) return false;
  if (!header && at_bare_instruction(parser)) {
    if (!parse_bare_instruction(parser)) return false;
  } else {
    do {
      if (!parse_computation(parser)) return false;
    } while (!parser.at_end());
  }
  if (parser.failure) return false;
  Module& module = parser.module;
  if (!module.entry) module.entry = {static_cast<uint32_t>(module.computations.size() - 1)};
  if (!header && !parser.bare)
    module.header.name = fmt::format("module_{}", module[module.entry].name);
  infer_entry_layout(module);
  return true;
}

}  // namespace hilo
