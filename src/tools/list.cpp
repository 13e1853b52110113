#include <algorithm>
#include <nlohmann/json.hpp>

#include "eval/eval.h"
#include "machine/machine.h"
#include "target/target.h"
#include "tools/diagnostics.h"
#include "tools/terminal.h"

namespace hilo::tools {
namespace {

using Rows = std::vector<std::vector<std::string>>;
struct Table {
  std::vector<std::string> columns;
  Rows rows;
};

using Words = std::span<const std::pair<uint32_t, std::string_view>>;
constexpr std::pair<uint32_t, std::string_view> kind_words[] = {
    {MaskPred, "pred"},      {MaskSigned, "signed"},   {MaskUnsigned, "unsigned"},
    {MaskFloat, "floating"}, {MaskComplex, "complex"}, {MaskSpecial, "special"}};
constexpr std::pair<uint32_t, std::string_view> trait_words[] = {
    {TraitTranscendental, "transcendental"},
    {TraitNoTraffic, "no-traffic"},
    {TraitNotFolded, "not-folded"},
    {TraitCheap, "cheap"},
    {TraitEffect, "effect"},
    {TraitCollective, "collective"},
    {TraitMoves, "moves"},
    {TraitCommutes, "commutes"},
    {TraitMonoid, "monoid"},
    {TraitIdempotent, "idempotent"},
    {TraitRearranges, "rearranges"}};

// The words of a mask's bits, with spaces between; "-" of none.
std::string words_of(uint32_t mask, Words words) {
  std::string out;
  for (const auto& [bit, word] : words)
    if (mask & bit) (out += out.empty() ? "" : " ") += word;
  return out.empty() ? "-" : out;
}

// Kinds of element types are those of the type table's column of that name.
Table ops_table() {
  Table out{{"op", "operands", "attributes", "class", "kinds", "traits"}, {}};
  for (int i = 0; i < op_count; ++i) {
    const OpInfo& op = info(static_cast<Op>(i));
    out.rows.push_back({std::string(op.text), op.operands < 0 ? "any" : std::to_string(op.operands),
                        std::string(op.attributes),
                        op.op_class == OpClass::Elementwise ? "elementwise" : "structural",
                        words_of(op.types, kind_words), words_of(op.traits, trait_words)});
  }
  return out;
}

Table types_table() {
  constexpr uint8_t Boolean = MaskPred, Signed = MaskSigned, Unsigned = MaskUnsigned,
                    Float = MaskFloat, Complex = MaskComplex;
  Table out{{"type", "bits", "kind"}, {}};
#define ELEMENT_TYPE(name, text, number, bits, storage, kind) \
  out.rows.push_back({text, std::to_string(bits), words_of(kind, kind_words)});
#define SPECIAL_TYPE(name, text, number) \
  out.rows.push_back({text, "-", words_of(MaskSpecial, kind_words)});
#include "shape/element_types.def"
#undef ELEMENT_TYPE
#undef SPECIAL_TYPE
  return out;
}

Table custom_calls_table() {
  Table out{{"target", "family", "sees", "meaning"}, {}};
  for (const CustomCallInfo& call : known_custom_calls())
    out.rows.push_back({std::string(call.target), std::string(call.family),
                        call.sees == CustomCallSees::Bytes ? "bytes" : "values",
                        std::string(call.meaning)});
  return out;
}

Table errors_table() {
  Table out{{"kind", "meaning"}, {}};
#define ERROR_KIND(name, text, meaning) out.rows.push_back({text, meaning});
#include "base/errors.def"
#undef ERROR_KIND
  return out;
}

Table passes_table() {
  Table out{{"pass", "meaning"}, {}};
  for (const Pass& pass : all_passes())
    out.rows.push_back({std::string(pass.name), std::string(pass.summary)});
  return out;
}

Table steps_table() {
  Table out{{"pass", "why there"}, {}};
  for (const TargetStep& step : cpu_target().steps)
    out.rows.push_back({std::string(step.pass), std::string(step.reason)});
  return out;
}

Table pipelines_table() {
  Table out{{"pipeline", "meaning", "passes"}, {}};
  for (const NamedPipeline& one : pipelines_of(cpu_target()))
    out.rows.push_back({std::string(one.name), std::string(one.summary), std::string(one.text)});
  return out;
}

Table rules_table() {
  static constexpr std::string_view keeps[] = {"bits", "values", "reals"};
  Table out{{"rule", "family", "keeps"}, {}};
  for (const RuleFamily& family : all_rules())
    for (const RewriteRule& rule : family.rules)
      out.rows.push_back({std::string(rule.name), std::string(family.name),
                          std::string(keeps[static_cast<size_t>(rule.keeps)])});
  return out;
}

Table targets_table() {
  Table out{{"target", "memory GiB", "GB/s", "bf16 Tflop/s", "chip"}, {}};
  const auto number = [](double value) { return value > 0 ? fmt::format("{:.4g}", value) : "-"; };
  for (const Machine& machine : machines()) {
    const MemorySpace memory = memory_space(machine, 0);
    out.rows.push_back({std::string(machine.name),
                        number(static_cast<double>(memory.bytes) / (int64_t{1} << 30)),
                        number(memory.bytes_per_second / 1e9), number(machine.flops_bf16 / 1e12),
                        std::string(machine.description)});
  }
  return out;
}

constexpr std::pair<std::string_view, Table (*)()> tables[] = {
    {"ops", ops_table},       {"passes", passes_table},   {"pipelines", pipelines_table},
    {"steps", steps_table},   {"rules", rules_table},     {"types", types_table},
    {"errors", errors_table}, {"targets", targets_table}, {"custom-calls", custom_calls_table}};

void show(const Table& table) {
  std::vector<size_t> widths;
  for (size_t c = 0; c < table.columns.size(); ++c) {
    widths.push_back(table.columns[c].size());
    for (const auto& row : table.rows) widths[c] = std::max(widths[c], row[c].size());
  }
  const size_t width = terminal_width();
  size_t before = 0;  // the last column
  for (size_t c = 0; c + 1 < widths.size(); ++c) before += widths[c] + 2;
  // Where little is left for it, it stands below the others.
  const bool fits = width == 0 || before <= width / 2;
  constexpr size_t below = 4;
  const auto line = [&](const std::vector<std::string>& cells) {
    for (size_t c = 0; c + 1 < cells.size(); ++c) fmt::print("{:<{}}  ", cells[c], widths[c]);
    if (!fits) fmt::print("\n{:{}}", "", below);
    fmt::print("{}\n", wrapped(cells.back(), fits ? before : below, width));
  };
  line(table.columns);
  for (const auto& row : table.rows) line(row);
}

std::string json_of(std::string_view name, const Table& table) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& row : table.rows) {
    nlohmann::ordered_json& object = rows.emplace_back();
    for (size_t c = 0; c < row.size(); ++c) object[table.columns[c]] = row[c];
  }
  nlohmann::ordered_json out = {{"schema", fmt::format("hilo.list.{}.1", name)}, {"rows", rows}};
  return out.dump(2);
}

}  // namespace

void add_list(Arguments& arguments, Session& session) {
  auto what = std::make_shared<std::string>();
  std::vector<std::string> names;
  for (const auto& [name, make] : tables) names.emplace_back(name);
  arguments
      .add_option("WHAT", *what,
                  "ops, passes, pipelines, steps (of the compiler, with reasons), rules, types, "
                  "errors, targets or custom-calls")
      .required()
      .one_of(names);
  arguments.add_flag("--json", session.json, "one JSON document");
  arguments.footer("Examples:\n  hilo list pipelines\n  hilo list custom-calls --json");
  arguments.callback([what, &session] {
    for (const auto& [name, make] : tables)
      if (name != *what) continue;
      else if (session.json) set_document(session, json_of(name, make()));
      else show(make());
  });
}

}  // namespace hilo::tools
