// The attributes after an instruction's operands: those of its op, from the field list of the op's
// struct, and those that every instruction may have.
#include <algorithm>

#include "text/parse_fields.h"

namespace hilo {
namespace {

struct FieldReader {
  std::string_view name;
  bool (*read)(Parser&, AttributesId);
};
struct AttributeTable {
  AttributesId (*make)(Module&);
  std::span<const FieldReader> fields;
  uint64_t required;  // a bit for each field
};

// Into a value first: an inline computation in it may move the pool.
template <class A, size_t I>
bool read_field(Parser& parser, AttributesId id) {
  constexpr auto field = std::get<I>(A::fields());
  std::remove_cvref_t<decltype(std::declval<A&>().*field.member)> value{};
  if (!parse_value(parser, value)) return false;
  parser.module.mutable_attributes<A>(id).*field.member = std::move(value);
  return true;
}

template <class A, size_t... I>
constexpr auto readers(std::index_sequence<I...>) {
  return std::array<FieldReader, sizeof...(I)>{
      FieldReader{std::get<I>(A::fields()).name, &read_field<A, I>}...};
}
template <class A>
using FieldIndices = std::make_index_sequence<std::tuple_size_v<decltype(A::fields())>>;
template <class A>
constexpr auto field_readers = readers<A>(FieldIndices<A>());

template <class A>
constexpr uint64_t required_fields() {
  uint64_t out = 0, bit = 1;
  std::apply(
      [&](const auto&... field) {
        ((out |= field.presence == Presence::Required ? bit : 0, bit <<= 1), ...);
      },
      A::fields());
  return out;
}

template <class A>
AttributesId make(Module& module) {
  return module.add_attributes(A());
}
// Nothing is in them: one serves all.
template <>
AttributesId make<NoneAttributes>(Module&) {
  return {0};
}
template <class A>
constexpr AttributeTable table_of = {&make<A>, field_readers<A>, required_fields<A>()};

// The texts of parameter and constant stand between the parentheses, not here.
constexpr AttributeTable tables[] = {
#define OP(name, text, operands, attributes, op_class, types, ...) table_of<attributes##Attributes>,
#include "ir/ops.def"
#undef OP
};
const AttributeTable& table(Op op) { return tables[static_cast<size_t>(op)]; }

// Other names of fields, and names that older texts have and nobody needs.
struct Alias {
  std::string_view attributes, name, field;
};
constexpr Alias aliases[] = {
    {"CustomCall", "to_apply", "called_computations"},
    {"CustomCall", "calls", "called_computations"},
    {"Call", "calls", "to_apply"},
    {"AllReduce", "mode", ""},
    {"AllGather", "mode", ""},
    {"ReduceScatter", "mode", ""},
};

const Alias* find_alias(Op op, std::string_view name) {
  for (const Alias& alias : aliases)
    if (alias.name == name && alias.attributes == info(op).attributes) return &alias;
  return nullptr;
}

Extra& extra(Parser& parser, Draft& draft) {
  if (!draft.extra) {
    draft.extra = {static_cast<uint32_t>(parser.module.extras.size())};
    parser.module.extras.emplace_back();
  }
  return parser.module.extras[draft.extra.value];
}

bool read_metadata(Parser& parser, Draft& draft) { return parse_metadata(parser, draft.metadata); }

bool read_sharding(Parser& parser, Draft& draft) {
  const char* start = (parser.skip(), parser.at);
  std::string_view raw;
  if (!parser.balanced(raw)) return false;
  uint32_t& known = parser.shardings[raw];
  if (known == SpanTable::none) {
    Sharding sharding;
    parser.at = start;
    if (!parse_sharding(parser, sharding, parser.options.max_depth)) return false;
    known = static_cast<uint32_t>(parser.sharding_values.size());
    parser.sharding_values.push_back(std::make_shared<const Sharding>(std::move(sharding)));
  }
  extra(parser, draft).sharding = parser.sharding_values[known];
  return true;
}

// Braces balanced outside strings, and nothing after the last one.
bool is_json_dictionary(std::string_view text) {
  int64_t depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      else if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth <= 0) {
      return depth == 0 && i + 1 == text.size();
    }
    if (i == 0 && c != '{') return false;
  }
  return false;
}

bool read_backend_config(Parser& parser, Draft& draft) {
  std::string_view text;
  const bool json = parser.peek('{');
  if (json ? !parser.balanced(text) : !parser.string(text)) return false;
  Extra& to = extra(parser, draft);
  to.backend_config = text;
  to.backend_config_is_json = json || is_json_dictionary(text);
  return true;
}

bool read_frontend_attributes(Parser& parser, Draft& draft) {
  return parse_frontend_attributes(parser, extra(parser, draft).frontend_attributes);
}

bool read_control_predecessors(Parser& parser, Draft& draft) {
  if (!parser.expect('{', "before the control predecessors")) return false;
  if (parser.accept('}')) return true;
  do {
    std::string_view name;
    InstructionId id;
    if (!parser.name(name, "the name of an instruction") || !find_operand(parser, name, id))
      return false;
    extra(parser, draft).control_predecessors.push_back(id);
  } while (parser.accept(','));
  return parser.expect('}', "after the control predecessors");
}

bool read_parameter_replication(Parser& parser, Draft& draft) {
  if (!parser.expect('{', "after parameter_replication=")) return false;
  std::vector<bool> values;
  if (!parser.accept('}')) {
    do {
      bool value;
      if (!parse_value(parser, value)) return false;
      values.push_back(value);
    } while (parser.accept(','));
    if (!parser.expect('}', "after parameter_replication")) return false;
  }
  extra(parser, draft).parameter_replication = std::move(values);
  return true;
}

