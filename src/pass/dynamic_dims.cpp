// What takes its size from a dynamic dimension says that it is dynamic. Texts need not say it of
// results: XLA's verifier does not ask, and XLA infers it (dynamic_dimension_inference.h).
//   f32[4] negate(f32[<=4] p)  =>  f32[<=4] negate(p)
//   get-dimension-size(f32[4] x)  =>  4
// Assumes nothing. Later passes and the code may assume that what is not marked is as large as its
// text says. First, because all of them go by the marks.
#include "pass/pass.h"

#include <algorithm>

namespace hilo {
namespace {

bool has_marks(const Shape& shape) {
  return shape.has_dynamic_dims() || std::ranges::any_of(shape.elements, has_marks);
}

// Marks in `to` what is marked in `from`, where they have the same dimensions.
bool mark(Shape& to, const Shape& from) {
  bool changed = false;
  if (to.elements.size() == from.elements.size())
    for (size_t i = 0; i < to.elements.size(); ++i)
      changed |= mark(to.elements[i], from.elements[i]);
  if (to.dims != from.dims) return changed;
  for (size_t d = 0; d < to.dims.size(); ++d) {
    if (!from.is_dynamic(d) || to.is_dynamic(d)) continue;
    to.dynamic.resize(to.dims.size());
    to.dynamic[d] = changed = true;
  }
  return changed;
}

class Marker {
 public:
  explicit Marker(Module& module) : module_(module) {}

  bool run() {
    keep_stated_sizes();
    const std::vector<ComputationId> order = module_.post_order();
    do {
      again_ = false;
      for (size_t i = order.size(); i-- > 0;)
        for (InstructionId id : module_[order[i]].instructions)
          if (!module_[id].removed) visit(id);
      changed_ |= again_;
    } while (again_);
    return changed_;
  }

 private:
  // A size that is asked for is the one that the text states, as XLA takes it.
  void keep_stated_sizes() {
    Editor editor(module_);
    for (size_t i = 0, count = module_.instructions.size(); i < count; ++i) {
      const InstructionId id = {static_cast<uint32_t>(i)};
      if (module_[id].removed || module_[id].op != Op::GetDimensionSize) continue;
      const Shape& stated = module_.shape(module_.operand(id, 0));
      const int64_t dim = module_.attributes<DimensionsAttributes>(id).dimensions[0];
      if (stated.is_dynamic(dim)) continue;
      const auto size = static_cast<int32_t>(stated.dims[dim]);
      const InstructionId constant = editor.add_constant(id, Literal::scalar<int32_t>(size));
      if (!editor.can_replace(id, constant)) continue;
      editor.replace(id, constant);
      changed_ = true;
    }
  }

  // What callers give, and constants, have the sizes that they say.
  bool is_given(InstructionId id) const {
    const Instruction& instruction = module_[id];
    return instruction.op == Op::Constant ||
           (instruction.op == Op::Parameter && instruction.computation == module_.entry);
  }

  void mark(InstructionId to, const Shape& from) {
    if (!has_marks(from) || is_given(to)) return;
    Shape shape = module_.shape(to);
    if (!hilo::mark(shape, from)) return;
    module_[to].shape = module_.shapes.intern(std::move(shape));
    again_ = true;
  }

  // Both are one value, or one of them is the other in some rounds and calls.
  void unite(InstructionId a, InstructionId b) {
    mark(a, Shape(module_.shape(b)));
    mark(b, Shape(module_.shape(a)));
  }

  // The operand that is parameter `number` of the called computation `call`, or none.
  InstructionId operand_for(InstructionId id, size_t call, size_t number) const {
    const Op op = module_[id].op;
    const size_t operand = op == Op::While ? 0 : op == Op::Conditional ? call + 1 : number;
    return operand < module_.operands(id).size() ? module_.operand(id, operand) : InstructionId();
  }

  // Where parameters or the root are other things than operands and the result, as those of
  // reducers, they have other dimensions.
  void visit_called(InstructionId id) {
    const std::vector<ComputationId> called = module_.called(module_[id]);
    for (size_t call = 0; call < called.size(); ++call) {
      const std::vector<InstructionId>& parameters = module_[called[call]].parameters;
      for (size_t number = 0; number < parameters.size(); ++number)
        if (const InstructionId operand = operand_for(id, call, number))
          unite(parameters[number], operand);
      unite(id, module_[called[call]].root);
    }
    if (module_[id].op == Op::While) unite(id, module_.operand(id, 0));
  }

  void visit(InstructionId id) {
    if (const Result<Shape> inferred = infer_shape(module_, module_[id])) mark(id, *inferred);
    if (module_[id].op == Op::Tuple) {
      const Shape shape = module_.shape(id);
      for (size_t i = 0; i < shape.elements.size(); ++i)
        mark(module_.operand(id, i), shape.elements[i]);
    }
    visit_called(id);
  }

  Module& module_;
  bool again_ = false, changed_ = false;
};

bool has_dynamic_dims(const Module& module) {
  return std::ranges::any_of(module.instructions, [&](const Instruction& instruction) {
    return !instruction.removed &&
           (instruction.op == Op::SetDimensionSize || has_marks(module.shape(instruction)));
  });
}

}  // namespace

Result<bool> mark_dynamic_dims(Module& module, const PassOptions&) {
  return has_dynamic_dims(module) && Marker(module).run();
}

}  // namespace hilo
