// Attributes of Shardy in MLIR's text.
#include "wire/stablehlo/mlir_text_reader.h"
#include "wire/stablehlo/structs.h"

namespace hilo::mlir {

AttributeId TextReader::sdy_attribute(std::string_view name) {
  if (name == "sdy.sharding") return sdy_sharding();
  if (name == "sdy.mesh") return sdy_mesh();
  if (name == "sdy.manual_axes") {
    in_.expect("<");
    const AttributeId out = sdy_manual_axes();
    in_.expect(">");
    return out;
  }
  if (name == "sdy.sharding_per_value") {
    in_.expect("<");
    const AttributeId out = sdy_shardings();
    in_.expect(">");
    return out;
  }
  if (name == "sdy.op_sharding_rule" && in_.peek('<'))
    return builder_.structure(std::string(name), {{"rule", builder_.string(in_.balanced())}});
  return unknown_attribute("sdy");
}

// <["x"=2, "y"=2], device_ids=[0, 1]>
AttributeId TextReader::sdy_mesh() {
  std::vector<AttributeId> axes;
  Dims devices;
  in_.accept("#sdy.mesh");
  in_.expect("<");
  in_.expect("[");
  if (!in_.peek(']')) do {
      const std::string name = in_.string();
      in_.expect("=");
      axes.push_back(make_axis(builder_, name, in_.integer()));
    } while (in_.accept(','));
  in_.expect("]");
  if (in_.accept(',')) {
    in_.expect_word("device_ids");
    in_.expect("=");
    in_.expect("[");
    if (!in_.peek(']')) do
        devices.push_back(in_.integer());
      while (in_.accept(','));
    in_.expect("]");
  }
  in_.expect(">");
  return make_mesh(builder_, std::move(axes), devices);
}

// <@mesh, [{"x"}, {?}], replicated={"y"}, unreduced={}>
AttributeId TextReader::sdy_sharding() {
  std::vector<AttributeId> dims, replicated, unreduced;
  std::string_view unreduced_op;
  in_.accept("#sdy.sharding");
  in_.expect("<");
  AttributeId mesh;
  if (in_.accept_word("mesh")) mesh = sdy_mesh();
  else if (in_.peek('@')) mesh = symbol_attribute();
  else mesh = sdy_mesh();
  in_.expect(",");
  in_.expect("[");
  if (!in_.peek(']')) do
      dims.push_back(sdy_dim());
    while (in_.accept(','));
  in_.expect("]");
  while (in_.accept(',')) {
    const std::string_view which = in_.word();
    in_.expect("=");
    if (which == "replicated") replicated = sdy_axes();
    else if (which == "unreduced") unreduced = sdy_unreduced_axes(unreduced_op);
    else in_.fail("expected 'replicated' or 'unreduced', found '{}'", which);
  }
  in_.expect(">");
  return in_.failed() ? AttributeId{}
                      : make_sharding(builder_, mesh, std::move(dims), std::move(replicated),
                                      std::move(unreduced), unreduced_op);
}

// {"x", "y":(1)2, ?}p1
AttributeId TextReader::sdy_dim() {
  std::vector<AttributeId> axes;
  bool is_closed = true;
  in_.expect("{");
  while (!in_.failed() && !in_.peek('}')) {
    if (in_.accept('?')) is_closed = false;
    else axes.push_back(sdy_axis());
    if (!in_.accept(',')) break;
  }
  in_.expect("}");
  int64_t priority = -1;
  if (const std::string_view word = in_.peek_word(); word.size() > 1 && word[0] == 'p') {
    in_.accept('p');
    priority = in_.integer();
  }
  return make_dim(builder_, std::move(axes), is_closed, priority);
}

AttributeId TextReader::sdy_axis() {
  const std::string name = in_.string();
  if (!in_.accept(':')) return make_axis_ref(builder_, name, 0, 0);
  in_.expect("(");
  const int64_t pre_size = in_.integer();
  in_.expect(")");
  return make_axis_ref(builder_, name, pre_size, in_.integer());
}

std::vector<AttributeId> TextReader::sdy_axes() {
  std::vector<AttributeId> out;
  in_.expect("{");
  if (!in_.peek('}')) do
      out.push_back(sdy_axis());
    while (in_.accept(','));
  in_.expect("}");
  return out;
}

// {"x"}, or with what reduces it: max{"x"}
std::vector<AttributeId> TextReader::sdy_unreduced_axes(std::string_view& op) {
  if (const std::string_view word = in_.peek_word(); word == "max" || word == "min")
    op = in_.word();
  return sdy_axes();
}

AttributeId TextReader::sdy_shardings() {
  std::vector<AttributeId> out;
  in_.expect("[");
  if (!in_.peek(']')) do
      out.push_back(sdy_sharding());
    while (in_.accept(','));
  in_.expect("]");
  return builder_.structure("sdy.per_value", {{"shardings", builder_.array(std::move(out))}});
}

// {"x", "y"}, or the same names in an attribute without the braces.
AttributeId TextReader::sdy_manual_axes() {
  std::vector<AttributeId> names;
  const bool is_braced = in_.accept('{');
  if (in_.peek('"')) do
      names.push_back(builder_.string(in_.string()));
    while (in_.accept(','));
  if (is_braced) in_.expect("}");
  return builder_.structure("sdy.manual_axes", {{"names", builder_.array(std::move(names))}});
}

}  // namespace hilo::mlir
