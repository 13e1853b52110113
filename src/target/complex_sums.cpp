// Sums of complex numbers along rows are those of their real and of their imaginary parts, which
// are added in lanes side by side:
//
//   reduce(x, z), add  =>  complex(reduce(real(x), real(z)), reduce(imag(x), imag(z)))
//
// Assumes plain layouts. Stands before simplification, which leaves out the parts of what is made
// of parts. Short rows and columns are in the lanes of vectors already.
#include "target/complex_sums.h"

#include <algorithm>

#include "ir/ir.h"

namespace hilo {
namespace {

constexpr int64_t least_row = 64;  // elements

class ComplexSums {
 public:
  explicit ComplexSums(Module& module) : module_(module), editor_(module) {}

  bool run() {
    bool changed = false;
    for (size_t i = 0, count = module_.instructions.size(); i < count; ++i) {
      const InstructionId id = {static_cast<uint32_t>(i)};
      if (module_[id].removed || !is_long_sum(id) || editor_.is_pinned(id)) continue;
      const InstructionId sum = sum_of_parts(id);
      if (!editor_.can_replace(id, sum)) continue;
      editor_.replace(id, sum);
      changed = true;
    }
    return changed;
  }

 private:
  // Whether the elements that are added stand side by side.
  bool is_long_sum(InstructionId id) const {
    if (module_[id].op != Op::Reduce || module_[id].operand_count != 2) return false;
    const Shape &from = module_.shape(module_.operand(id, 0)), &to = module_.shape(id);
    if (!is_complex(from.type) || from.has_dynamic_dims()) return false;
    const auto& a = module_.attributes<ReduceAttributes>(id);
    const auto combiner = find_combiner(module_, a.to_apply);
    if (!combiner || module_[combiner->instruction].op != Op::Add ||
        combiner->element != from.type || to.type != from.type)
      return false;
    int64_t innermost = from.rank() - 1;
    while (innermost > 0 && from.dims[static_cast<size_t>(innermost)] == 1) --innermost;
    return std::ranges::count(a.dimensions, innermost) > 0 &&
           element_count(from) >= least_row * element_count(to);
  }

  InstructionId sum_of_parts(InstructionId id) {
    const ReduceAttributes a = module_.attributes<ReduceAttributes>(id);
    const Shape shape = module_.shape(id);
    const InstructionId x = module_.operand(id, 0), z = module_.operand(id, 1);
    const ComputationId add = adder(real_type_of(shape.type));
    std::vector<InstructionId> parts;
    for (const Op part : {Op::Real, Op::Imag}) {
      const std::array operands = {editor_.add_inferred(id, part, {&x, 1}),
                                   editor_.add_inferred(id, part, {&z, 1})};
      parts.push_back(
          editor_.add_inferred(id, Op::Reduce, operands, ReduceAttributes{a.dimensions, add}));
    }
    return editor_.add(id, Op::Complex, shape, parts);
  }

  ComputationId adder(ElementType type) {
    const Shape scalar = Shape::scalar(type);
    const ComputationId add = module_.add_computation("add");
    const std::array parameters = {module_.add_instruction(add, Op::Parameter, scalar, {}, "a"),
                                   module_.add_instruction(add, Op::Parameter, scalar, {}, "b")};
    module_.add_instruction(add, Op::Add, scalar, parameters, "sum");
    return add;
  }

  Module& module_;
  Editor editor_;
};

}  // namespace

Result<bool> sum_complex_parts(Module& module, const PassOptions&) {
  return ComplexSums(module).run();
}

}  // namespace hilo
