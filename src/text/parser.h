// The parser's state, and the functions that read one kind of thing each. All of them return
// whether they succeeded; the reason for a failure stands in Lexer::failure.
#pragma once

#include "text/lexer.h"
#include "text/span_table.h"
#include "text/text.h"

namespace hilo {

// An instruction while it is read.
struct Draft {
  std::string_view name;
  Op op = Op::Tuple;
  ShapeId shape;            // none: to be inferred
  AttributesId attributes;  // made with defaults before the attributes are read
  ExtraId extra;
  MetadataId metadata;
  uint64_t fields_seen = 0, common_seen = 0, async_seen = 0;
  // Sugar: `X-start` is an async-start of an X. Then `op` is X until resolve_async.
  std::optional<Op> async;
  AttributesId async_attributes;
};

// What a computation knows while its instructions are read; inline bodies nest.
struct Scope {
  std::string_view computation;
  SpanTable names;
  SpanTable failed;  // names of instructions that were given up, so that one error stays one
  std::vector<InstructionId> instructions, parameters;
  std::vector<InstructionId> unnamed;  // made by the parser: they get names at the end
  std::unordered_map<uint64_t, InstructionId> tuple_elements;  // of %x#1: (operand, index)
  InstructionId root;
  ComputationId expected;  // the id that it gets unless others end before it
  bool broken = false;     // an instruction was given up
  bool cut_off = false;    // and its line had the computation's end
  void reset(std::string_view name);
};

class Parser : public Lexer {
 public:
  Parser(std::string_view text, const ParseOptions& options, Module& module)
      : Lexer(text, module.strings), options(options), module(module) {}

  const ParseOptions& options;
  Module& module;
  SpanTable computations;
  SpanTable shapes, literals, metadata, shardings;  // by their raw text
  std::vector<LiteralRef> literal_values;
  std::vector<ShapeId> literal_shapes;
  std::vector<std::shared_ptr<const Sharding>> sharding_values;
  std::vector<std::unique_ptr<Scope>> scopes;  // one for each level of inline bodies, reused
  size_t depth = 0;                            // of scopes in use
  std::vector<InstructionId> operands;         // a stack
  std::string_view instruction;                // the name of the one that is being read
  std::optional<Op> op;
  int64_t literal_bytes_used = 0;
  size_t sugared_starts = 0;  // whose computations have been given names
  bool bare = false;          // a bare instruction: unknown operands become parameters
  bool failed_names_used = false;
  std::optional<Error> first_error;  // when reading went on after it
  std::vector<bool> broken;          // computations in which an instruction was given up

  Scope& scope() { return *scopes[depth - 1]; }
  void warn(const char* where, std::string message);
  bool doubt(const char* where, std::string message) override {
    return warn(where, std::move(message)), true;
  }
  Place location_here(const char* position) const;
  Error error() const;  // from `failure`
};

// parse_module.cpp
bool parse_module(Parser& parser);
bool parse_computation_body(Parser& parser, std::string_view name, ComputationId& out);
// parse_header.cpp, parse_stack_frames.cpp
bool parse_header(Parser& parser);
bool parse_stack_frames(Parser& parser);
// parse_instruction.cpp
bool parse_instruction(Parser& parser);
// Checks and appends it; `out` is its id. Names it at the end of the computation if it has none.
bool append_instruction(Parser& parser, Draft& draft, std::span<const InstructionId> operands,
                        InstructionId& out);
// What stands between the parentheses of parameter(0) and constant(1).
bool parse_leaf(Parser& parser, Draft& draft);
inline bool is_leaf(Op op) { return op == Op::Parameter || op == Op::Constant; }
// parse_operands.cpp: what stands after '(', and the ')'. The ids go onto parser.operands.
bool parse_operands(Parser& parser);
bool find_operand(Parser& parser, std::string_view name, InstructionId& out);
// "there is no KIND named NAME", with the nearest name that there is.
bool fail_unknown_name(Parser& parser, const char* at, std::string_view kind, std::string_view name,
                       const SpanTable& known);
// parse_async.cpp: turns a sugared draft into an async-start, -update or -done.
bool resolve_async(Parser& parser, Draft& draft, std::span<const InstructionId> operands);
// An async-update or -done has its start's computation and thread, whatever is written; XLA reads
// it so too.
void inherit_async(Parser& parser, const Draft& draft, std::span<const InstructionId> operands);
// parse_attributes.cpp
bool parse_attributes(Parser& parser, Draft& draft);
void make_attributes(Parser& parser, Draft& draft);
bool parse_frontend_attributes(Lexer& lexer, FrontendAttributes& out);
bool parse_raw_value(Lexer& lexer, std::string_view& out);  // of an attribute nobody knows
// parse_metadata.cpp
bool parse_metadata(Parser& parser, MetadataId& out);
// parse_sharding.cpp
bool parse_sharding(Lexer& lexer, Sharding& out, int max_depth);
// parse_shape.cpp: a shape, or its interned id found by its text.
bool parse_shape(Lexer& lexer, Shape& out, int max_depth);
bool parse_shape_id(Parser& parser, ShapeId& out);
bool at_shape(Lexer& lexer);
// Plain numbers with single commas between them up to `close`, as XLA prints them; anything else
// is left to the parser proper, with `lexer` as it was. One allocation of the right size.
bool read_plain_integers(Lexer& lexer, Dims& out, char close);
// parse_literal.cpp: a value of `shape` as in constant(...). Its bytes are taken from bytes_left.
bool parse_literal(Lexer& lexer, const Shape& shape, int64_t& bytes_left, LiteralRef& out);

}  // namespace hilo
