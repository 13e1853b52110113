// Front door of `text`: HLO text in and out. parse(print(m)) equals m, and printing that again
// gives the same bytes. Format: XLA's HLO text of August 2026 and older; docs/hlo-text.md says what
// differs.
#pragma once

#include "ir/ir.h"

namespace hilo {

struct Warning {
  std::string message;
  Place place;
};

// What was understood of a text with errors. Instructions that were given up are missing.
struct PartialModule {
  Module module;
  std::vector<bool> incomplete;  // for each computation: whether such instructions were in it
};

struct ParseOptions {
  std::string file;                          // for the places of errors
  std::vector<Warning>* warnings = nullptr;  // unknown attributes, elided constants
  // When given: an error in an instruction is added here, the parser goes on at the next one, and
  // gives up after 20. The Result still holds the first.
  std::vector<Error>* errors = nullptr;
  PartialModule* partial = nullptr;              // given what is there when there are errors
  int max_depth = 8192;                          // nesting of shapes, literals, operands
  int64_t max_literal_bytes = int64_t{1} << 32;  // of all constants, elided ones included
};
// A module, a module without header, or a bare instruction. Keeps the file's order everywhere.
Result<Module> parse(std::string_view text, const ParseOptions& options = {});
// Without a copy of the text.
Result<Module> parse(std::shared_ptr<const std::string> text, const ParseOptions& options = {});
struct PrintStyle {
  bool percent = true;
  bool program_shape = true;
  bool operand_shape = false;
  bool metadata = true;
  bool backend_config = true;
  bool large_constants = true;    // false: arrays of more than 10 elements and tuples print {...}
  bool async_sugar = true;        // X-start for an async-start of a one-instruction computation
  bool index_comments = true;     // /*index=5*/
  bool name_after_brace = false;  // } // name
  static PrintStyle xla2026();
  static PrintStyle xla2024();  // operand shapes printed
  static PrintStyle compact();  // "short": no metadata, no '%', no program shapes
};
std::string print(const Module& module, const PrintStyle& style = {});
std::string print(const Module& module, InstructionId instruction, const PrintStyle& style = {});
std::string print(const Sharding& sharding);
std::string print(const Literal& literal);  // the value alone, as in constant(...)

// For inputs and tests: a shape, a literal or a sharding alone, as in HLO text.
Result<Shape> parse_shape(std::string_view text);
Result<Literal> parse_literal(std::string_view text, const Shape& shape);
Result<Sharding> parse_sharding(std::string_view text);

// Shardy's attributes, which JAX leaves in frontend attributes: `{mesh = #sdy.mesh<["x"=4]>}` of
// xla.sdy.meshes; one sharding or a list of them, `#sdy.sharding<@mesh, [{"x"}, {}]>`; and
// `#sdy<manual_axes{"x"}>`. Syntax where the text is not such, Name, Structure where its axes and
// the meshes do not fit.
using ShardyMeshes = std::map<std::string, SharedMesh>;
Result<ShardyMeshes> parse_shardy_meshes(std::string_view text);
Result<std::vector<AxisSharding>> parse_shardy_shardings(std::string_view text,
                                                         const ShardyMeshes& meshes);
Result<std::vector<AxisRef>> parse_shardy_manual_axes(std::string_view text);
// The other way. A sharding whose mesh is none of `meshes` has it written out. Manual axes are
// those of the region that a value is in, and not said.
std::string print_shardy_meshes(const ShardyMeshes& meshes);
std::string print_shardy(const AxisSharding& sharding, const ShardyMeshes& meshes);
std::string print_shardy(std::span<const AxisSharding> per_value, const ShardyMeshes& meshes);

}  // namespace hilo
