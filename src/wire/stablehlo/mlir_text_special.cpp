// Ops whose short form is their own: functions, modules, loops, reductions, convolutions.
#include <algorithm>

#include "wire/stablehlo/mlir_text_reader.h"

namespace hilo::mlir {

bool TextReader::special(Operation& op, Signature& types) {
  const std::string_view name = op.name;
  if (name == "func.func") function(op);
  else if (name == "builtin.module") module(op);
  else if (name == "stablehlo.constant" || name == "chlo.constant") constant(op, types);
  else if (name == "stablehlo.convolution" || name == "stablehlo.dynamic_conv") convolution(op);
  else if (name == "stablehlo.while") while_loop(op, types);
  else if (name == "stablehlo.reduce") reduce(op, types);
  else if (name == "tensor.cast") cast(op, types);
  else if (name == "chlo.scan") scan(op, types);
  else if (name == "sdy.mesh") sdy_mesh_op(op);
  else if (name == "sdy.manual_computation" || name == "sdy.named_computation") sdy_computation(op);
  else return false;
  if (name == "stablehlo.convolution" || name == "stablehlo.dynamic_conv" ||
      name.ends_with("_computation"))
    types = signature();
  return true;
}

// module @name attributes {…} {…}
void TextReader::module(Operation& op) {
  if (in_.peek('@')) op.attributes.emplace_back("sym_name", builder_.string(in_.symbol()));
  if (in_.accept_word("attributes")) add_attributes(op, dictionary());
  const RegionId body = region(op.name);
  op.regions.push_back(body);
}

// func.func public @name(%a: t {…}) -> (t {…}) attributes {…} {…}
void TextReader::function(Operation& op) {
  const std::string_view word = in_.peek_word();
  if (word == "public" || word == "private" || word == "nested")
    op.attributes.emplace_back("sym_visibility", builder_.string(in_.word()));
  op.attributes.emplace_back("sym_name", builder_.string(in_.symbol()));
  std::vector<Argument> given;
  in_.expect("(");
  if (!in_.peek(')')) do {
      if (in_.peek('%')) {
        given.push_back(argument());
        continue;
      }
      Argument declared{.type = type()};  // of a function without a body
      if (in_.peek('{')) declared.attributes = dictionary();
      given.push_back(std::move(declared));
    } while (in_.accept(','));
  in_.expect(")");
  Type signature{.kind = TypeKind::Function, .inputs = given.size()};
  std::vector<AttributeId> attributes;
  bool has_attributes = false;
  for (Argument& each : given) {
    signature.types.push_back(each.type);
    has_attributes = has_attributes || !each.attributes.empty();
    attributes.push_back(builder_.dictionary(std::move(each.attributes)));
  }
  if (has_attributes)
    op.attributes.emplace_back("arg_attrs", builder_.array(std::move(attributes)));
  if (in_.accept("->"))
    if (const AttributeId results = function_results(signature))
      op.attributes.emplace_back("res_attrs", results);
  if (in_.failed()) return;
  const TypeId id = builder_.intern(std::move(signature));
  op.attributes.emplace_back("function_type", builder_.type_attribute(id));
  if (in_.accept_word("attributes")) add_attributes(op, dictionary());
  if (in_.peek('{')) {
    const RegionId body = region(op.name, std::move(given));
    op.regions.push_back(body);
  } else {
    op.regions.push_back({static_cast<uint32_t>(builder_.program.regions.size())});
    builder_.program.regions.emplace_back();
  }
}

// t, or (t {…}, t); their attributes, or none.
AttributeId TextReader::function_results(Type& signature) {
  if (!in_.accept('(')) return signature.types.push_back(type()), AttributeId{};
  std::vector<AttributeId> attributes;
  bool has_attributes = false;
  if (!in_.peek(')')) do {
      signature.types.push_back(type());
      Fields fields;
      if (in_.peek('{')) fields = dictionary();
      has_attributes = has_attributes || !fields.empty();
      attributes.push_back(builder_.dictionary(std::move(fields)));
    } while (in_.accept(','));
  in_.expect(")");
  return has_attributes ? builder_.array(std::move(attributes)) : AttributeId{};
}

// dense<…> : t, or as quantised ones stand, () {value = …} : () -> t
void TextReader::constant(Operation& op, Signature& types) {
  if (in_.peek('(')) {
    generic(op);
    types = signature();
    return;
  }
  if (in_.peek('{')) add_attributes(op, dictionary());
  const AttributeId value = attribute();
  if (in_.failed()) return;
  const Attribute& elements = builder_.program[value];
  if (elements.kind != AttributeKind::Tensor && elements.kind != AttributeKind::Resource)
    return in_.fail("a constant has dense elements");
  types.results = {elements.type};
  op.attributes.emplace_back("value", value);
}

// %x : t to u
void TextReader::cast(Operation& op, Signature& types) {
  op.operands.push_back(use());
  if (in_.peek('{')) add_attributes(op, dictionary());
  in_.expect(":");
  types.types = {type()};
  in_.expect_word("to");
  types.results = {type()};
  types.is_function = true;
}

// (%x, %w) dim_numbers = …, window = {…} {…}
void TextReader::convolution(Operation& op) {
  in_.expect("(");
  op.operands = uses();
  in_.expect(")");
  in_.expect_word("dim_numbers");
  in_.expect("=");
  Fields layouts;
  convolution_layouts(layouts);
  add_attributes(op, std::move(layouts));
  in_.expect(",");
  in_.expect_word("window");
  in_.expect("=");
  window(op);
  if (in_.peek('{')) add_attributes(op, dictionary());
}

// {stride = [1, 2], pad = [[0, 1], [1, 0]], lhs_dilate = …, rhs_dilate = …, reverse = [false,
// true]}
void TextReader::window(Operation& op) {
  const auto numbers = [&](std::string_view name) {
    op.attributes.emplace_back(name, integer_list());
  };
  in_.expect("{");
  while (!in_.failed() && !in_.peek('}')) {
    const std::string_view key = in_.word();
    in_.expect("=");
    if (key == "stride") {
      numbers("window_strides");
    } else if (key == "lhs_dilate") {
      numbers("lhs_dilation");
    } else if (key == "rhs_dilate") {
      numbers("rhs_dilation");
    } else if (key == "pad") {
      Dims values;
      in_.expect("[");
      if (!in_.peek(']')) do {
          in_.expect("[");
          values.push_back(in_.integer());
          in_.expect(",");
          values.push_back(in_.integer());
          in_.expect("]");
        } while (in_.accept(','));
      in_.expect("]");
      const auto pairs = static_cast<int64_t>(values.size() / 2);
      op.attributes.emplace_back("padding", builder_.numbers(std::move(values), {pairs, 2}));
    } else if (key == "reverse") {
      std::string values;
      in_.expect("[");
      if (!in_.peek(']')) do {
          const bool is_word = !in_.peek_word().empty();
          values.push_back(is_word ? in_.word() == "true" : in_.integer() != 0);
        } while (in_.accept(','));
      in_.expect("]");
      Attribute flags{.kind = AttributeKind::Tensor};
      flags.type = builder_.tensor(builder_.scalar(ElementType::Pred),
                                   {static_cast<int64_t>(values.size())});
      flags.data = std::make_shared<const std::string>(std::move(values));
      op.attributes.emplace_back("window_reversal", builder_.add(std::move(flags)));
    } else {
      in_.fail("'{}' is nothing of a window", key);
    }
    if (!in_.accept(',')) break;
  }
  in_.expect("}");
}

// (%x = %a, %y = %b) : t, t attributes {…} cond {…} do {…}
void TextReader::while_loop(Operation& op, Signature& types) {
  std::vector<Argument> carried;
  in_.expect("(");
  if (!in_.peek(')')) do {
      in_.skip();
      Argument argument{.offset = in_.offset()};
      argument.name = in_.name('%');
      in_.expect("=");
      op.operands.push_back(use());
      carried.push_back(std::move(argument));
    } while (in_.accept(','));
  in_.expect(")");
  if (in_.accept(':') && in_.peek_word() != "cond" && in_.peek_word() != "attributes")
    types.types = type_list();
  if (in_.accept_word("attributes")) add_attributes(op, dictionary());
  if (types.types.size() != carried.size())
    in_.fail("{} values with {} types", carried.size(), types.types.size());
  if (in_.failed()) return;
  for (size_t i = 0; i < carried.size(); ++i) carried[i].type = types.types[i];
  types.results = types.types;
  types.is_function = true;
  for (const std::string_view part : {"cond", "do"}) {
    in_.expect_word(part);
    const RegionId body = region(op.name, carried);
    op.regions.push_back(body);
  }
}

// (%x init: %z), (%y init: %w) applies an.op across dimensions = [0] {…} : types, and without
// "applies": reducer(%a: t, %b: t) (%c: t, %d: t) {…}
void TextReader::reduce(Operation& op, Signature& types) {
  std::vector<ValueId> initial;
  do {
    in_.expect("(");
    op.operands.push_back(use());
    in_.expect_word("init");
    in_.expect(":");
    initial.push_back(use());
    in_.expect(")");
  } while (in_.accept(','));
  op.operands.insert(op.operands.end(), initial.begin(), initial.end());
  std::string_view applied;
  if (in_.accept_word("applies")) applied = in_.word();
  in_.expect_word("across");
  in_.expect_word("dimensions");
  in_.expect("=");
  op.attributes.emplace_back("dimensions", integer_list());
  if (in_.peek('{')) add_attributes(op, dictionary());
  types = signature();
  if (in_.failed()) return;
  if (applied.empty()) reducer(op, initial.size());
  else short_reducer(op, applied, types);
}

// The block takes all left sides, then all right ones.
void TextReader::reducer(Operation& op, size_t inputs) {
  in_.expect_word("reducer");
  std::vector<Argument> left, right;
  while (!in_.failed() && left.size() < inputs) {
    in_.expect("(");
    left.push_back(argument());
    in_.expect(",");
    right.push_back(argument());
    in_.expect(")");
  }
  left.insert(left.end(), right.begin(), right.end());
  const RegionId body = region(op.name, std::move(left));
  op.regions.push_back(body);
}

// The op applied to two scalars of the result's type.
void TextReader::short_reducer(Operation& op, std::string_view name, const Signature& types) {
  Program& program = builder_.program;
  if (types.results.size() != 1 || program[types.results[0]].kind != TypeKind::Tensor)
    return in_.fail("'applies' is for one array");
  const TypeId scalar = builder_.tensor(program[types.results[0]].element_type, {});
  const auto value = [&] {
    program.values.push_back({.type = scalar});
    return ValueId{static_cast<uint32_t>(program.values.size() - 1)};
  };
  const auto add = [&](Operation made) {
    program.operations.push_back(std::move(made));
    return OpId{static_cast<uint32_t>(program.operations.size() - 1)};
  };
  Block block;
  block.arguments = {value(), value()};
  Operation applied{.name = std::string(name), .operands = block.arguments};
  applied.position = op.position;
  applied.results = {value()};
  complete_attributes(applied);
  Operation end{.name = "stablehlo.return", .operands = applied.results};
  end.position = op.position;
  block.operations = {add(std::move(applied)), add(std::move(end))};
  program.blocks.push_back(std::move(block));
  program.regions.push_back({{{static_cast<uint32_t>(program.blocks.size() - 1)}}});
  op.regions.push_back({static_cast<uint32_t>(program.regions.size() - 1)});
}

// (%x, %y) inits (%a) dimension=0 attributes {…} {…} : (types) -> types. Kept as in the generic
// form: how many inputs and carries there are.
void TextReader::scan(Operation& op, Signature& types) {
  Dims sizes;
  for (const bool is_carry : {false, true}) {
    if (is_carry) in_.expect_word("inits");
    const size_t before = op.operands.size();
    in_.expect("(");
    if (!in_.peek(')')) do
        op.operands.push_back(use());
      while (in_.accept(','));
    in_.expect(")");
    sizes.push_back(static_cast<int64_t>(op.operands.size() - before));
  }
  op.attributes.emplace_back("operandSegmentSizes", builder_.numbers(std::move(sizes)));
  in_.expect_word("dimension");
  in_.expect("=");
  op.attributes.emplace_back("dimension", builder_.integer(in_.integer()));
  if (in_.accept_word("attributes")) add_attributes(op, dictionary());
  const RegionId body = region(op.name);
  op.regions.push_back(body);
  types = signature();
}

// @mesh = <["x"=2]>
void TextReader::sdy_mesh_op(Operation& op) {
  op.attributes.emplace_back("sym_name", builder_.string(in_.symbol()));
  in_.expect("=");
  op.attributes.emplace_back("mesh", sdy_mesh());
  if (in_.peek('{')) add_attributes(op, dictionary());
}

// (%x) in_shardings=[…] out_shardings=[…] manual_axes={…} (%y: t) {…}
void TextReader::sdy_computation(Operation& op) {
  if (in_.accept('<')) {
    op.attributes.emplace_back("name", builder_.string(in_.string()));
    in_.expect(">");
  }
  in_.expect("(");
  if (!in_.peek(')')) op.operands = uses();
  in_.expect(")");
  while (!in_.failed() && !in_.peek('(')) {
    const std::string_view key = in_.word();
    in_.expect("=");
    if (key == "manual_axes") op.attributes.emplace_back(key, sdy_manual_axes());
    else if (key.ends_with("_shardings")) op.attributes.emplace_back(key, sdy_shardings());
    else in_.fail("'{}' is no key of '{}'", key, op.name);
  }
  const RegionId body = region(op.name, arguments());
  op.regions.push_back(body);
  if (in_.peek('{')) add_attributes(op, dictionary());
}

}  // namespace hilo::mlir
