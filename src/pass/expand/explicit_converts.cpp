// Converts stand where ops mix widths of floats, as optimised modules of TPUs do.
//   bf16 op(f32 x, bf16 y)      => bf16 convert(f32 op(x, convert(y)))
//   bf16 copy(f32 x)            => bf16 copy(convert(x)), and so what else moves elements
//   reduce(bf16 x, 0), f32 body => reduce(convert(x), 0), as map and scan
// What is computed in is widened_shapes of ir. Assumes synchronous forms: what is asynchronous
// stays as it is, for a start and its done are a pair. Later passes may assume that no op mixes
// widths, so that leaving out a move changes no value, and that a reduction, map or scan works in
// the types of its body. First of all, because every rewrite assumes it.
#include "pass/pass.h"

namespace hilo {
namespace {

class Widener {
 public:
  explicit Widener(Module& module) : module_(module), editor_(module) {}

  bool run() {
    for (size_t i = 0, count = module_.instructions.size(); i < count; ++i) {
      const InstructionId id = {static_cast<uint32_t>(i)};
      if (!module_[id].removed) visit(id);
    }
    return changed_;
  }

 private:
  void visit(InstructionId id) {
    if (!is_begun(id))
      if (const auto widened = widened_shapes(module_, module_[id])) make_explicit(id, *widened);
    if (has_body_of_values(module_[id].op)) read_as_body(id);
  }

  // Reductions, maps and scans; the reducer of a collective serves each operand.
  static bool has_body_of_values(Op op) {
    return has_trait(op, TraitPaired | TraitApart) && !has_trait(op, TraitCollective | TraitEffect);
  }

  // Whether what gives its value is a done.
  bool is_begun(InstructionId id) const {
    const std::vector<InstructionId> users = module_.users(id);
    return !users.empty() && has_trait(module_[users[0]].op, TraitEffect) &&
           has_trait(module_[users[0]].op, TraitNoTraffic);
  }

  void make_explicit(InstructionId id, const WidenedShapes& widened) {
    for (size_t i = 0; i < widened.operands.size(); ++i) read_as(id, i, widened.operands[i].type);
    const Shape stated = module_.shape(id);
    if (!(stated == widened.result)) {
      const std::vector<InstructionId> users = module_.users(id);
      const bool is_root = module_[module_[id].computation].root == id;
      editor_.set_shape(id, widened.result);
      const InstructionId rounded = as(id, id, stated);
      for (InstructionId user : users) replace_in(user, id, rounded);
      if (is_root) editor_.set_root(module_[id].computation, rounded);
    }
    changed_ = true;
  }

  void replace_in(InstructionId user, InstructionId old_value, InstructionId new_value) {
    for (size_t i = 0; i < module_.operands(user).size(); ++i)
      if (module_.operand(user, i) == old_value) editor_.set_operand(user, i, new_value);
  }

  // The value in the stated types, tuples element by element.
  InstructionId as(InstructionId like, InstructionId value, const Shape& stated) {
    if (module_.shape(value) == stated) return value;
    if (!stated.is_tuple()) return editor_.add(like, Op::Convert, stated, {&value, 1});
    std::vector<InstructionId> elements;
    for (size_t i = 0; i < stated.elements.size(); ++i) {
      const InstructionId element = editor_.add_element(like, value, static_cast<int64_t>(i));
      elements.push_back(as(like, element, stated.elements[i]));
    }
    return editor_.add(like, Op::Tuple, stated, elements);
  }

  void read_as(InstructionId id, size_t operand, ElementType type) {
    const InstructionId value = module_.operand(id, operand);
    Shape shape = module_.shape(value);
    if (!shape.is_array() || shape.type == type) return;
    shape.type = type;
    editor_.set_operand(id, operand, editor_.add(id, Op::Convert, shape, {&value, 1}));
    changed_ = true;
  }

  // A body of as many parameters as there are operands; of a reduction, whose parameters are
  // accumulators and then elements, each half is of the types of the first.
  void read_as_body(InstructionId id) {
    const std::vector<ComputationId> called = module_.called(module_[id]);
    if (called.size() != 1) return;
    const std::vector<InstructionId> parameters = module_[called[0]].parameters;
    const size_t operands = module_.operands(id).size();
    if (parameters.size() != operands) return;
    const size_t types = has_trait(module_[id].op, TraitPaired) ? operands / 2 : operands;
    for (size_t i = 0; i < operands; ++i) read_as(id, i, module_.shape(parameters[i % types]).type);
  }

  Module& module_;
  Editor editor_;
  bool changed_ = false;
};

}  // namespace

Result<bool> make_converts_explicit(Module& module, const PassOptions&) {
  return Widener(module).run();
}

}  // namespace hilo
