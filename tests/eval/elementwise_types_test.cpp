// Whatever element types the verifier lets an elementwise op have, the evaluator has a loop for.
#include "devices.h"
#include "verify/verify.h"

namespace hilo {
namespace {

constexpr Op ops[] = {
#define OP(name, text, operands, attributes, op_class, types, ...) Op::name,
#include "ir/ops.def"
#undef OP
};
constexpr ElementType types[] = {
#define ELEMENT_TYPE(name, ...) ElementType::name,
#define SPECIAL_TYPE(...)
#include "shape/element_types.def"
#undef ELEMENT_TYPE
#undef SPECIAL_TYPE
};

// The op on arrays of the type; select and clamp have other operands too.
std::string text_for(Op op, ElementType type, const std::string& result) {
  const std::string array = std::string(text_of(type)) + "[3]";
  std::string operands, parameters;
  for (int i = 0; i < info(op).operands; ++i) {
    const bool chooses = op == Op::Select && i == 0;
    const bool bits = op == Op::StochasticConvert && i == 1;
    const std::string own = chooses ? "pred[3]"
                            : bits  ? "u" + std::to_string(bits_of(type)) + "[3]"
                                    : array;
    parameters +=
        " p" + std::to_string(i) + " = " + own + " parameter(" + std::to_string(i) + ")\n";
    operands += (i ? ", p" : "p") + std::to_string(i);
  }
  const std::string attributes = op == Op::Compare           ? ", direction=LT"
                                 : op == Op::ReducePrecision ? ", exponent_bits=4, mantissa_bits=3"
                                                             : "";
  return "HloModule m\nENTRY e {\n" + parameters + " ROOT r = " + result +
         std::string(text_of(op)) + "(" + operands + ")" + attributes + "\n}\n";
}

// XLA's verifier takes these ops on complex numbers, and nothing of XLA runs them: there is no
// order.
bool has_no_meaning(Op op, ElementType type) {
  return is_complex(type) &&
         (op == Op::Maximum || op == Op::Minimum || op == Op::Remainder || op == Op::Clamp);
}

// Whether the verifier takes it; then it must run, or say that it has no meaning.
bool runs(const std::string& text, bool has_meaning) {
  const Result<Module> module = parse(text);
  if (!module || !verify(*module, {.max_errors = 1}).empty()) return false;
  for (bool ideal : {false, true}) {
    Inputs inputs{{{}}};
    for (InstructionId parameter : (*module)[module->entry].parameters)
      inputs.devices[0].push_back(to_held(Literal::zeros(module->shape(parameter)), ideal));
    EvalOptions options;
    options.ideal_floats = ideal;
    const auto out = evaluate(*module, std::move(inputs), options);
    EXPECT_EQ(out.has_value(), has_meaning) << text << (out ? "" : to_string(out.error()));
    if (!out) EXPECT_EQ(out.error().kind, ErrorKind::Unsupported) << text;
  }
  return true;
}

TEST(Elementwise, EveryTypeThatTheVerifierTakesRuns) {
  int count = 0;
  for (Op op : ops) {
    if (!is_elementwise(op)) continue;
    int of_op = 0;
    for (ElementType type : types) {
      if (!is_array(type)) continue;
      const bool has_meaning = !has_no_meaning(op, type);
      of_op += runs(text_for(op, type, ""), has_meaning);
      const bool states = op == Op::Convert || op == Op::StochasticConvert ||
                          op == Op::ReducePrecision || op == Op::BitcastConvert;
      for (ElementType result : types)
        if (states && is_array(result))
          of_op += runs(text_for(op, type, std::string(text_of(result)) + "[3] "), has_meaning);
    }
    EXPECT_GT(of_op, 0) << text_of(op);
    count += of_op;
  }
  EXPECT_GT(count, 1000);
}

}  // namespace
}  // namespace hilo
