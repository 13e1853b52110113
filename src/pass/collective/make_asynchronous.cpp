// Collectives as their start and their end, so that others may stand between.
//   all-gather(x) => all-gather-done(all-gather-start(x)); all-reduce, collective-permute likewise
//   reduce-scatter(x), and others => async-done(async-start(x), calls=…)
// Assumes nothing. Later passes may assume that what a start takes is read until it is done. The
// scheduler puts instructions between; where it puts none, make_synchronous takes the forms back.
#include <algorithm>

#include "pass/collective/device_groups.h"

namespace hilo {
namespace {

class Starter {
 public:
  explicit Starter(Module& module) : module_(module), editor_(module) {}

  bool run() {
    bool changed = false;
    for (ComputationId id : open_computations(module_)) {
      if (module_[id].execution_thread != "main") continue;
      for (InstructionId one : operands_first(module_, id))
        if (has_trait(module_[one].op, TraitCollective) && !editor_.is_pinned(one))
          changed |= start(one);
    }
    return changed;
  }

 private:
  bool start(InstructionId id) {
    const auto bytes = collective_bytes(module_, id);
    if (!bytes || bytes->group < 2 || bytes->sent_bytes == 0) return false;
    const auto text = text_of(module_[id].op);
    const auto begin = op_of(fmt::format("{}-start", text)),
               end = op_of(fmt::format("{}-done", text));
    const InstructionId done = begin && end ? paired(id, *begin, *end) : wrapped(id);
    editor_.replace_moved(id, done);
    return true;
  }

  Shape operand_shape(InstructionId id) const {
    if (module_[id].operand_count == 1) return module_.shape(module_.operand(id, 0));
    std::vector<Shape> shapes;
    for (InstructionId operand : module_.operands(id)) shapes.push_back(module_.shape(operand));
    return Shape::tuple(std::move(shapes));
  }

  InstructionId paired(InstructionId id, Op start, Op done) {
    const Shape result = module_.shape(id);
    // What is reduced comes back where it was; the others give their operands too.
    const Shape started =
        has_trait(start, TraitMoves) ? Shape::tuple({operand_shape(id), result}) : result;
    const std::vector<InstructionId> operands(module_.operands(id).begin(),
                                              module_.operands(id).end());
    const InstructionId begun = editor_.add(id, start, started, operands);
    module_[begun].attributes = module_.copy_attributes(start, module_[id].attributes);
    // The reason why it is there is that of the start, which sends.
    if (FrontendAttributes said = module_.extra(module_[id]).frontend_attributes; !said.empty())
      module_.mutable_extra(begun).frontend_attributes = std::move(said);
    return editor_.add(id, done, result, std::array{begun});
  }

  InstructionId wrapped(InstructionId id) {
    const ComputationId inside =
        module_.add_computation(fmt::format("{}.async", text_of(module_[id].op)));
    const std::vector<InstructionId> operands(module_.operands(id).begin(),
                                              module_.operands(id).end());
    std::vector<InstructionId> parameters;
    std::vector<Shape> shapes;
    for (InstructionId operand : operands) {
      const Shape shape = module_.shape(operand);
      parameters.push_back(editor_.add_parameter(inside, id, shape));
      shapes.push_back(shape);
    }
    const InstructionId body = editor_.clone(id, inside, parameters);
    module_[inside].root = body;
    const Shape result = module_.shape(id);
    const Shape started =
        Shape::tuple({Shape::tuple(std::move(shapes)), result, Shape::scalar(ElementType::U32)});
    const InstructionId begun =
        editor_.add(id, Op::AsyncStart, started, operands, AsyncAttributes{.calls = inside});
    return editor_.add(id, Op::AsyncDone, result, std::array{begun});
  }

  Module& module_;
  Editor editor_;
};

}  // namespace

Result<bool> make_asynchronous(Module& module, const PassOptions&) { return Starter(module).run(); }

}  // namespace hilo
