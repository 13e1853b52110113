// The short forms of ops that are lists: operands, keys with values, a name or index; then
// attributes and types. A key that no table has is the attribute's own name.
#include <algorithm>

#include "wire/stablehlo/mlir_text_reader.h"

namespace hilo::mlir {
namespace {

struct Key {
  std::string_view op, key, attribute;
  std::string_view second = "";  // of what follows an 'x'
};
constexpr Key keys[] = {
    {"broadcast", "sizes", "broadcast_sizes"},
    {"broadcast_in_dim", "dims", "broadcast_dimensions"},
    {"cholesky", "lower", "lower"},
    {"concatenate", "dim", "dimension"},
    {"dot", "precision", "precision_config"},
    {"dot_general", "batching_dims", "lhs_batching_dimensions", "rhs_batching_dimensions"},
    {"dot_general", "contracting_dims", "lhs_contracting_dimensions", "rhs_contracting_dimensions"},
    {"dot_general", "precision", "precision_config"},
    {"dynamic_broadcast_in_dim", "dims", "broadcast_dimensions"},
    {"dynamic_iota", "dim", "iota_dimension"},
    {"dynamic_slice", "sizes", "slice_sizes"},
    {"einsum", "config", "einsum_config"},
    {"fft", "length", "fft_length"},
    {"fft", "type", "fft_type"},
    {"get_dimension_size", "dim", "dimension"},
    {"iota", "dim", "iota_dimension"},
    {"pad", "high", "edge_padding_high"},
    {"pad", "interior", "interior_padding"},
    {"pad", "low", "edge_padding_low"},
    {"reverse", "dims", "dimensions"},
    {"rng", "distribution", "rng_distribution"},
    {"rng_bit_generator", "algorithm", "rng_algorithm"},
    {"set_dimension_size", "dim", "dimension"},
    {"transpose", "dims", "permutation"},
    {"unary_einsum", "config", "einsum_config"},
};

const Key* find_key(std::string_view op, std::string_view key) {
  const auto* found =
      std::ranges::find_if(keys, [&](const Key& each) { return each.op == op && each.key == key; });
  return found == std::end(keys) ? nullptr : found;
}

Form form_of(const VhloOp& op, std::string_view attribute) {
  for (const VhloAttribute& spec : op.all())
    if (spec.name == attribute) return spec.form;
  return Form::Any;
}

}  // namespace

void TextReader::pretty(Operation& op, Signature& types) {
  if (special(op, types)) return;
  // Shardy's collectives say their axes there, and what reduces them.
  const bool is_of_shardy = op.name.starts_with("sdy.");
  if (is_of_shardy && !in_.accept_word("max")) in_.accept_word("min");
  if (in_.peek('{') && is_of_shardy) in_.balanced();
  else if (in_.peek('{')) add_attributes(op, dictionary());
  items(op);
  if (in_.accept_word("attributes") || in_.peek('{')) add_attributes(op, dictionary());
  if (in_.peek(':')) types = signature();
}

void TextReader::items(Operation& op) {
  const bool is_of_shardy = op.name.starts_with("sdy.");
  bool is_behind_operand = false;
  while (!in_.failed()) {
    const bool is_awaited = in_.accept(',');
    const char next = in_.next();
    const size_t begin = in_.offset();
    if (item(op)) {
      const bool is_listed = next == '%' || TextCursor::is_letter(next);
      if (is_behind_operand && is_listed && !is_awaited && !is_of_shardy)
        in_.fail_at(ErrorKind::Syntax, begin, "expected ',' behind an operand");
      is_behind_operand = next == '%';
      continue;
    }
    if (is_awaited) in_.fail("expected an operand or a key, found {}", in_.found());
    return;
  }
}

// One operand, key, name, index, or a group of these in brackets.
bool TextReader::item(Operation& op) {
  const char next = in_.next();
  if (next == '%') return op.operands.push_back(use()), true;
  if (next == '@') {
    const bool is_custom_call = op.name == "stablehlo.custom_call";
    op.attributes.emplace_back(is_custom_call ? "call_target_name" : "callee", symbol_attribute());
    return true;
  }
  if (next == '"') {
    op.attributes.emplace_back("name", builder_.string(in_.string()));
    return true;
  }
  if (next == '(') {
    const Nesting nesting(*this, max_depth);
    in_.accept('(');
    items(op);
    in_.expect(")");
    return true;
  }
  if (next == '[') return bracketed(op), true;
  if (next == '<' && op.name.starts_with("sdy."))
    return op.attributes.emplace_back("sharding", sdy_sharding()), true;
  const std::string_view word = in_.peek_word();
  if (word.empty() || word == "loc" || word == "attributes") return false;
  in_.word();
  if (in_.accept('=')) return keyed(op, word), true;
  if (op.name != "stablehlo.compare" && op.name != "chlo.broadcast_compare")
    in_.fail("'{}' is no operand and no key", word);
  op.attributes.emplace_back(op.operands.empty() ? "comparison_direction" : "compare_type",
                             builder_.enumerator(word));
  return true;
}

void TextReader::bracketed(Operation& op) {
  if (op.name == "stablehlo.slice") return slices(op);
  if (op.name.starts_with("sdy.")) {
    in_.balanced();  // axes of Shardy's own collectives, which come after propagation
    return;
  }
  in_.expect("[");
  op.attributes.emplace_back("index", builder_.integer(in_.integer()));
  in_.expect("]");
}

// [0:2, 1:4:2]
void TextReader::slices(Operation& op) {
  Dims starts, limits, strides;
  in_.expect("[");
  if (!in_.peek(']')) do {
      starts.push_back(in_.integer());
      in_.expect(":");
      limits.push_back(in_.integer());
      strides.push_back(in_.accept(':') ? in_.integer() : 1);
    } while (in_.accept(','));
  in_.expect("]");
  op.attributes.emplace_back("start_indices", builder_.numbers(std::move(starts)));
  op.attributes.emplace_back("limit_indices", builder_.numbers(std::move(limits)));
  op.attributes.emplace_back("strides", builder_.numbers(std::move(strides)));
}

void TextReader::keyed(Operation& op, std::string_view name) {
  const VhloOp* known = find_stablehlo_op(op.name);
  const Key* key = known ? find_key(known->name, name) : nullptr;
  if (key) {
    const Form form = form_of(*known, key->attribute);
    op.attributes.emplace_back(key->attribute, value_of(form));
    if (key->second.empty()) return;
    in_.expect("x");
    op.attributes.emplace_back(key->second, value_of(form));
    return;
  }
  if (known && known->name == "reduce_precision" && name == "format")
    return exponent_and_mantissa(op);
  if (known && known->name == "dot_general" && name == "algorithm") {
    op.attributes.emplace_back(name, structure("dot_algorithm"));
    return;
  }
  const bool is_sharding = op.name.starts_with("sdy.") && in_.peek('<');
  op.attributes.emplace_back(name, is_sharding ? sdy_sharding() : free_value());
}

// e5m2
void TextReader::exponent_and_mantissa(Operation& op) {
  const std::string_view word = in_.word();
  const size_t mark = word.find('m');
  int64_t exponent = 0, mantissa = 0;
  const auto digits = [](std::string_view text, int64_t& value) {
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && stop == text.data() + text.size();
  };
  if (!word.starts_with('e') || mark == std::string_view::npos ||
      !digits(word.substr(1, mark - 1), exponent) || !digits(word.substr(mark + 1), mantissa))
    in_.fail("expected a format such as e5m2, found '{}'", word);
  op.attributes.emplace_back("exponent_bits", builder_.integer(exponent));
  op.attributes.emplace_back("mantissa_bits", builder_.integer(mantissa));
}

AttributeId TextReader::value_of(Form form) {
  switch (form) {
    case Form::I64: return builder_.integer(in_.integer());
    case Form::Numbers: return integer_list();
    case Form::Precisions: return precisions();
    case Form::FftType:
    case Form::Algorithm:
    case Form::Distribution: return builder_.enumerator(in_.word());
    default: return attribute(false);
  }
}

// A value whose type nothing tells: a name is that of an enum's value.
AttributeId TextReader::free_value() {
  const std::string_view word = in_.peek_word();
  const bool is_name = !word.empty() && word != "true" && word != "false" && word != "dense" &&
                       word != "array" && word != "unit" && !is_type();
  return is_name ? builder_.enumerator(in_.word()) : attribute(false);
}

AttributeId TextReader::integer_list() {
  Dims values;
  in_.expect("[");
  if (!in_.peek(']')) do
      values.push_back(in_.integer());
    while (in_.accept(','));
  in_.expect("]");
  return builder_.numbers(std::move(values));
}

AttributeId TextReader::precisions() {
  std::vector<AttributeId> out;
  in_.expect("[");
  if (!in_.peek(']')) do
      out.push_back(builder_.enumerator(in_.word()));
    while (in_.accept(','));
  in_.expect("]");
  return builder_.array(std::move(out));
}

void TextReader::spread(const Operation& op, Signature& types) {
  if (in_.failed() || types.is_function || !types.results.empty()) return;
  const bool has_results = !op.name.ends_with(".return") && op.name != "sdy.sharding_group";
  if (!has_results) {
    types.is_function = true;
    return;
  }
  const std::vector<TypeId>& listed = types.types;
  if (op.name == "stablehlo.optimization_barrier") types.results = listed;
  else if (!listed.empty()) types.results = {listed.back()};
  const bool is_select = op.name == "stablehlo.select";
  if (listed.size() > (is_select ? 2U : 1U) && types.results.size() == 1)
    in_.fail_at(ErrorKind::Syntax, static_cast<size_t>(op.position.offset),
                fmt::format("{} types for one result", listed.size()));
}

}  // namespace hilo::mlir
