// One number that is written, or combined with what stands there, in many places of an array is no
// array of as many numbers, which would have to be made and read.
//
//   scatter(x, i, broadcast(c))  =>  fusion(x, i, c)
//
// Assumes plain layouts. Stands after the fusion of loops, which has no scatters.
#include "pass/pass.h"

#include "pass/dense_arrays.h"
#include "pass/fuse/fused_computations.h"

namespace hilo {
namespace {

class ScatterFuser {
 public:
  explicit ScatterFuser(Module& module) : module_(module), editor_(module) {}

  bool run() {
    return change_unfused(module_, [this](InstructionId id) {
      const bool fits = scatters_number(id);
      if (fits) fuse(id);
      return fits;
    });
  }

 private:
  bool scatters_number(InstructionId id) const {
    if (module_[id].op != Op::Scatter || module_.operands(id).size() != 3 ||
        !is_unpinned_dense_array(editor_, id))
      return false;
    const InstructionId updates = module_.operand(id, 2);
    return module_[updates].op == Op::Broadcast && is_unpinned_dense_array(editor_, updates) &&
           module_.shape(module_.operand(updates, 0)).is_scalar() &&
           module_.shape(updates).type == module_.shape(id).type;
  }

  void fuse(InstructionId scatter) {
    const InstructionId updates = module_.operand(scatter, 2);
    const ComputationId body =
        module_.add_computation(fmt::format("fused_{}", module_[scatter].name));
    std::vector<InstructionId> outer, inner;
    const auto give = [&](InstructionId id) {
      const Shape shape = module_.shape(id);
      outer.push_back(id);
      return editor_.add_parameter(body, id, shape);
    };
    for (size_t i = 0; i < 2; ++i) inner.push_back(give(module_.operand(scatter, i)));
    const InstructionId number = module_.operand(updates, 0);
    const InstructionId inside =
        module_[number].op == Op::Constant ? editor_.clone(number, body, {}) : give(number);
    inner.push_back(editor_.clone(updates, body, std::array{inside}));
    module_[body].root = editor_.clone(scatter, body, inner);
    replace_by_fusion(editor_, scatter, body, outer);
  }

  Module& module_;
  Editor editor_;
};

}  // namespace

Result<bool> fuse_scalar_scatter(Module& module, const PassOptions&) {
  return ScatterFuser(module).run();
}

}  // namespace hilo