template <std::string Extra::* member>
bool read_raw(Parser& parser, Draft& draft) {
  std::string_view raw;
  return parser.balanced(raw) && (extra(parser, draft).*member = raw, true);
}

struct CommonReader {
  std::string_view name;
  bool (*read)(Parser&, Draft&);
};
constexpr CommonReader common_readers[] = {
    {"metadata", read_metadata},
    {"sharding", read_sharding},
    {"backend_config", read_backend_config},
    {"frontend_attributes", read_frontend_attributes},
    {"control-predecessors", read_control_predecessors},
    {"parameter_replication", read_parameter_replication},
    {"statistics", read_raw<&Extra::statistics>},
    {"result_accuracy", read_raw<&Extra::result_accuracy>},
    {"origin", read_raw<&Extra::origin>},
};

bool note_once(Parser& parser, const char* at, std::string_view name, uint64_t& seen, size_t i) {
  if (seen >> i & 1)
    return parser.fail_at(at, ErrorKind::Syntax,
                          fmt::format("the attribute '{}' stands twice", name));
  seen |= uint64_t{1} << i;
  return true;
}

// Whether a field of that name was found; `done` is whether reading it succeeded.
bool read_op_field(Parser& parser, const char* at, Op op, std::string_view name, AttributesId id,
                   uint64_t& seen, bool& done) {
  const auto fields = table(op).fields;
  for (size_t i = 0; i < fields.size(); ++i)
    if (same_text(fields[i].name, name)) {
      done = note_once(parser, at, name, seen, i) && fields[i].read(parser, id);
      return true;
    }
  return false;
}

bool read_unknown(Parser& parser, Draft& draft, const char* at, std::string_view name) {
  std::string_view value;
  if (!parse_raw_value(parser, value)) return false;
  parser.warn(
      at, fmt::format("unknown attribute '{}' of {} is kept as it is", name, text_of(draft.op)));
  extra(parser, draft).unknown.emplace_back(name, value);
  return true;
}

bool read_attribute(Parser& parser, Draft& draft) {
  const char* at = (parser.skip(), parser.at);
  std::string_view name = parser.word();
  if (name.empty()) return parser.fail_expected("the name of an attribute");
  if (!parser.expect('=', "after the name of an attribute")) return false;
  if (same_text(name, "metadata"))
    return note_once(parser, at, name, draft.common_seen, 0) && read_metadata(parser, draft);
  bool done = false;
  if (read_op_field(parser, at, draft.op, name, draft.attributes, draft.fields_seen, done))
    return done;
  for (size_t i = 0; i < std::size(common_readers); ++i)
    if (common_readers[i].name == name)
      return note_once(parser, at, name, draft.common_seen, i) &&
             common_readers[i].read(parser, draft);
  if (draft.async && read_op_field(parser, at, Op::AsyncStart, name, draft.async_attributes,
                                   draft.async_seen, done))
    return done;
  if (const Alias* alias = find_alias(draft.op, name)) {
    if (alias->field.empty()) return !parser.word().empty() || parser.fail_expected("a word");
    return read_op_field(parser, at, draft.op, alias->field, draft.attributes, draft.fields_seen,
                         done) &&
           done;
  }
  return read_unknown(parser, draft, at, name);
}

bool check_required(Parser& parser, const Draft& draft) {
  const AttributeTable& fields = table(draft.op);
  uint64_t missing = fields.required & ~draft.fields_seen;
  if (missing == 0) return true;
  if (draft.async && *draft.async != Op::AsyncStart) return true;  // those of its async-start count
  const std::string_view name = fields.fields[std::countr_zero(missing)].name;
  return parser.fail_at(draft.name.data(), ErrorKind::Syntax,
                        fmt::format("{} needs the attribute '{}'", text_of(draft.op), name));
}

}  // namespace

void make_attributes(Parser& parser, Draft& draft) {
  draft.attributes = table(draft.op).make(parser.module);
  if (draft.async) draft.async_attributes = table(Op::AsyncStart).make(parser.module);
}

bool parse_attributes(Parser& parser, Draft& draft) {
  while (parser.accept(','))
    if (!read_attribute(parser, draft)) return false;
  return check_required(parser, draft);
}

bool parse_raw_value(Lexer& lexer, std::string_view& out) {
  lexer.skip();
  const char* start = lexer.at;
  for (;;) {
    const char c = *lexer.at;
    std::string_view ignored;
    if (c == '{' || c == '(' || c == '[') {
      if (!lexer.balanced(ignored)) return false;
    } else if (c == '"') {
      if (!lexer.string(ignored)) return false;
    } else if (lexer.at == lexer.end || c == ',' || c == '\n' || c == '}' || c == ')') {
      break;
    } else {
      ++lexer.at;
    }
  }
  const char* stop = lexer.at;
  while (stop > start && is_class(stop[-1], GapChar)) --stop;
  if (stop == start) return lexer.fail_expected("the value of an attribute");
  out = {start, static_cast<size_t>(stop - start)};
  return true;
}

bool parse_frontend_attributes(Lexer& lexer, FrontendAttributes& out) {
  if (!lexer.expect('{', "before the frontend attributes")) return false;
  if (lexer.accept('}')) return true;
  do {
    const std::string_view key = lexer.word();
    if (key.empty()) return lexer.fail_expected("the name of a frontend attribute");
    if (!lexer.expect('=', "after the name of a frontend attribute")) return false;
    const bool dictionary = lexer.peek('{');
    std::string_view value;
    if (dictionary ? !lexer.balanced(value) : !lexer.string(value)) return false;
    out[std::string(key)] = {std::string(value), dictionary};
  } while (lexer.accept(','));
  return lexer.expect('}', "after the frontend attributes");
}

}  // namespace hilo
