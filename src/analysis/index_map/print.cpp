// Maps as text.
#include "analysis/index_map/expression.h"

namespace hilo {
namespace {

using Kind = IndexTerm::Kind;

std::string text(const IndexExpression& expression);

std::string text_of_variable(const IndexTerm& term) {
  static constexpr std::string_view letters[] = {"i", "r", "s"};
  if (is_variable(term))
    return fmt::format("{}{}", letters[static_cast<size_t>(term.kind)], term.number);
  const std::string inner = text(term.inner);
  const bool is_alone = term.inner.constant == 0 && term.inner.terms.size() == 1 &&
                        term.inner.terms[0].coefficient == 1 && is_variable(term.inner.terms[0]);
  return fmt::format("{} {} {}", is_alone ? inner : "(" + inner + ")",
                     term.kind == Kind::Quotient ? "floordiv" : "mod", term.number);
}

std::string text_of_term(const IndexTerm& term, int64_t coefficient) {
  const std::string variable = text_of_variable(term);
  if (coefficient == 1) return variable;
  return is_variable(term) ? fmt::format("{} {}", coefficient, variable)
                           : fmt::format("{} ({})", coefficient, variable);
}

std::string text(const IndexExpression& expression) {
  std::string out;
  for (const IndexTerm& term : expression.terms) {
    const bool is_negative = term.coefficient < 0;
    const std::string part = text_of_term(term, is_negative ? -term.coefficient : term.coefficient);
    if (out.empty()) out = is_negative ? "-" + part : part;
    else out += (is_negative ? " - " : " + ") + part;
  }
  const int64_t constant = expression.constant;
  if (out.empty()) return std::to_string(constant);
  if (constant > 0) out += fmt::format(" + {}", constant);
  if (constant < 0) out += fmt::format(" - {}", std::to_string(constant).substr(1));
  return out;
}

std::string listed(std::span<const IndexExpression> index) {
  std::string out;
  for (const IndexExpression& expression : index)
    out += (out.empty() ? "" : ", ") + text(expression);
  return out;
}

std::string text_of_symbol(const Module& module, const IndexSymbol& symbol, size_t number) {
  std::string value = "the device's";
  if (symbol.value) value = "%" + std::string(module[symbol.value].name);
  if (!symbol.index.empty()) value += "[" + listed(symbol.index) + "]";
  return fmt::format("s{} = {} {} {}..{}", number, value,
                     symbol.is_clamped ? "clamped to" : "if in", symbol.within.lower,
                     symbol.within.upper);
}

std::string text_of_guard(const IndexGuard& guard) {
  const std::string inner = text(guard.expression);
  const auto [lower, upper] = guard.within;
  if (lower == upper) return fmt::format("{} = {}", inner, lower);
  return fmt::format("{} <= {} <= {}", lower, inner, upper);
}

}  // namespace

std::string to_string(const Module& module, const IndexMap& map) {
  std::string out = "(";
  for (size_t d = 0; d < map.result_dims.size(); ++d) out += fmt::format("{}i{}", d ? ", " : "", d);
  out += ")";
  if (map.needs_nothing) return out + " -> nothing";
  std::string variables;
  for (size_t r = 0; r < map.range_sizes.size(); ++r)
    variables += fmt::format("{}r{} < {}", r ? ", " : "", r, map.range_sizes[r]);
  for (size_t s = 0; s < map.symbols.size(); ++s)
    variables += (variables.empty() ? "" : ", ") + text_of_symbol(module, map.symbols[s], s);
  if (!variables.empty()) out += "[" + variables + "]";
  out += fmt::format(" {} ({})", map.is_exact ? "->" : "~>", listed(map.index));
  for (size_t g = 0; g < map.guards.size(); ++g)
    out += (g ? " and " : " if ") + text_of_guard(map.guards[g]);
  return out;
}

}  // namespace hilo
