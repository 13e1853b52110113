// MLIR text with StableHLO, CHLO, func, Shardy and the builtin dialect, in its short and generic
// forms. Grammar: "MLIR Language Reference", StableHLO's specification and its printers.
#include "wire/stablehlo/mlir_text_reader.h"

#include "wire/stablehlo/nesting.h"

namespace hilo::mlir {

// #name = attribute, !name = type
void TextReader::read_alias() {
  const size_t offset = in_.offset();
  if (in_.peek('!')) {
    const std::string_view name = in_.name('!');
    in_.expect("=");
    const TypeId id = type();
    if (!type_aliases_.try_emplace(name, id).second)
      in_.fail_at(ErrorKind::Name, offset, fmt::format("'!{}' is defined twice", name));
    return;
  }
  const std::string_view name = in_.name('#');
  in_.expect("=");
  const AttributeId value = attribute();
  if (in_.failed()) return;
  const auto [found, is_new] = aliases_.try_emplace(name);
  Alias& alias = found->second;
  if (!is_new && alias.is_defined)
    return in_.fail_at(ErrorKind::Name, offset, fmt::format("'#{}' is defined twice", name));
  alias.is_defined = true;
  if (is_new) {
    alias.id = value;
  } else {
    Attribute copy = builder_.program[value];
    builder_.program.attributes[alias.id.value] = std::move(copy);
  }
}

void TextReader::check_aliases() {
  for (const auto& [name, alias] : aliases_)
    if (!alias.is_defined)
      return in_.fail_at(ErrorKind::Name, alias.offset,
                         fmt::format("'#{}' is nowhere defined", name));
  if (const std::string fault = nesting_fault(builder_.program); !fault.empty())
    in_.fail_at(ErrorKind::Structure, 0, fault);
}

// {-# dialect_resources: {builtin: {key: "0x…"}}, external_resources: {…} #-}
void TextReader::read_resources() {
  in_.expect("{-#");
  while (!in_.failed() && !in_.peek("#-}")) {
    const bool is_of_dialect = in_.word() == "dialect_resources";
    in_.expect(":");
    in_.expect("{");
    while (!in_.failed() && !in_.peek('}')) {
      in_.word();
      in_.expect(":");
      read_resource_group(is_of_dialect);
      if (!in_.accept(',')) break;
    }
    in_.expect("}");
    if (!in_.accept(',')) break;
  }
  in_.expect("#-}");
}

// Blobs begin with their alignment in four bytes.
void TextReader::read_resource_group(bool is_of_dialect) {
  in_.expect("{");
  while (!in_.failed() && !in_.peek('}')) {
    const std::string key = in_.peek('"') ? in_.string() : std::string(in_.word());
    in_.expect(":");
    if (!in_.peek('"')) {
      attribute();
    } else if (auto bytes = bytes_of_hexadecimal(in_.quoted()); bytes && is_of_dialect) {
      constexpr size_t alignment = 4;
      if (bytes->size() < alignment) in_.fail("resource '{}' has no alignment", key);
      else bytes->erase(0, alignment);
      builder_.program.resources[key] = std::make_shared<const std::string>(*std::move(bytes));
    }
    if (!in_.accept(',')) break;
  }
  in_.expect("}");
}

// Functions may stand without a module around them.
OpId TextReader::read_module() {
  std::vector<OpId> tops;
  while (!in_.failed() && !in_.at_end()) {
    if (in_.peek('#') || in_.peek('!')) read_alias();
    else if (in_.peek("{-#")) read_resources();
    else if (const OpId op = operation("builtin.module")) tops.push_back(op);
  }
  Program& program = builder_.program;
  if (in_.failed()) return {};
  if (tops.empty()) return in_.fail("no module and no function"), OpId{};
  if (tops.size() == 1 && program[tops[0]].name == "builtin.module") return tops[0];
  const auto next = [](const auto& all) { return static_cast<uint32_t>(all.size()); };
  Operation module{.name = "builtin.module"};
  module.position = {1, 1, 0};
  module.regions = {{next(program.regions)}};
  program.regions.push_back({{{next(program.blocks)}}});
  program.blocks.push_back({.operations = std::move(tops)});
  program.operations.push_back(std::move(module));
  return {next(program.operations) - 1};
}

Result<Program> TextReader::read() {
  const OpId module = read_module();
  if (!in_.failed()) check_aliases();
  if (in_.failed()) return std::unexpected(std::move(in_.error()));
  builder_.program.module = module;
  return std::move(builder_.program);
}

Result<Program> read_text(std::string_view text, const std::string& file) {
  Result<Program> program = TextReader(text).read();
  if (!program) program.error().place.file = file;
  else program->file = file;
  return program;
}

}  // namespace hilo::mlir
