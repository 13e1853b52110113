// What rounds to another floating type says so: modules of TPUs round in copies, slices, paddings,
// choices and reductions.
//   bf16 copy(f32 x)  =>  bf16 copy(convert(x))
// Assumes plain layouts. Later passes may assume that a move keeps the type of its elements, so
// that leaving it out changes no value, and that a reduction works in the types of its body.
#include "target/one_type.h"

namespace hilo {
namespace {

class TypeMatcher {
 public:
  explicit TypeMatcher(Module& module) : module_(module), editor_(module) {}

  bool run() {
    for (size_t i = 0, count = module_.instructions.size(); i < count; ++i) {
      const InstructionId id = {static_cast<uint32_t>(i)};
      if (!module_[id].removed) visit(id);
    }
    return changed_;
  }

 private:
  void visit(InstructionId id) {
    const Op op = module_[id].op;
    if (op == Op::Reduce || op == Op::ReduceWindow) return reduce(id);
    if (op != Op::Copy && op != Op::Slice && op != Op::Pad && op != Op::Select) return;
    const Shape& shape = module_.shape(id);
    if (!shape.is_array()) return;
    const ElementType type = shape.type;
    for (size_t i = op == Op::Select ? 1 : 0; i < module_.operands(id).size(); ++i)
      read_as(id, i, type);
  }

  void read_as(InstructionId id, size_t operand, ElementType type) {
    const InstructionId value = module_.operand(id, operand);
    Shape shape = module_.shape(value);
    if (!shape.is_array() || shape.type == type) return;
    shape.type = type;
    editor_.set_operand(id, operand, editor_.add(id, Op::Convert, shape, {&value, 1}));
    changed_ = true;
  }

  void reduce(InstructionId id) {
    const ComputationId body = module_.called(module_[id])[0];
    const std::vector<InstructionId> parameters = module_[body].parameters;
    const size_t operands = module_.operands(id).size();
    if (parameters.size() != operands) return;
    for (size_t i = 0; i < operands; ++i)
      read_as(id, i, module_.shape(parameters[i % (operands / 2)]).type);
  }

  Module& module_;
  Editor editor_;
  bool changed_ = false;
};

}  // namespace

Result<bool> move_in_one_type(Module& module, const PassOptions&) {
  return TypeMatcher(module).run();
}

}  // namespace hilo
