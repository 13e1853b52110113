// tuple, get-tuple-element, after-all, get-dimension-size.
#include "pass/simplify/simplify.h"

namespace hilo {
namespace {

using namespace rule_types;
using enum Keeps;

InstructionId element_of_tuple(Editor& editor, const Match& match) {
  const int64_t index = match.attributes<GetTupleElementAttributes>().index;
  return editor.module().operand(match['t'], static_cast<size_t>(index));
}

// All elements of one tuple in their order.
InstructionId tuple_of_elements(Editor& editor, const Match& match) {
  const Module& module = editor.module();
  InstructionId whole;
  int64_t next = 0;
  for (InstructionId element : module.operands(match.root())) {
    if (module[element].op != Op::GetTupleElement ||
        module.attributes<GetTupleElementAttributes>(element).index != next++)
      return {};
    if (whole && whole != module.operand(element, 0)) return {};
    whole = module.operand(element, 0);
  }
  if (!whole || module.shape(whole).elements.size() != match.shape().elements.size()) return {};
  return whole;
}

InstructionId known_size(Editor& editor, const Match& match) {
  const int64_t dim = match.attributes<DimensionsAttributes>().dimensions[0];
  const double size = static_cast<double>(match.shape('x').dims[dim]);
  return editor.add_splat(match.root(), match.shape(), size);
}

constexpr RewriteRule rules[] = {
    {"element-of-tuple", Any, Bits, "get-tuple-element(t:tuple(...))", element_of_tuple},
    {"after-all-of-one", Any, Bits, "after-all(x)", "x"},
    {"size-of-static", Any, Bits, "get-dimension-size(x)", known_size},
    {"tuple-of-elements", Any, Bits, "tuple(...)", tuple_of_elements},
};

}  // namespace

RuleTable tuple_rules() { return rules; }

}  // namespace hilo
